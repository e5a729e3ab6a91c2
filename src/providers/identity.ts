/**
 * The identity of an alert on the device (decision 73): a later message with the same one takes its
 * place there, and a message that was sent twice shows once.
 */

import type { Message } from '../domain/notification.ts';
import { isReplaceable } from '../domain/replaceable.ts';

/** The publisher's collapseId, else the job that was sent first. Undefined: it has none. */
export const identityOf = ({ payload, notificationId, chain }: Message): string | undefined =>
  isReplaceable(payload) ? (payload.collapseId ?? chain ?? notificationId) : undefined;

/** The ids by which an app knows the job of a message, and the earlier one that it is about. */
export const pushIdsOf = ({
  notificationId,
  replaces,
  retracts,
}: Message): Readonly<Record<string, string>> => ({
  pushId: notificationId,
  ...(replaces === undefined ? {} : { replaces }),
  ...(retracts === undefined ? {} : { retracts }),
});

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
