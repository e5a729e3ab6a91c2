/** Finds the devices that a report condemns, and checks domain/deletion-gate.ts in SQL. */

import type { Sql } from '../../../database/sql.ts';
import { CONDEMNED_MIN, CONDEMNED_SHARE_MAX } from '../../../domain/deletion-gate.ts';
import type { DeviceObservation, Progress } from '../../../domain/progress.ts';

export type EraseReason = DeviceObservation & { readonly kind: 'gone' | 'refused' };

/** The devices of a report that their provider calls dead, or refuses. */
export const eraseReasonsIn = ({ observations }: Progress): readonly EraseReason[] =>
  observations.filter(
    (entry): entry is EraseReason => entry.kind === 'gone' || entry.kind === 'refused',
  );

export const countOf = ({ observations }: Progress, kind: EraseReason['kind']): number =>
  observations.reduce((count, entry) => count + Number(entry.kind === kind), 0);

/** Whether the gate of the scope `s` holds, as of before the statement. */
export const deletionGateHolds = (sql: Sql) => sql`(
  s.gone + s.refused >= ${CONDEMNED_MIN}::integer
  and s.gone + s.refused > (s.delivered + s.gone + s.refused) * ${CONDEMNED_SHARE_MAX}::float8
)`;
