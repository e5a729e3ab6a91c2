/** The door of a push: resolves its tags, checks what it would become on each platform, and writes it down. */

import { v7 as uuidV7 } from 'uuid';
import type { PlatformId } from '../../domain/device.ts';
import type { Audience, NotificationState, Scope } from '../../domain/notification.ts';
import { ID_MAX } from '../../domain/tag.ts';
import { payloadFaults } from '../../providers/payload-size.ts';
import { findByIdempotencyKey } from '../../store/notifications/find-by-idempotency-key.ts';
import { findReferencedTags } from '../../store/notifications/find-referenced-tags.ts';
import { insertNotification } from '../../store/notifications/insert-notification.ts';
import { listScopes } from '../../store/notifications/list-scopes.ts';
import type { PatientReads } from '../../store/patient-reads.ts';
import type { Sql } from '../../store/sql.ts';
import type { TagIndex } from '../../tag-index/tag-index.ts';
import type { Push, PushFault } from './push.ts';
import type { TagReference, Targets } from './targets.ts';
import { resolveTargets } from './targets.ts';

/** Who pushes, and the key that makes a repeated request the same one. */
export interface Publisher {
  readonly clientId: number;
  readonly userName: string;
  readonly idempotency: { readonly key: string; readonly bodyHash: Buffer } | null;
}

export type Acceptance =
  /** Durable when answered. */
  | {
      readonly kind: 'accepted';
      readonly id: string;
      readonly state: NotificationState;
      readonly unknownTags: readonly TagReference[];
    }
  | { readonly kind: 'invalid'; readonly faults: readonly PushFault[] }
  /** The key came before with another body. */
  | { readonly kind: 'key-reused' };

export type DryRun =
  | {
      readonly kind: 'counted';
      readonly audience: readonly (Scope & { readonly count: number })[];
      readonly unknownTags: readonly TagReference[];
    }
  | { readonly kind: 'invalid'; readonly faults: readonly PushFault[] }
  /** Too much is being counted. */
  | { readonly kind: 'busy' };

export interface AcceptOptions {
  readonly sql: Sql;
  readonly patientReads: PatientReads;
  readonly tagIndex: TagIndex;
  /** Whether a simulator stands in for the provider of a platform. */
  readonly isSimulated: (platformId: PlatformId) => boolean;
  /** A push that is due at once has been accepted. */
  readonly onAccepted: () => void;
}

export class Accept {
  private readonly options: AcceptOptions;

  constructor(options: AcceptOptions) {
    this.options = options;
  }

  /**
   * Accepts a push, or answers with the notification that the same request made before. `knownFaults`: those that the time alone made, told
   * with all others, and of no effect on a repeated request.
   */
  async submit(
    push: Push,
    publisher: Publisher,
    knownFaults: readonly PushFault[] = [],
  ): Promise<Acceptance> {
    const targets = await this.check(push, publisher.clientId, knownFaults);
    // The key first: a repeated request gets the same answer, even if a tag it names has gone since.
    const known = await this.recall(publisher, targets);
    if (known !== null) return known;
    if (!targets.ok) return { kind: 'invalid', faults: targets.faults };
    const accepted = await this.write(push, publisher, targets.audience, targets.scopes);
    // Another request with this key was faster. (Its 24 hours cannot have ended since, but if they have it is ours.)
    if (accepted === null) {
      return (await this.recall(publisher, targets)) ?? this.submit(push, publisher, knownFaults);
    }
    return { kind: 'accepted', ...accepted, unknownTags: targets.unknownTags };
  }

  /** Validates and counts; sends nothing. */
  async dryRun(
    push: Push,
    clientId: number,
    knownFaults: readonly PushFault[] = [],
  ): Promise<DryRun> {
    const targets = await this.check(push, clientId, knownFaults);
    if (!targets.ok) return { kind: 'invalid', faults: targets.faults };
    const { audience, scopes, unknownTags } = targets;
    const { patientReads, tagIndex } = this.options;
    const counted = await patientReads.run(clientId, async (sql) => {
      const counts: (Scope & { readonly count: number })[] = [];
      for (const scope of scopes) {
        counts.push({ ...scope, count: await tagIndex.count(sql, scope, audience) });
      }
      return counts;
    });
    return counted.kind === 'busy'
      ? counted
      : { kind: 'counted', audience: counted.result, unknownTags };
  }

  private async check(
    push: Push,
    clientId: number,
    knownFaults: readonly PushFault[],
  ): Promise<Targets> {
    const { target, filter, exclude, payload } = push;
    const named = [target, filter, exclude];
    const [tags, clientScopes] = await Promise.all([
      findReferencedTags(this.options.sql, clientId, {
        // Beyond the range of ids there is no tag, and no integer of the database either.
        ids: named.flatMap(({ ids }) => ids).filter((id) => id > 0 && id <= ID_MAX),
        sourceIds: named.flatMap(({ sourceIds }) => sourceIds),
      }),
      listScopes(this.options.sql, clientId),
    ]);
    const targets = resolveTargets(push, tags, clientScopes);
    const { scopes } = targets;
    const faults = [
      ...knownFaults,
      ...(targets.ok ? [] : targets.faults),
      ...payloadFaults(
        payload,
        scopes.map(({ platformId }) => platformId),
      ),
    ];
    return faults.length > 0 ? { ok: false, faults, scopes } : targets;
  }

  private async recall(
    { clientId, idempotency }: Publisher,
    targets: Targets,
  ): Promise<Acceptance | null> {
    if (idempotency === null) return null;
    const known = await findByIdempotencyKey(this.options.sql, clientId, idempotency.key);
    if (known === null) return null;
    if (!known.bodyHash.equals(idempotency.bodyHash)) return { kind: 'key-reused' };
    const { id, state } = known;
    return { kind: 'accepted', id, state, unknownTags: targets.ok ? targets.unknownTags : [] };
  }

  private async write(
    push: Push,
    publisher: Publisher,
    audience: Audience,
    scopes: readonly Scope[],
  ): Promise<{ readonly id: string; readonly state: NotificationState } | null> {
    const id = uuidV7();
    const state = await insertNotification(this.options.sql, {
      ...publisher,
      id,
      audience,
      payload: push.payload,
      isAtMostOnce: push.delivery === 'at-most-once',
      sendAtMs: push.sendAtMs,
      expiresAtMs: push.expiresAtMs,
      scopes: scopes.map((scope) => ({
        ...scope,
        isSimulated: this.options.isSimulated(scope.platformId),
      })),
    });
    if (state === null) return null;
    if (push.sendAtMs === null) this.options.onAccepted();
    return { id, state };
  }
}
