/** Cuts the power of a recorded service, opens what is left, and looks for what was answered. */

import { rmSync } from 'node:fs';
import type { SqlPool } from '../../../src/database/sql.ts';
import type { Store } from '../../../src/database/store.ts';
import { openEmbedded } from '../../../src/database/store.ts';
import { SettingFault } from '../../../src/std/setting-fault.ts';
import type { Random } from '../http2/played/random.ts';
import type { Lifetime } from '../lifetime.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import type { Unsynced } from './disk.ts';
import { Disk } from './disk.ts';
import type { Answered, RecordedService } from './record-service.ts';

export interface Cut {
  /** Octets of the recording that were done by then. */
  readonly at: number;
  /** Chooses what else has arrived; null: nothing. */
  readonly random: Random | null;
}

/** The moments after an answer and after an fsync, in their order. */
export function momentsOf({ changes, answered }: RecordedService): readonly number[] {
  const synced = changes.filter(({ change }) => change.kind === 'fsync').map(({ end }) => end);
  const moments = new Set([...synced, ...answered.map(({ at }) => at)]);
  const [first = 0] = answered.map(({ at }) => at);
  return [...moments].filter((at) => at >= first).sort((a, b) => a - b);
}

/** The losses at each of the cuts, which are in their order. */
export async function findLost(
  t: Lifetime,
  service: RecordedService,
  base: string,
  cuts: readonly Cut[],
  unsynced: Unsynced = 'nothing',
): Promise<readonly (readonly string[])[]> {
  const disk = new Disk(service.dataDir, base, unsynced);
  const lost: (readonly string[])[] = [];
  let played = 0;
  for (const { at, random } of cuts) {
    for (let next = service.changes[played]; next !== undefined && next.end <= at; ) {
      disk.play(next);
      played += 1;
      next = service.changes[played];
    }
    const directory = temporaryDirectory(t);
    disk.writeTo(directory, random);
    const expected = service.answered.filter((each) => each.at <= at);
    lost.push(await lostIn(directory, expected));
    rmSync(directory, { recursive: true });
  }
  return lost;
}

async function lostIn(
  directory: string,
  expected: readonly Answered[],
): Promise<readonly string[]> {
  let store: Store;
  try {
    store = await openEmbedded(directory, { fsync: false });
  } catch (error) {
    if (error instanceof SettingFault) return [`all: ${error.message}`];
    throw error;
  }
  try {
    const lost: string[] = [];
    for (const { kind, id } of expected) {
      const isKept = await find(store.sql, kind, id).catch(() => false);
      if (!isKept) lost.push(`${kind} ${id}`);
    }
    return lost;
  } finally {
    await store.close();
  }
}

async function find(sql: SqlPool, kind: Answered['kind'], id: string): Promise<boolean> {
  switch (kind) {
    case 'device':
      return (
        (await sql`select from devices where device_id = ${id} and tag_ids <> '{}'`).length === 1
      );
    case 'push':
      return (await sql`select from notifications where id = ${id}`).length === 1;
    case 'table':
      return (await sql`select from ${sql(id)}`).length === 1;
  }
}
