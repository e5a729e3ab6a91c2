/** The alert that Android shows of a message, or a browser that registered with FCM. */

import type { JsonObject } from '../../../std/src/json.ts';
import { isObject, parseObject } from '../../../std/src/json.ts';
import type { Removal, Shown } from '../record/screens.ts';
import { removalIn, replacedIn, textOrNull } from '../record/screens.ts';
import type { ProviderRequest } from '../server/exchange.ts';

/**
 * Null: it is data alone, for the app, which may remove an earlier one then. A browser's worker
 * shows the texts that are in the data.
 */
export function fcmShown({ body }: ProviderRequest): Shown | Removal | null {
  const message = objectOf(parseObject(body.toString())?.['message']);
  const data = objectOf(message['data']);
  const android = objectOf(message['android']);
  const shown: JsonObject = isObject(message['webpush'])
    ? { title: data['title'], body: data['message'], tag: data['tag'] }
    : { ...objectOf(message['notification']), ...objectOf(android['notification']) };
  const { title, body: text, tag } = shown;
  if (textOrNull(title) === null && textOrNull(text) === null) return removalIn(data);
  return {
    identity: textOrNull(tag),
    title: textOrNull(title),
    body: textOrNull(text),
    pushId: textOrNull(data['pushId']),
    ...replacedIn(data),
  };
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
