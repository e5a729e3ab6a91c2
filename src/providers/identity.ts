/**
 * The identity of an alert on the device (decision 73): a later message with the same one takes its
 * place there, and a message that was sent twice shows once.
 */

import type { Message } from '../domain/notification.ts';
import { isReplaceable } from '../domain/replaceable.ts';

/** The publisher's collapseId, else the job. Undefined: it has none. */
export const identityOf = ({ payload, notificationId }: Message): string | undefined =>
  isReplaceable(payload) ? (payload.collapseId ?? notificationId) : undefined;

/**
 * Makes the content of a message with its identity inside. Without it where that alone is too much,
 * unless the publisher asked for it.
 */
export function contentWithIdentity(
  message: Message,
  bytesMax: number,
  make: (identity: string | undefined) => string,
): string {
  const identity = identityOf(message);
  const whole = make(identity);
  const isWanted = message.payload.present?.replaceable === true;
  const isWhole = identity === undefined || isWanted || Buffer.byteLength(whole) <= bytesMax;
  return isWhole ? whole : make(undefined);
}
