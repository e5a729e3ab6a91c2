/** Says since when the sends or checks of a credential fail, and why. */

import { faultSentence } from '../providers/fault-sentence.ts';
import type { CredentialState } from './sql/read-credential-states.ts';

export interface Failing {
  /** Epoch milliseconds. */
  readonly since: number;
  /** Names what the provider refuses, and how to correct it. */
  readonly meaning: string;
}

/** Undefined: the last send or check worked, or there was none. */
export function failingOf({
  refusedSinceMs,
  isHealthy,
  checkNote,
  fault,
}: CredentialState): Failing | undefined {
  if (refusedSinceMs === null) return undefined;
  const ofCheck = isHealthy === false ? checkNote : null;
  const meaning = ofCheck ?? (fault === null ? '' : faultSentence(fault));
  return { since: Math.floor(refusedSinceMs), meaning };
}
