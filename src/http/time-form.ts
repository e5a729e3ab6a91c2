/** The form of a time in a body. */

import { LenientReader } from './lenient.ts';
import { time } from './openapi/parts.ts';

/** Epoch milliseconds, of a time in any of its forms. Null: not given. */
export const timeForm = time.nullish().transform((value, { addIssue }) => {
  const reader = new LenientReader({ time: value });
  const timeMs = reader.time('time');
  for (const { message } of reader.faults) addIssue({ code: 'custom', message, input: value });
  return timeMs;
});
