/** The identity that the alerts of a job have on devices, for one that is to take their place. */

import type { Payload } from '../../domain/notification.ts';
import { isReplaceable } from '../../domain/replaceable.ts';
import type { CorrectedNotification } from '../sql/notifications/read-corrected.ts';

type SentIdentity =
  /** `collapseId`: that of its payload. Undefined: the job that was sent first stands for it. */
  | { readonly kind: 'identity'; readonly collapseId: string | undefined }
  /** Some devices have an alert that cannot be replaced, or not by the same message. */
  | { readonly kind: 'none' | 'several' };

export function sentIdentityOf({ sent }: Pick<CorrectedNotification, 'sent'>): SentIdentity {
  const payloads = sent.flatMap(({ payload, templated }) => [
    payload,
    ...Object.values(templated?.payloads ?? {}),
  ]);
  const all = payloads.flatMap((payload) => [
    payload,
    ...(payload.languages ?? []).map((one) => one.payload),
  ]);
  if (!all.every(isReplaceable)) return { kind: 'none' };
  const [collapseId, ...others] = new Set(all.map((payload) => payload.collapseId));
  return others.length > 0 ? { kind: 'several' } : { kind: 'identity', collapseId };
}

/** The payload with this identity, whatever its publisher says. */
export function withIdentity(
  { collapseId: _, languages, ...payload }: Payload,
  collapseId: string | undefined,
): Payload {
  return {
    ...payload,
    ...(collapseId === undefined ? {} : { collapseId }),
    present: { ...payload.present, replaceable: true },
    ...(languages === undefined
      ? {}
      : {
          languages: languages.map((one) => ({
            ...one,
            payload: withIdentity(one.payload, collapseId),
          })),
        }),
  };
}
