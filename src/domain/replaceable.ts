/** Whether a later message may take the place of a push on the device (decision 73). */

import type { Payload } from './notification.ts';

/** A silent push shows nothing that could be replaced. */
export const isReplaceable = ({ silent, present, replaceableDefault }: Payload): boolean =>
  silent !== true && (present?.replaceable ?? replaceableDefault !== false);

/**
 * The payload with the operator's word for where its publisher has none. A job keeps it, so that
 * all nodes send it alike. Where pushes are replaceable by default, nothing is written.
 */
export function withReplaceableDefault(payload: Payload, isByDefault: boolean): Payload {
  if (isByDefault) return payload;
  const { languages } = payload;
  const decided = { ...payload, replaceableDefault: false } as const;
  if (languages === undefined) return decided;
  return {
    ...decided,
    languages: languages.map((one) => ({
      ...one,
      payload: withReplaceableDefault(one.payload, isByDefault),
    })),
  };
}
