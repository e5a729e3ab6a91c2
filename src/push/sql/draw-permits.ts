/**
 * Draws permits from a project's bucket, which all nodes share, in one statement by the database's
 * clock. The refill rate rises from `rampStart` of the full rate to all of it over `rampMs` of use;
 * time in which the bucket is full lets it fall as fast.
 */

import type { Sql } from '../../database/sql.ts';

export interface Bucket {
  readonly key: string;
  readonly burst: number;
  readonly fullPerMs: number;
  /** Share of the full rate at which an idle project begins. */
  readonly rampStart: number;
  readonly rampMs: number;
}

interface Drawn {
  readonly granted: number;
  /** Time until sends may go on, as the provider said; 0: it has set no pause. */
  readonly pausedForMs: number;
  /** Time until the next permit, at the present rate. */
  readonly nextInMs: number;
}

/** A bucket that was never drawn from is full, at the bottom of its ramp. */
export async function drawPermits(sql: Sql, bucket: Bucket, wanted: number): Promise<Drawn> {
  const drawn = await draw(sql, bucket, wanted);
  if (drawn !== undefined) return drawn;
  await sql`
    insert into provider_quotas (key, permits) values (${bucket.key}, ${bucket.burst}::float8)
    on conflict (key) do nothing`;
  const first = await draw(sql, bucket, wanted);
  if (first === undefined) throw new Error('a bucket vanished while it was made');
  return first;
}

async function draw(sql: Sql, bucket: Bucket, wanted: number): Promise<Drawn | undefined> {
  const { key, burst, fullPerMs, rampStart, rampMs } = bucket;
  // Materialized, so that the clock is read once, and after the wait for the row.
  const [row] = await sql<Drawn[]>`
    with locked as materialized (
      select * from provider_quotas where key = ${key} for update
    ),
    timed as materialized (
      select *, greatest(refilled_at, clock_timestamp()) as at,
        ${fullPerMs}::float8 * (${rampStart}::float8 + (1 - ${rampStart}::float8) * ramp_ms / ${rampMs}::float8) as rate
      from locked
    ),
    passed as (
      select *, extract(epoch from at - refilled_at)::float8 * 1000 as ms from timed
    ),
    used as (
      select *, least(ms, greatest(0, ${burst}::float8 - permits) / rate) as used_ms from passed
    ),
    filled as (
      select key, at, rate, paused_until,
        least(${burst}::float8, permits + ms * rate) as permits,
        least(${rampMs}::float8, greatest(0, ramp_ms + used_ms - (ms - used_ms))) as ramp_ms
      from used
    ),
    granted as (
      select *, case when paused_until > at then 0 else least(${wanted}::float8, floor(permits)) end as granted
      from filled
    )
    update provider_quotas q set permits = g.permits - g.granted, ramp_ms = g.ramp_ms, refilled_at = g.at
    from granted g where q.key = g.key
    returning g.granted::integer as granted,
      greatest(0, coalesce(extract(epoch from g.paused_until - g.at) * 1000, 0))::float8 as "pausedForMs",
      (greatest(0, 1 - q.permits) / g.rate)::float8 as "nextInMs"`;
  return row;
}

/** Returns permits that were not used, or that the provider did not count. */
export async function returnPermits(sql: Sql, bucket: Bucket, permits: number): Promise<void> {
  await sql`
    update provider_quotas set permits = least(${bucket.burst}::float8, permits + ${permits}::float8)
    where key = ${bucket.key}`;
}

/** The provider takes no sends of this project for `forMs`. A longer pause stays. */
export async function pauseQuota(sql: Sql, bucket: Bucket, forMs: number): Promise<void> {
  await sql`
    insert into provider_quotas as q (key, permits, paused_until)
    values (${bucket.key}, ${bucket.burst}::float8,
      clock_timestamp() + make_interval(secs => ${forMs}::float8 / 1000))
    on conflict (key) do update set paused_until = greatest(q.paused_until, excluded.paused_until)`;
}

/** Deletes buckets unused since a time: new ones are the same. Answers how many. */
export async function deleteQuotas(
  sql: Sql,
  unusedSinceMs: number,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from provider_quotas where key in (
      select key from provider_quotas
      where greatest(refilled_at, paused_until) < to_timestamp(${unusedSinceMs}::float8 / 1000)
      limit ${limit}
    )`;
  return deleted.count;
}
