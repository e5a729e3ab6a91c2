/** Reads the tags of devices for `list`: all requests during a query share the next one. */

import type { Sql } from '../../database/sql.ts';
import { Batcher } from '../../std/batcher.ts';
import type { DeviceRef } from '../operation.ts';
import type { TagOfDevice } from '../sql/tags-of-devices.ts';
import { tagsOfDevices } from '../sql/tags-of-devices.ts';

/**
 * A query of so many devices takes some 10 ms; further ones wait for the next query.
 * @limit devices of `list` in one query → the next query
 */
const DEVICES_MAX = 500;

export class DeviceTags {
  private readonly queries: Batcher<DeviceRef, readonly TagOfDevice[]>;

  constructor(sql: Sql) {
    this.queries = new Batcher({
      itemsMax: DEVICES_MAX,
      async run(devices) {
        const tags: TagOfDevice[][] = devices.map(() => []);
        for (const { index, ...tag } of await tagsOfDevices(sql, devices)) tags[index]?.push(tag);
        return tags;
      },
    });
  }

  /** Tags by id, as of this call or later. Rejects when the store does not answer. */
  of(device: DeviceRef): Promise<readonly TagOfDevice[]> {
    return this.queries.submit(device);
  }
}
