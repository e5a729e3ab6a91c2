/** Gives a lane a range of ordinals for itself. */

import type { Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';

export interface OrdinalRange {
  readonly count: number;
  /** Begin at the next multiple of this. */
  readonly alignment: number;
  /** Give nothing if the range would end beyond it. */
  readonly endMax: number;
}

/** Its own transaction: lanes lock the row for an instant. The first ordinal; null: none. */
export async function reserveOrdinals(
  sql: Sql,
  { appId, platformId }: Scope,
  { count, alignment, endMax }: OrdinalRange,
): Promise<number | null> {
  // It would take back ordinals that others have.
  if (count < 1) throw new RangeError(`cannot reserve ${count} ordinals`);
  const [range] = await sql<{ start: number }[]>`
    update app_platforms set
      next_ordinal = ((next_ordinal::bigint + ${alignment - 1}) / ${alignment} * ${alignment} + ${count})::integer
    where app_id = ${appId} and platform_id = ${platformId}
      and (next_ordinal::bigint + ${alignment - 1}) / ${alignment} * ${alignment} + ${count} <= ${endMax}
    returning next_ordinal - ${count}::integer as start`;
  return range?.start ?? null;
}
