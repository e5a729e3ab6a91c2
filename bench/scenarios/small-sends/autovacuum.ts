/**
 * The cost of autovacuum to small sends: the same load with and without it, in turns. It comes
 * every five seconds, twelve times as often as by default, so that each round has several.
 */

import type { Lifetime } from '../../../test/support/lifetime.ts';
import type { Result, Row } from '../../scenario.ts';
import { startNghttpdSink } from '../../sinks/nghttpd.ts';
import { onPostgres } from './grounds.ts';
import { postAll } from './loads.ts';
import { CONNECTIONS, measurePosted, openOf, untilNone } from './posted.ts';

const POSTED = 12_000;
const POSTED_FIRST = 6_000;
/** A table that grows is dearer to vacuum: each setting comes early and late. */
const TURNS = ['off', 'on', 'on', 'off'] as const;

export async function measureAutovacuum(stage: Lifetime): Promise<Result> {
  const sink = await startNghttpdSink(stage);
  const grounds = sink === null ? null : await onPostgres(stage, sink);
  if (grounds === null) return { rows: [] };
  const { engine, demo, tagIds, sql } = grounds;
  const metered = { ...grounds, enginePid: engine.child.pid ?? 0 };
  const target = { baseUrl: engine.baseUrl, token: demo.superUser.token, tagIds };
  const open = openOf(sql);
  await sql.unsafe("alter system set autovacuum_naptime = '5s'");
  await postAll(target, POSTED_FIRST, CONNECTIONS);
  await untilNone(open);
  const rows: Row[] = [];
  for (const autovacuum of TURNS) {
    await sql.unsafe(`alter system set autovacuum = '${autovacuum}'`);
    await sql`select pg_reload_conf()`;
    rows.push({ autovacuum, ...(await measurePosted(metered, target, POSTED, open)) });
  }
  const databaseMicros = (setting: string): number => {
    const its = rows.filter(({ autovacuum }) => autovacuum === setting);
    return its.reduce((sum, row) => sum + Number(row['databaseMicros']), 0) / its.length;
  };
  return {
    rows,
    figures: { databaseMicrosOverWithout: databaseMicros('on') / databaseMicros('off') },
  };
}
