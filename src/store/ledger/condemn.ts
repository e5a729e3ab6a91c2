/** What a report condemns, and the gate that it meets (domain/deletion-gate.ts) as SQL has it. */

import { CONDEMNED_MIN, CONDEMNED_SHARE_MAX } from '../../domain/deletion-gate.ts';
import type { DeviceNews, Progress } from '../../domain/progress.ts';
import type { Sql } from '../sql.ts';

export type DeviceVerdict = DeviceNews & { readonly kind: 'gone' | 'refused' };

/** The devices of a report that their provider calls dead, or refuses. */
export const verdictsIn = ({ news }: Progress): readonly DeviceVerdict[] =>
  news.filter((entry): entry is DeviceVerdict => entry.kind === 'gone' || entry.kind === 'refused');

export const countOf = ({ news }: Progress, kind: DeviceVerdict['kind']): number =>
  news.reduce((count, entry) => count + Number(entry.kind === kind), 0);

/** Of the scope `s`, as it stood before the statement. */
export const isGateClosed = (sql: Sql) => sql`(
  s.gone + s.refused >= ${CONDEMNED_MIN}::integer
  and s.gone + s.refused > (s.delivered + s.gone + s.refused) * ${CONDEMNED_SHARE_MAX}::float8
)`;
