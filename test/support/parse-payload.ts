/** A payload as a publisher gives it, in its common form; also one that shows nothing. */

import { commonForm, givenPayload } from '../../src/domain/payload.ts';

export function parsePayload(value: unknown): ReturnType<typeof commonForm> {
  const read = givenPayload(value);
  return read.ok ? commonForm(read.given) : read;
}
