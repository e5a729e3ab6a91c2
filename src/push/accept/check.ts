/** Puts together what targets, content and the present time say of a push. */

import type { Payload, TemplatedPayload } from '../../domain/notification.ts';
import type { Content } from './contents.ts';
import type { PushFault } from './push.ts';
import type { Targets } from './targets.ts';

export type FoundTargets = Extract<Targets, { readonly ok: true }>;

export interface Fit {
  readonly kind: 'fit';
  readonly targets: FoundTargets;
  readonly payload: Payload;
  readonly templated: TemplatedPayload | null;
}
export type Checked =
  | Fit
  | { readonly kind: 'invalid'; readonly faults: readonly PushFault[] }
  | { readonly kind: 'too-many-templates' };

/** All that is wrong with a push, or what is to be written. */
export function check(
  targets: Targets,
  content: Content,
  knownFaults: readonly PushFault[],
): Checked {
  if (content.kind === 'busy') return { kind: 'too-many-templates' };
  const faults = [
    ...knownFaults,
    ...(targets.ok ? [] : targets.faults),
    ...(content.kind === 'fit' ? [] : content.faults),
  ];
  return targets.ok && content.kind === 'fit' && faults.length === 0
    ? { ...content, targets }
    : { kind: 'invalid', faults };
}
