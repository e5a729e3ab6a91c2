/** Warnings for a push's publisher: effects on its platforms that it may not expect. */

import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import type { Scope } from '../../domain/device.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Payload, TemplatedPayload } from '../../domain/notification.ts';
import { PROVIDERS } from '../../providers/providers.ts';

/** Sentences, each once. */
export function warningsOf(
  scopes: readonly Scope<PlatformId>[],
  payload: Payload,
  templated: TemplatedPayload | null | undefined,
): readonly string[] {
  const warnings = new Set<string>();
  /** Most apps share the payload, which is looked at once. */
  const seen = new Set<PlatformId>();
  for (const scope of scopes) {
    const { platformId } = scope;
    const made = templated?.payloads[scopeKeyOf(scope)];
    if (made === undefined && seen.has(platformId)) continue;
    if (made === undefined) seen.add(platformId);
    const warning = PROVIDERS[platformId].warning(made ?? payload);
    if (warning !== null) warnings.add(warning);
  }
  return [...warnings];
}
