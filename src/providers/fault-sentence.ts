/** Explains a fault that stopped a send, and how to correct it, to people. */

import { CANNOT_BE_RENDERED, MISSING_CREDENTIAL } from '../domain/own-faults.ts';
import { PROVIDERS } from './providers.ts';

/** The fault with its meaning. An unknown one, or one that is a sentence, stays as it is. */
export function faultSentence(fault: string): string {
  const meaning = Object.hasOwn(MEANINGS, fault) ? MEANINGS[fault] : undefined;
  return meaning === undefined ? fault : `${fault}: ${meaning}.`;
}

/** Added to a refusal by a simulator, which proves nothing about a real account. */
export const SIMULATOR_ADVICE =
  'This answer came from the simulator, which knows only the accounts that it made itself. Started with DEMO=0 the engine sends to the real provider.';

const OWN_FAULTS: ReadonlySet<string> = new Set([MISSING_CREDENTIAL, CANNOT_BE_RENDERED]);

export function simulatedFaultSentence(fault: string): string {
  const sentence = faultSentence(fault);
  if (OWN_FAULTS.has(fault)) return sentence;
  return `${sentence}${sentence.endsWith('.') ? '' : '.'} ${SIMULATOR_ADVICE}`;
}

const MEANINGS: Readonly<Record<string, string>> = Object.assign(
  {
    MissingCredential:
      "the app has no credential on this platform, or SECRET_KEY is not the one it was encrypted with; 'tagcast app credentials' stores one",
    MessageCannotBeRendered: 'the payload cannot be made into a message for this platform',
    Parked:
      "a part of this send could not be completed; the engine's log says which part and why, and 'tagcast parked release' sends it again",
  },
  ...Object.values(PROVIDERS).map(({ meanings }) => meanings),
);
