/** The wave of a job that a device belongs to, by the time zone that it has now. */

import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';
import { TIMEZONE_ID } from '../../../domain/attributes.ts';

export interface WaveOfDevice {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Null: the device has none. */
  readonly zone: string | null;
  readonly isSkipped: boolean;
}

/** Null: the job has one moment, or its waves are none of the device's. */
export async function waveOfDevice(
  sql: Sql,
  notificationId: string,
  facetIds: readonly number[],
): Promise<WaveOfDevice | null> {
  const [wave = null] = await sql<WaveOfDevice[]>`
    select floor(extract(epoch from w.at) * 1000)::float8 as at, d.zone, w.is_skipped as "isSkipped"
    from (
      select (
        select value from attribute_values
        where id = any (${list(facetIds)}::integer[]) and attribute_id = ${TIMEZONE_ID}::integer limit 1
      ) as zone
    ) d
    join push_waves w on w.notification_id = ${notificationId}::uuid
      and case when d.zone is null then w.has_others else w.zones @> array[d.zone] end
    limit 1`;
  return wave;
}
