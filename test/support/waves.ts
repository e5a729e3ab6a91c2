/** Zones of devices, and waves whose time is moved, for tests of pushes at local time. */

import { pino } from 'pino';
import type { Sql, SqlPool } from '../../src/database/sql.ts';
import { TIMEZONE_ID } from '../../src/domain/attributes.ts';
import { WavePlanner } from '../../src/push/plan/wave-planner.ts';
import { SILENT_JOURNAL } from './silent-journal.ts';

/** Makes the value of the dictionary, if it is not there. */
async function zoneId(sql: Sql, clientId: number, zone: string): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into attribute_values (client_id, attribute_id, value)
    values (${clientId}, ${TIMEZONE_ID}, ${zone})
    on conflict (client_id, attribute_id, value) do update set last_set_at = now()
    returning id`;
  return row?.id ?? 0;
}

/** Gives a device a zone. Null: it has none. */
export async function setZone(
  sql: Sql,
  clientId: number,
  token: string,
  zone: string | null,
): Promise<void> {
  const ids = zone === null ? null : [await zoneId(sql, clientId, zone)];
  await sql`update devices set facet_ids = ${ids}::integer[] where device_id = ${token}`;
}

const FAR_SECONDS = 100_000_000;

/** Moves all moments of a job, so that the one at this time is due now. Answers that time now. */
export async function bring(sql: SqlPool, id: string, atMs: number): Promise<number> {
  const nowMs = Date.now();
  await sql.begin(async (tx) => {
    // Far away and back, so that no two of them meet.
    for (const seconds of [FAR_SECONDS, (nowMs - atMs) / 1_000 - FAR_SECONDS]) {
      const shift = tx`(${seconds}::float8 * interval '1 second')`;
      await tx`update push_wave_parts set at = at + ${shift} where notification_id = ${id}`;
      await tx`update push_waves set at = at + ${shift} where notification_id = ${id}`;
      await tx`update chunks set wave_at = wave_at + ${shift} where notification_id = ${id}`;
    }
    await tx`
      update notifications set next_wave_at = now(), send_at = least(send_at, now())
      where id = ${id} and next_wave_at is not null`;
  });
  return nowMs;
}

/** A look for due waves, as a node takes one each second. */
export const planWaves = (sql: SqlPool): Promise<void> =>
  new WavePlanner({ sql, log: pino({ level: 'silent' }), journal: SILENT_JOURNAL }).run();
