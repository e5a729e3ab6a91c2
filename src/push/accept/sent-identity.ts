/** The identity that the alerts of a job have on devices, for one that is to take their place. */

import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import type { Scope } from '../../domain/device.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Payload, TemplatedPayload } from '../../domain/notification.ts';
import { isReplaceable } from '../../domain/replaceable.ts';
import type { OwnIdentity } from '../../providers/overlay-tags.ts';
import { IDENTITY_PATHS, tagsOf, withTags } from '../../providers/overlay-tags.ts';
import { losesIdentity } from '../../providers/payload-size.ts';

type SentIdentity =
  | { readonly kind: 'identity'; readonly own: OwnIdentity }
  /** Some devices have an alert that cannot be replaced, or not by the same message. */
  | { readonly kind: 'none' | 'several' };

interface Sent {
  readonly payload: Payload;
  readonly templated: TemplatedPayload | null;
}

/** `scopes`: where it went. */
export function sentIdentityOf(
  sent: readonly Sent[],
  scopes: readonly Scope<PlatformId>[],
): SentIdentity {
  const all = sent.flatMap(({ payload, templated }) =>
    [payload, ...Object.values(templated?.payloads ?? {})].flatMap(inLanguages),
  );
  if (!all.every(isReplaceable)) return { kind: 'none' };
  const isLost = sent.some(({ payload, templated }) =>
    scopes.some((scope) => {
      const one = templated?.payloads[scopeKeyOf(scope)] ?? payload;
      return inLanguages(one).some((inOne) => losesIdentity(inOne, scope.platformId));
    }),
  );
  if (isLost) return { kind: 'none' };
  const found = new Map(all.map((payload) => [JSON.stringify(tagsOf(payload)), payload]));
  const [payload, ...others] = found.values();
  if (payload === undefined) return { kind: 'none' };
  if (others.length > 0) return { kind: 'several' };
  const { collapseId, androidTag, webTag } = tagsOf(payload);
  // An overlay took the identity away, or made it something that providers refuse.
  if (![androidTag, webTag].every((tag) => tag === undefined || typeof tag === 'string')) {
    return { kind: 'none' };
  }
  return {
    kind: 'identity',
    own: {
      ...(collapseId === undefined ? {} : { collapseId }),
      ...(typeof androidTag === 'string' ? { androidTag } : {}),
      ...(typeof webTag === 'string' ? { webTag } : {}),
    },
  };
}

const inLanguages = (payload: Payload): readonly Payload[] => [
  payload,
  ...(payload.languages ?? []).map((one) => one.payload),
];

/** Faults of a payload that says another identity; one that says none is given it. */
export function identityFaults(payload: Payload, own: OwnIdentity, what: string) {
  const said = tagsOf(payload);
  return IDENTITY_PATHS.filter(
    ([name]) => said[name] !== undefined && said[name] !== own[name],
  ).map(([, path]) => ({
    path,
    message: `must be absent: ${what} has the identity of the job that was sent first.`,
  }));
}

/** The payload with this identity, whatever its publisher says. */
export function withIdentity(payload: Payload, own: OwnIdentity): Payload {
  const { collapseId: _, languages, ...others } = payload;
  return {
    ...withTags(others, own),
    ...(own.collapseId === undefined ? {} : { collapseId: own.collapseId }),
    ...(languages === undefined
      ? {}
      : {
          languages: languages.map((one) => ({ ...one, payload: withIdentity(one.payload, own) })),
        }),
  };
}

/** The same, and it can be replaced in its turn. */
export function replacing(payload: Payload, own: OwnIdentity): Payload {
  const { languages, ...made } = withIdentity(payload, own);
  return {
    ...made,
    present: { ...made.present, replaceable: true },
    ...(languages === undefined
      ? {}
      : { languages: languages.map((one) => ({ ...one, payload: replacing(one.payload, own) })) }),
  };
}
