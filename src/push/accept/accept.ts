/** Accepts a push: resolves its tags, checks its size on each platform, writes the notification. */

import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import { faultOf } from '../../database/faults.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { SqlPool } from '../../database/sql.ts';
import type { NotificationState, Payload, TemplatedPayload } from '../../domain/notification.ts';
import { Batcher } from '../../std/batcher.ts';
import type { TagIndex } from '../../tag-index/tag-index.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import { findByIdempotencyKeys } from '../sql/notifications/find-by-idempotency-keys.ts';
import type { NewNotification } from '../sql/notifications/insert-notifications.ts';
import type { StartedNotification } from '../sql/notifications/insert-started.ts';
import { isPerhapsSmall } from '../sql/notifications/insert-started.ts';
import { insertUnderPolicies } from '../sql/notifications/set-policies.ts';
import type { Acceptance } from './acceptance.ts';
import { announce, recalled, unknownIn } from './acceptance.ts';
import type { FoundTargets } from './check.ts';
import { check } from './check.ts';
import { checkOne, NOTHING } from './check-one.ts';
import type { ContentParts } from './contents.ts';
import { contentsOf } from './contents.ts';
import type { AskedCorrection, CorrectionAnswer } from './correct.ts';
import { correctJob } from './correct.ts';
import type { CountedAudience } from './count-audience.ts';
import { countAudience } from './count-audience.ts';
import { inPieces } from './in-pieces.ts';
import { KnownToAll } from './known-to-all.ts';
import { namesIn } from './look-up.ts';
import type { Publisher } from './new-notification.ts';
import { newNotification } from './new-notification.ts';
import { OpenJobs } from './open-jobs.ts';
import type { Push, PushFault } from './push.ts';
import type { Replaced, Replacement } from './replace.ts';
import { replaceUnbegun } from './replace.ts';
import { resolve } from './resolve.ts';
import type { AskedRetry, RetryAnswer } from './retry.ts';
import { retryEnded } from './retry.ts';
import type { TagReference, Targets, UnknownValues } from './targets.ts';

/**
 * A statement stays far below a second.
 * @limit pushes of a client accepted together → the next batch
 */
const PUSHES_MAX = 256;
/** @limit tags that they name → the next batch; a single push may exceed it, alone */
const NAMES_MAX = 20_000;
/**
 * So many octets of a payload count as one tag: a body of a megabyte is a fifth of a batch.
 * @limit payload that counts as one tag
 */
const PUSH_WEIGHT_OCTETS = 256;

export type DryRun =
  | (CountedAudience & {
      readonly kind: 'counted';
      readonly unknownTags: readonly TagReference[];
      /** The same as in an acceptance. */
      readonly unknownValues?: UnknownValues;
      /** The payload for each scope without a template. */
      readonly payload: Payload;
      /** Null: no template concerns it, and it is in one language. */
      readonly templated: TemplatedPayload | null;
    })
  | { readonly kind: 'invalid'; readonly faults: readonly PushFault[] }
  /** Too many counts are under way. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'too-many-templates' };

/** Accepts and starts small sends in one transaction (push/dispatch/at-once.ts). */
export interface StartsAtOnce {
  /** Null: nothing was written, and they must take their turns. */
  insert(notifications: readonly NewNotification[]): Promise<readonly StartedNotification[] | null>;
}

interface AcceptOptions extends ContentParts {
  readonly sql: SqlPool;
  readonly patientReads: PatientReads;
  readonly tagIndex: TagIndex;
  /** Whether a simulator stands in for the provider of a platform. */
  readonly isSimulated: (platformId: PlatformId) => boolean;
  readonly journal: Pick<JobJournal, 'accepted' | 'planned' | 'ended'>;
  readonly atOnce: StartsAtOnce;
  /** Called when a push that is due at once was accepted, and waits for its turn. */
  readonly onAccepted: () => void;
}

interface Submission {
  readonly push: Push;
  readonly publisher: Publisher;
  readonly knownFaults: readonly PushFault[];
  readonly startedMs: number;
}

export class Accept {
  private readonly options: AcceptOptions;
  private readonly openJobs: OpenJobs;
  private readonly knownToAll: KnownToAll;
  /** Keyed by client, while it pushes; apart, since a client waits while its devices are moved. */
  private readonly batchers = new Map<number, Batcher<Submission, Settled>>();

  constructor(options: AcceptOptions) {
    this.options = options;
    this.openJobs = new OpenJobs(options.sql);
    this.knownToAll = new KnownToAll(options.sql);
  }

  /**
   * Answers with the notification of a repeated request. `knownFaults`: faults that depend on the
   * present time only, which a repeated request ignores.
   */
  async submit(
    push: Push,
    publisher: Publisher,
    knownFaults: readonly PushFault[] = [],
  ): Promise<Acceptance> {
    const settled = await this.batch({ push, publisher, knownFaults, startedMs: Date.now() });
    if (settled.status === 'rejected') throw settled.reason;
    return settled.value;
  }

  /** Puts a push in the place of a job that has not begun: both in one transaction, or neither. */
  async replace(
    push: Push,
    publisher: Publisher,
    knownFaults: readonly PushFault[],
    before: Replaced,
  ): Promise<Replacement> {
    const parts = { ...this.options, knownToAll: this.knownToAll };
    return await replaceUnbegun(parts, { push, publisher, knownFaults, before });
  }

  /** A job again, for those whom it has not reached. */
  async retry(asked: AskedRetry): Promise<RetryAnswer> {
    const { knownToAll, openJobs } = this;
    return await retryEnded({ ...this.options, knownToAll, openJobs }, asked);
  }

  /** A correction or retraction of a job, to those whom it has reached. */
  async correct(asked: AskedCorrection): Promise<CorrectionAnswer> {
    const { knownToAll, openJobs } = this;
    return await correctJob({ ...this.options, knownToAll, openJobs }, asked);
  }

  /** Validates and counts; sends nothing. `groupsMax`: see TagIndex. */
  async dryRun(
    push: Push,
    clientId: number,
    knownFaults: readonly PushFault[] = [],
    groupsMax?: number,
  ): Promise<DryRun> {
    const checked = await checkOne(this.options, clientId, push, knownFaults);
    if (checked.kind !== 'fit') return checked;
    const { targets } = checked;
    const counted = await countAudience(this.options, clientId, targets, groupsMax, push.policy);
    return counted.kind === 'busy'
      ? counted
      : {
          kind: 'counted',
          ...counted.result,
          ...unknownIn(targets),
          payload: checked.payload,
          templated: checked.templated,
        };
  }

  private batch(submission: Submission): Promise<Settled> {
    const { clientId } = submission.publisher;
    const known = this.batchers.get(clientId);
    if (known !== undefined) return known.submit(submission);
    const batcher = new Batcher<Submission, Settled>({
      itemsMax: PUSHES_MAX,
      weightMax: NAMES_MAX,
      weightOf,
      run: (submissions) => this.acceptApart(clientId, submissions),
    });
    this.batchers.set(clientId, batcher);
    const settled = batcher.submit(submission);
    void batcher.drain().then(() => this.batchers.delete(clientId));
    return settled;
  }

  /** Accepts pushes together, else each alone: one that the database refuses must fail alone. */
  private async acceptApart(
    clientId: number,
    submissions: readonly Submission[],
  ): Promise<readonly Settled[]> {
    try {
      return await this.acceptAll(clientId, submissions);
    } catch (error) {
      if (faultOf(error) === 'unavailable' || submissions.length === 1) throw error;
      const apart = submissions.map((submission) =>
        this.acceptAll(clientId, [submission]).catch((reason: unknown) => [rejected(reason)]),
      );
      return (await Promise.all(apart)).flat();
    }
  }

  /** Rejects only if none of these pushes was written. */
  private async acceptAll(
    clientId: number,
    submissions: readonly Submission[],
  ): Promise<readonly Settled[]> {
    const { sql } = this.options;
    const pushes = submissions.map(({ push }) => push);
    const keys = submissions.flatMap(({ publisher: { idempotency, userName } }) =>
      idempotency === null ? [] : { key: idempotency.key, userName },
    );
    const [resolved, keyed] = await Promise.all([
      resolve(sql, clientId, pushes),
      keys.length > 0 ? findByIdempotencyKeys(sql, clientId, keys) : [],
    ]);
    const byKey = new Map(keyed.map((one) => [one.key, one]));
    const answers = new Map<Submission, Settled>();
    const unanswered: Resolved[] = [];
    for (const [index, submission] of submissions.entries()) {
      const { push, publisher } = submission;
      const targets = resolved[index];
      if (targets === undefined) throw new Error('a push was not looked up');
      // The key first: a repeated request gets the same answer, even if a tag was deleted since.
      const before = byKey.get(publisher.idempotency?.key ?? '');
      if (before === undefined)
        unanswered.push({ push, scopes: targets.scopes, submission, targets });
      else answers.set(submission, fulfilled(recalled(publisher, before, targets)));
    }
    const contents = await contentsOf(this.options, clientId, unanswered);
    const fresh: Written[] = [];
    const freshKeys = new Set<string>();
    for (const [index, { submission, targets }] of unanswered.entries()) {
      const key = submission.publisher.idempotency?.key;
      const checked = check(targets, contents[index] ?? NOTHING, submission.knownFaults);
      if (checked.kind !== 'fit') answers.set(submission, fulfilled(checked));
      // When two pushes have one key, the second is looked up again after the first is written.
      else if (key === undefined || !freshKeys.has(key)) {
        const notification = newNotification(submission, checked, this.options.isSimulated);
        const nodes = await this.knownToAll.nodesBehind(notification);
        if (nodes !== null) {
          answers.set(submission, fulfilled({ kind: 'nodes-behind', nodes }));
          continue;
        }
        fresh.push({ submission, notification, targets: checked.targets });
        if (key !== undefined) freshKeys.add(key);
      }
    }
    await this.writeAll(await this.withinLimit(clientId, fresh, answers), answers);
    // Another request with the same key was written first (should its 24 hours have ended since,
    // this push is accepted), or the database refused one that was to be written with this push.
    const late = submissions.filter((submission) => !answers.has(submission));
    const others = late.length === 0 ? [] : await this.acceptLate(clientId, late);
    const settledLate = new Map(late.map((submission, index) => [submission, others[index]]));
    return submissions.flatMap((submission) => {
      const settled = answers.get(submission) ?? settledLate.get(submission);
      return settled ?? [];
    });
  }

  /** An error here fails only these pushes: the others of their batch are written. */
  private acceptLate(
    clientId: number,
    submissions: readonly Submission[],
  ): Promise<readonly Settled[]> {
    return this.acceptApart(clientId, submissions).catch((error: unknown) =>
      submissions.map(() => rejected(error)),
    );
  }

  /** Those for which the client has room. The others are answered. */
  private async withinLimit(
    clientId: number,
    fresh: readonly Written[],
    answers: Map<Submission, Settled>,
  ): Promise<readonly Written[]> {
    const [first] = fresh;
    if (first === undefined) return fresh;
    const { limits = {} } = first.submission.publisher;
    const { jobs, over } = await this.openJobs.take(clientId, limits, fresh.length);
    for (const { submission } of fresh.slice(jobs)) {
      answers.set(submission, fulfilled({ kind: 'over-limit', over }));
    }
    return fresh.slice(0, jobs);
  }

  /**
   * Piece by piece, so others have the database between. Rejects only if the first piece does; a
   * later one that is refused stays unanswered, and when the database has gone, it fails.
   */
  private async writeAll(
    fresh: readonly Written[],
    answers: Map<Submission, Settled>,
  ): Promise<void> {
    // A send that waits for its time or is held to a rate keeps no small one from beginning.
    const pieces = [true, false].flatMap((isSmall) =>
      inPieces(fresh.filter(({ notification }) => isPerhapsSmall(notification) === isSmall)),
    );
    for (const [index, piece] of pieces.entries()) {
      try {
        await this.write(piece, answers);
      } catch (error) {
        if (index === 0) throw error;
        if (faultOf(error) !== 'unavailable') continue;
        for (const { submission } of piece) answers.set(submission, rejected(error));
      }
    }
  }

  private async write(fresh: readonly Written[], answers: Map<Submission, Settled>): Promise<void> {
    const beganMs = Date.now();
    const notifications = fresh.map(({ notification }) => notification);
    const started = await this.options.atOnce.insert(notifications);
    const rows = started ?? (await insertUnderPolicies(this.options.sql, notifications));
    const states = new Map(rows.map(({ id, state }) => [id, state]));
    for (const written of fresh) {
      const state = states.get(written.notification.id);
      if (state !== undefined) this.answer(written, state, answers);
    }
    const underWay = (started ?? []).filter(({ chunks }) => chunks.length > 0);
    this.options.journal.planned(underWay.map(plannedOf), beganMs);
    const areDue = fresh.some(({ submission }) => submission.push.sendAtMs === null);
    if (areDue && underWay.length < rows.length) this.options.onAccepted();
  }

  private answer(
    { submission, notification, targets }: Written,
    state: NotificationState,
    answers: Map<Submission, Settled>,
  ): void {
    const { publisher, startedMs } = submission;
    const written = { notification, publisher, targets, startedMs };
    answers.set(submission, fulfilled(announce(this.options.journal, written, state)));
  }
}

type Settled = PromiseSettledResult<Acceptance>;

const plannedOf = ({ id, clientId, acceptedAtMs, chunks }: StartedNotification) => ({
  id,
  clientId,
  dueAtMs: acceptedAtMs,
  plannedAtMs: acceptedAtMs,
  scopes: chunks.map(({ appId }) => ({ appId, chunks: 1 })),
});

const fulfilled = (value: Acceptance): Settled => ({ status: 'fulfilled', value });
const rejected = (reason: unknown): Settled => ({ status: 'rejected', reason });

interface Written {
  readonly submission: Submission;
  readonly notification: NewNotification;
  readonly targets: FoundTargets;
}

/** A push that no earlier request has made, before its content is known. */
interface Resolved {
  readonly push: Push;
  readonly scopes: Targets['scopes'];
  readonly submission: Submission;
  readonly targets: Targets;
}

function weightOf({ push }: Submission): number {
  const octets = JSON.stringify(push.payload).length + (push.expression?.text.length ?? 0);
  return namesIn(push) + octets / PUSH_WEIGHT_OCTETS;
}
