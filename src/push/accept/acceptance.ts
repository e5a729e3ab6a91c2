/** The answer to a push that was submitted. */

import type { OverLimit } from '../../domain/client-limits.ts';
import type { NotificationState } from '../../domain/notification.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import type { KeyedNotification } from '../sql/notifications/find-by-idempotency-keys.ts';
import type { NewNotification } from '../sql/notifications/insert-notifications.ts';
import type { FoundTargets } from './check.ts';
import type { Publisher } from './new-notification.ts';
import type { PushFault } from './push.ts';
import type { TagReference, Targets, UnknownValues } from './targets.ts';
import { warningsOf } from './warnings.ts';

export type Acceptance =
  /** Durable when answered. */
  | {
      readonly kind: 'accepted';
      readonly id: string;
      readonly state: NotificationState;
      readonly unknownTags: readonly TagReference[];
      /** Values that its tests name, and no device has. Absent: it has no tests. */
      readonly unknownValues?: UnknownValues;
      /** Sentences about what the publisher may not expect of this push. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'invalid'; readonly faults: readonly PushFault[] }
  | { readonly kind: 'over-limit'; readonly over: OverLimit }
  /** The key was used before with another body. */
  | { readonly kind: 'key-reused' }
  /** Nodes of an earlier version are at work, which would send it to others than it is for. */
  | { readonly kind: 'nodes-behind'; readonly nodes: string }
  | { readonly kind: 'too-many-templates' };

interface WrittenPush {
  readonly notification: NewNotification;
  readonly publisher: Publisher;
  readonly targets: FoundTargets;
  /** When the request handed it over. */
  readonly startedMs: number;
}

/** The answer for one that was written. The log says that it was. */
export function announce(
  journal: Pick<JobJournal, 'accepted'>,
  { notification, publisher, targets, startedMs }: WrittenPush,
  state: NotificationState,
): Acceptance {
  const { id, scopes, sendAtMs, payload, templated } = notification;
  const { clientId, requestId, traceparent = '' } = publisher;
  const appIds = scopes.map(({ appId }) => appId);
  journal.accepted({ id, clientId, requestId, traceparent, state, appIds, sendAtMs, startedMs });
  const warnings = warningsOf(targets.scopes, payload, templated);
  return { kind: 'accepted', id, state, ...unknownIn(targets), warnings };
}

/** The answer to a repeated request. `targets`: null: they are not known. */
export function recalled(
  { idempotency }: Publisher,
  { id, state, bodyHash }: KeyedNotification,
  targets: Targets | null,
): Acceptance {
  if (idempotency !== null && !bodyHash.equals(idempotency.bodyHash)) return { kind: 'key-reused' };
  const unknown = targets?.ok ? unknownIn(targets) : { unknownTags: [] };
  return { kind: 'accepted', id, state, ...unknown, warnings: [] };
}

/** The unknown names of a push, as its answer has them. */
export const unknownIn = ({ unknownTags, unknownValues }: FoundTargets) => ({
  unknownTags,
  ...(unknownValues === undefined ? {} : { unknownValues }),
});
