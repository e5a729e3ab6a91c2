/** Explains a reason in words. */

import { reasonTexts, reasonUnknown } from '../texts/notifications.ts';

/** Reasons of the engine begin with a word and a colon. */
export const meaningOf = (reason: string) =>
  reasonTexts[reason] ?? reasonTexts[reason.split(':')[0] ?? ''] ?? reasonUnknown;
