/** Which notifications the console can correct. */

import type { Notification } from '../../../packages/client/src/openapi.ts';

/**
 * One that some devices have, that can be replaced on them, and whose text is one: those of
 * templates and in several languages are corrected by the API.
 */
export function canBeCorrected({
  reach,
  payload,
  givenPayload,
  retracts,
  retractedBy = [],
}: Notification): boolean {
  const isKept = reach !== undefined && reach.devices > 0 && (reach.until ?? Infinity) > Date.now();
  const isReplaceable = payload.silent !== true && payload.present?.replaceable !== false;
  const isTaken = retracts !== undefined || retractedBy.length > 0;
  return isKept && isReplaceable && !isTaken && givenPayload === undefined;
}
