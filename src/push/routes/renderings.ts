/** Renders the message of each (app, platform) of a push, each distinct one once. */

import { scopeKeyOf } from '../../domain/device.ts';
import { renderedFor } from '../../templates/routes/rendered.ts';
import type { DryRun } from '../accept/accept.ts';
import type { Push } from '../accept/push.ts';

export type Counted = Extract<DryRun, { readonly kind: 'counted' }>;
type Scope = Counted['audience'][number];

/**
 * A push in 32 languages on three platforms has 400,000.
 * @limit characters of all messages of a preview → `notShown`
 */
export const RENDERINGS_LENGTH_MAX = 1_048_576;

type Rendering = ReturnType<typeof renderedFor> & { readonly templated?: true };

type Row = Scope &
  Rendering & {
    /** Others that would get the same. */
    readonly alsoFor?: Scope[];
  };

/** The message that each provider would get now. `notShown`: beyond the bound of an answer. */
export function previewOf(
  push: Push,
  { audience, payload, templated }: Counted,
): { readonly preview: readonly Row[]; readonly notShown?: readonly Scope[] } {
  const nowMs = Date.now();
  const dueAtMs = Math.max(push.sendAtMs ?? nowMs, nowMs);
  const rows = new Map<string, { row: Row; alsoFor: Scope[] }>();
  /** The rendered payload of the push on each platform, which most apps share. */
  const plain = new Map<number, string>();
  const notShown: Scope[] = [];
  let length = 0;
  for (const scope of audience) {
    const { platformId } = scope;
    const made = templated?.payloads[scopeKeyOf(scope)];
    const known = made === undefined ? plain.get(platformId) : undefined;
    const text = known ?? rendering(platformId, made ?? payload, made !== undefined);
    if (made === undefined) plain.set(platformId, text);
    const same = rows.get(text);
    if (same !== undefined) same.alsoFor.push(scope);
    else if (length + text.length > RENDERINGS_LENGTH_MAX) notShown.push(scope);
    else {
      length += text.length;
      rows.set(text, { row: { ...scope, ...(JSON.parse(text) as Rendering) }, alsoFor: [] });
    }
  }
  const preview = [...rows.values()].map(({ row, alsoFor }) =>
    alsoFor.length === 0 ? row : { ...row, alsoFor },
  );
  return { preview, ...(notShown.length === 0 ? {} : { notShown }) };

  function rendering(platformId: Scope['platformId'], one: Counted['payload'], isMade: boolean) {
    const message = { payload: one, dueAtMs, expiresAtMs: push.expiresAtMs };
    const rendered = renderedFor(platformId, message);
    return JSON.stringify({ ...(isMade ? { templated: true } : {}), platformId, ...rendered });
  }
}
