/** An engine whose disk is recorded, with what it answered and when. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { databaseSocketPath } from '../../../src/database/embedded/lock.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import { connect } from '../../../src/database/sql.ts';
import { post, push } from '../client.ts';
import type { Lifetime } from '../lifetime.ts';
import type { EngineProcess } from '../processes.ts';
import { startEngine } from '../processes.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import type { Recorded } from './recording.ts';
import { readRecording } from './recording.ts';

const RECORDER = new URL('./recorder.js', import.meta.url);
/** Registrations of a round one after another, and as many at once. */
const REGISTRATIONS = 5;

/** Something that a caller knows to be kept; a table has one row. */
export interface Answered {
  readonly kind: 'device' | 'push' | 'table';
  readonly id: string;
  /** Octets of the recording when the answer was there. */
  readonly at: number;
}

export interface RecordedService {
  readonly dataDir: string;
  readonly changes: readonly Recorded[];
  readonly answered: readonly Answered[];
}

/** Runs an engine on `dataDir` for some rounds, and kills it. */
export async function recordService(
  t: Lifetime,
  dataDir: string,
  { fsync, rounds }: { readonly fsync: boolean; readonly rounds: number },
): Promise<RecordedService> {
  const recording = join(temporaryDirectory(t), 'recording');
  const recorder = new URL(RECORDER);
  recorder.search = new URLSearchParams({ dataDir, recording }).toString();
  const engine = await startEngine(t, dataDir, {
    EMBEDDED_FSYNC: fsync ? '1' : '0',
    WORKERS: '1',
    NODE_OPTIONS: `--import=${recorder.href}`,
  });
  const sql = connect({ kind: 'embedded', socketPath: databaseSocketPath(dataDir) }, 1);
  const answered: Answered[] = [];
  const note = (kind: Answered['kind'], id: string): void => {
    answered.push({ kind, id, at: statSync(recording).size });
  };
  for (let round = 0; round < rounds; round += 1) {
    await registerSome(engine, round, (id) => note('device', id));
    note('push', await push(engine.baseUrl, engine.demo(), engine.demo().tagIds.slice(0, 1)));
    note('table', await makeTable(sql, round));
    await makeWork(sql, round);
  }
  await engine.end('SIGKILL');
  await sql.end({ timeout: 0 });
  return { dataDir, changes: readRecording(recording), answered };
}

async function registerSome(
  { baseUrl, demo }: EngineProcess,
  round: number,
  onAnswered: (id: string) => void,
): Promise<void> {
  const { appId, apiUser, tagIds } = demo();
  const register = async (n: number): Promise<void> => {
    const id = `${round}a${n}`.padStart(64, '0');
    const device = { appId, platformId: 3, tagId: tagIds.slice(0, 1), deviceId: id };
    const answer = await (await post(`${baseUrl}/push-api/reg`, apiUser.token, device)).text();
    if (answer !== 'OK') throw new Error(answer);
    onAnswered(id);
  };
  for (let n = 0; n < REGISTRATIONS; n += 1) await register(n);
  await Promise.all(Array.from({ length: REGISTRATIONS }, (_, n) => register(REGISTRATIONS + n)));
}

/** New files, as those of a migration, which nothing writes to again. */
async function makeTable(sql: SqlPool, round: number): Promise<string> {
  const name = `round_${round}`;
  await sql`create table ${sql(name)} as select ${round}::integer as round`;
  return name;
}

/** PostgreSQL does this work by itself when there is more to write than in a test. */
async function makeWork(sql: SqlPool, round: number): Promise<void> {
  await sql`select pg_switch_wal()`;
  if (round % 2 === 0) await sql`checkpoint`;
}
