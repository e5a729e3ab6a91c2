/**
 * Finds the devices that a report condemns, and checks the gate (domain/deletion-gate.ts) in SQL.
 */

import { CONDEMNED_MIN, CONDEMNED_SHARE_MAX } from '../../domain/deletion-gate.ts';
import type { DeviceNews, Progress } from '../../domain/progress.ts';
import type { Sql } from '../sql.ts';

export type DeviceVerdict = DeviceNews & { readonly kind: 'gone' | 'refused' };

/** The devices of a report that their provider calls dead, or refuses. */
export const verdictsIn = ({ news }: Progress): readonly DeviceVerdict[] =>
  news.filter((entry): entry is DeviceVerdict => entry.kind === 'gone' || entry.kind === 'refused');

export const countOf = ({ news }: Progress, kind: DeviceVerdict['kind']): number =>
  news.reduce((count, entry) => count + Number(entry.kind === kind), 0);

/** Whether the gate of the scope `s` is closed, as of before the statement. */
export const isGateClosed = (sql: Sql) => sql`(
  s.gone + s.refused >= ${CONDEMNED_MIN}::integer
  and s.gone + s.refused > (s.delivered + s.gone + s.refused) * ${CONDEMNED_SHARE_MAX}::float8
)`;
