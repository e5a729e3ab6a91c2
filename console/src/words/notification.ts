/** How a notification is called. */

import type { Payload } from '../../../packages/client/src/openapi.ts';

/** Its title, else its message; '' when it shows neither. */
export function titleOf(payload: Payload): string {
  const { title, message, body } = payload;
  return title ?? message ?? body ?? '';
}
