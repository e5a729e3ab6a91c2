/** Commits imported devices in lanes of their own: registrations of apps do not wait for them. */

import type { Logger } from 'pino';
import type { SqlPool } from '../../database/sql.ts';
import { IMPORT_SLOT } from '../../statistics/slots.ts';
import { Batcher } from '../../std/batcher.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import { FailureLog } from '../../telemetry/failure-log.ts';
import { commitApart } from '../commit-apart.ts';
import { DeviceLimit } from '../device-limit.ts';
import { Lanes } from '../lanes.ts';
import { Ordinals } from '../ordinals.ts';
import type { ImportContext } from './import-commit.ts';
import { commitImported } from './import-commit.ts';
import type { ImportedOperation, ImportResult } from './imported.ts';

interface ImporterOptions {
  readonly sql: SqlPool;
  readonly feed: IndexFeed;
  readonly log: Logger;
  /** Called with the number of devices made durable. */
  onCommitted(devices: number): void;
  /** IMPORT_LANES, or 1 on the embedded database, which is one session. */
  readonly lanes: number;
  readonly devicesPerAppMax: number;
  readonly tagsPerDeviceMax: number;
}

/** @limit lanes of an import */
export const IMPORT_LANES = 4;
/** @limit lanes of an import on the embedded database */
export const IMPORT_LANES_EMBEDDED = 1;

/** @limit devices of an import in a transaction → the next one */
const DEVICES_MAX = 1_000;
/** @limit tags of the devices of an import in a transaction → the next one */
const SUBSCRIPTIONS_MAX = 20_000;

export class Importer {
  private readonly lanes: Lanes<ImportedOperation, ImportResult>;
  private readonly failureLog: FailureLog;
  private draining = false;

  constructor(options: ImporterOptions) {
    const { sql, feed, log, lanes, devicesPerAppMax, tagsPerDeviceMax } = options;
    const limit = new DeviceLimit(devicesPerAppMax);
    this.failureLog = new FailureLog(log);
    this.lanes = new Lanes(lanes, (lane) => {
      const ordinals = new Ordinals(sql, limit);
      const context = { sql, feed, ordinals, tagsPerDeviceMax, slot: IMPORT_SLOT + lane };
      return createLane(context, this.failureLog, options.onCommitted);
    });
  }

  /** Resolves with a result for each operation. The caller bounds the operations in flight. */
  async submit(operations: readonly ImportedOperation[]): Promise<readonly ImportResult[]> {
    if (this.draining) return operations.map(() => 'unavailable');
    return await Promise.all(operations.map((operation) => this.lanes.submit(operation)));
  }

  /** Takes no more operations, and resolves when all taken ones are answered. */
  async drain(): Promise<void> {
    this.draining = true;
    await this.lanes.drain();
    this.failureLog.stop();
  }
}

const createLane = (
  context: ImportContext,
  log: FailureLog,
  onCommitted: ImporterOptions['onCommitted'],
): Batcher<ImportedOperation, ImportResult> =>
  new Batcher({
    itemsMax: DEVICES_MAX,
    weightMax: SUBSCRIPTIONS_MAX,
    weightOf: ({ tagIds, facets, numbers }) => 1 + tagIds.length + facets.size + numbers.size,
    async run(operations) {
      const results = await commitApart(
        operations,
        (some) => commitAndFeed(context, some),
        log,
        'imported devices were not committed',
      );
      onCommitted(results.filter((result) => !LOST.has(result)).length);
      return results;
    },
  });

const LOST: ReadonlySet<ImportResult> = new Set(['limit', 'refused', 'unavailable']);

async function commitAndFeed(
  context: ImportContext,
  operations: readonly ImportedOperation[],
): Promise<readonly ImportResult[]> {
  const { results, changes } = await commitImported(context, operations);
  await context.feed.apply(changes);
  return results;
}
