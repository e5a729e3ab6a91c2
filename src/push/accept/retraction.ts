/** What a retraction sends to each platform, and what it can promise there (decision 77). */

import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import type { Scope } from '../../domain/device.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Payload } from '../../domain/notification.ts';
import { payloadFaults } from '../../providers/payload-size.ts';
import type { Content } from './contents.ts';

export interface AskedRetraction {
  readonly mode: 'remove' | 'replace';
  /** What is shown in its place. Null: nothing is. */
  readonly text: { readonly title?: string; readonly message?: string } | null;
  /** Null: every platform of the job. */
  readonly platformIds: readonly number[] | null;
}

export interface PlatformPromise {
  readonly platformId: PlatformId;
  readonly how: 'background' | 'data' | 'replace' | 'none';
  readonly promise: 'best-effort' | 'replaced' | 'none';
}

/** One for each platform, in the order of their numbers. */
export function promisesOf(
  { mode, text, platformIds }: AskedRetraction,
  scopes: readonly Scope<PlatformId>[],
): readonly PlatformPromise[] {
  const all = [...new Set(scopes.map(({ platformId }) => platformId))].sort((a, b) => a - b);
  return all
    .filter((platformId) => platformIds?.includes(platformId) ?? true)
    .map((platformId) => promiseOn(platformId, mode, text !== null));
}

function promiseOn(
  platformId: PlatformId,
  mode: AskedRetraction['mode'],
  hasText: boolean,
): PlatformPromise {
  if (mode === 'replace') return { platformId, how: 'replace', promise: 'replaced' };
  switch (platformId) {
    case PLATFORMS.apns:
      return { platformId, how: 'background', promise: 'best-effort' };
    case PLATFORMS.fcm:
      return { platformId, how: 'data', promise: 'best-effort' };
    // A web push must show something.
    case PLATFORMS.webpush:
      return hasText
        ? { platformId, how: 'replace', promise: 'replaced' }
        : { platformId, how: 'none', promise: 'none' };
  }
}

/** `collapseId`: see withIdentity. */
export function retractionContent(
  { text }: AskedRetraction,
  promises: readonly PlatformPromise[],
  scopes: readonly Scope<PlatformId>[],
  collapseId: string | undefined,
): Content {
  const shown: Payload = {
    ...text,
    ...(collapseId === undefined ? {} : { collapseId }),
    present: { interruption: 'passive', replaceable: true },
    data: {},
  };
  const payloadOf = ({ how }: PlatformPromise): Payload => {
    if (how === 'replace') return shown;
    // Android delays what is normal while it sleeps; Apple refuses a background push that is not.
    return how === 'data' ? { ...SILENT, priority: 'high' } : SILENT;
  };
  const faults = promises.flatMap((one) =>
    payloadFaults(payloadOf(one), [one.platformId], 'retract').map(({ message }) => ({
      path: 'text',
      message,
    })),
  );
  if (faults.length > 0) return { kind: 'invalid', faults };
  const payloads = scopes.flatMap((scope) => {
    const promise = promises.find(({ platformId }) => platformId === scope.platformId);
    return promise === undefined ? [] : [[scopeKeyOf(scope), payloadOf(promise)] as const];
  });
  const given = text === null ? {} : { ...text };
  return {
    kind: 'fit',
    payload: SILENT,
    templated: { given, payloads: Object.fromEntries(payloads) },
  };
}

/** For the app, which removes what the message names. */
const SILENT: Payload = { silent: true, data: {} };
