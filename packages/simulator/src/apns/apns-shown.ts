/** The alert that a phone shows of a push. */

import { isObject, parseObject } from '../../../std/src/json.ts';
import type { Removal, Shown } from '../record/screens.ts';
import { removalIn, replacedIn, textOrNull } from '../record/screens.ts';
import type { ProviderRequest } from '../server/exchange.ts';
import { fieldValue } from '../server/fields.ts';

/** Null: it is of another type, or has no alert; the app may remove an earlier one then. */
export function apnsShown({ fields, body }: ProviderRequest): Shown | Removal | null {
  const payload = parseObject(body.toString()) ?? {};
  if (fieldValue(fields, 'apns-push-type') !== 'alert') return removalIn(payload);
  const aps = payload['aps'];
  const alert = isObject(aps) ? aps['alert'] : undefined;
  if (alert === undefined) return null;
  const texts = isObject(alert) ? alert : { body: alert };
  return {
    identity: fieldValue(fields, 'apns-collapse-id') ?? null,
    title: textOrNull(texts['title']),
    body: textOrNull(texts['body']),
    pushId: textOrNull(payload['pushId']),
    ...replacedIn(payload),
  };
}
