/** The notification that a service worker shows of a message, with its members as they are. */

import { parseObject } from '../../../std/src/json.ts';
import type { Shown } from '../record/screens.ts';
import { replacedIn, textOrNull } from '../record/screens.ts';
import type { ProviderRequest } from '../server/exchange.ts';

/** Null: it has no text, or is for a browser that is not ours, and cannot be read. */
export function webPushShown({ body }: ProviderRequest): Shown | null {
  const message = parseObject(body.toString()) ?? {};
  const title = textOrNull(message['title']);
  const text = textOrNull(message['body']);
  if (title === null && text === null) return null;
  const { tag, pushId } = message;
  return {
    identity: textOrNull(tag),
    title,
    body: text,
    pushId: textOrNull(pushId),
    ...replacedIn(message),
  };
}
