/** Makes what a retraction sends to each platform, and says what it can promise (decision 77). */

import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import type { Scope } from '../../domain/device.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Payload } from '../../domain/notification.ts';
import type { OwnIdentity } from '../../providers/overlay-tags.ts';
import { payloadFaults } from '../../providers/payload-size.ts';
import { removalOn, SILENT } from '../../providers/removal.ts';
import type { Content } from './contents.ts';
import { replacing } from './sent-identity.ts';

export interface AskedRetraction {
  readonly mode: 'remove' | 'replace';
  /** The text that is shown in its place. Null: none. */
  readonly text: { readonly title?: string; readonly message?: string } | null;
  /** Null: every platform of the job. */
  readonly platformIds: readonly number[] | null;
}

interface PlatformPromise {
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
  const removal = mode === 'remove' ? removalOn(platformId) : null;
  if (removal !== null) return { platformId, how: removal.how, promise: 'best-effort' };
  return hasText
    ? { platformId, how: 'replace', promise: 'replaced' }
    : { platformId, how: 'none', promise: 'none' };
}

export function retractionContent(
  { text }: AskedRetraction,
  promises: readonly PlatformPromise[],
  scopes: readonly Scope<PlatformId>[],
  identity: OwnIdentity,
): Content {
  const shown = replacing({ ...text, present: { interruption: 'passive' }, data: {} }, identity);
  const payloadOf = ({ platformId, how }: PlatformPromise): Payload =>
    how === 'replace' ? shown : (removalOn(platformId)?.payload ?? SILENT);
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
