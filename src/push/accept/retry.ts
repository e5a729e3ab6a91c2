/** Accepts a retry of a job that has ended: to whom it has not reached (decision 75). */

import type { JsonObject } from '../../../packages/std/src/json.ts';
import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { Correction } from '../../domain/notification.ts';
import { hasEnded } from '../../domain/notification.ts';
import type { TagIndex } from '../../tag-index/tag-index.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import type { NewRetry, WhyNoRetry } from '../sql/notifications/insert-retry.ts';
import { insertRetry } from '../sql/notifications/insert-retry.ts';
import type { ClientScope } from '../sql/notifications/list-scopes.ts';
import { listScopes } from '../sql/notifications/list-scopes.ts';
import type { RetriedNotification } from '../sql/notifications/read-retried.ts';
import { hasSkippedWaves } from '../sql/waves/read-waves.ts';
import type { Acceptance } from './acceptance.ts';
import { announce } from './acceptance.ts';
import type { FoundTargets } from './check.ts';
import type { Content, ContentParts } from './contents.ts';
import { contentsOf } from './contents.ts';
import { countAudience } from './count-audience.ts';
import type { KnownToAll } from './known-to-all.ts';
import type { Publisher } from './new-notification.ts';
import { newNotification } from './new-notification.ts';
import type { OpenJobs } from './open-jobs.ts';
import type { Push } from './push.ts';
import { earlierAnswer } from './replace.ts';
import { identityFaults, sentIdentityOf, withIdentity } from './sent-identity.ts';

export interface AskedRetry {
  readonly job: RetriedNotification;
  /** The job as a push, with the payload that it is to have. */
  readonly push: Push;
  /** A payload in place of the job's. Null: that one, as it was rendered. */
  readonly given: JsonObject | null;
  readonly publisher: Publisher;
  /** For how many devices a push of its caller may be. Null: any number. */
  readonly devicesMax: number | null;
  /** How long a reach is kept, at least. */
  readonly reachKeptMs: number;
  /** Holds the client's row, before anything else is locked. */
  readonly hold: (tx: Sql) => Promise<void>;
  /** Records the retry in its transaction. */
  readonly record: (tx: Sql, retriedBy: string) => Promise<void>;
}

/** Nothing was written unless it is `accepted`. */
export type RetryAnswer =
  | Acceptance
  | WhyNoRetry
  | { readonly kind: 'cancelled' | 'expired' | 'waves-skipped' }
  /** It goes to those whom the chain has reached, as a retry does not. */
  | { readonly kind: 'is-correction'; readonly correction: Correction }
  /** `failedOn`: where something has. */
  | { readonly kind: 'nothing-failed'; readonly failedOn: readonly PlatformId[] }
  /** Its audience there, those included whom it leaves out. */
  | { readonly kind: 'too-many-devices'; readonly devices: number }
  /** Too many counts are under way. */
  | { readonly kind: 'busy' };

interface RetryParts extends ContentParts {
  readonly sql: SqlPool;
  readonly patientReads: PatientReads;
  readonly tagIndex: TagIndex;
  readonly isSimulated: (platformId: PlatformId) => boolean;
  readonly journal: Pick<JobJournal, 'accepted'>;
  readonly knownToAll: Pick<KnownToAll, 'nodesBehind'>;
  readonly openJobs: Pick<OpenJobs, 'take'>;
  readonly onAccepted: () => void;
}

/** A repeated request, by its idempotency key, is answered with the retry of the first one. */
export async function retryEnded(parts: RetryParts, asked: AskedRetry): Promise<RetryAnswer> {
  const { job, push, publisher } = asked;
  const startedMs = Date.now();
  const earlier = await earlierAnswer(parts.sql, publisher, null);
  if (earlier !== null) return earlier;
  const { id, state, expiresAtMs, correction } = job;
  if (correction !== null) return { kind: 'is-correction', correction };
  if (state === 'CANCELLED') return { kind: 'cancelled' };
  if (!hasEnded(state)) return { kind: 'under-way', id, state };
  if (expiresAtMs !== null && expiresAtMs <= Date.now()) return { kind: 'expired' };
  // It would send to those whom the job left out, as their time had passed.
  if (await hasSkippedWaves(parts.sql, job.first)) return { kind: 'waves-skipped' };
  const failed = await failedScopes(parts.sql, publisher.clientId, asked);
  const { platformIds } = push;
  const scopes = failed.filter(({ platformId }) => platformIds?.includes(platformId) ?? true);
  if (scopes.length === 0) {
    const failedOn = new Set(failed.map(({ platformId }) => platformId));
    return { kind: 'nothing-failed', failedOn: [...failedOn] };
  }
  const targets: FoundTargets = {
    ok: true,
    audience: job.audience,
    scopes,
    unknownTags: [],
    tests: [],
  };
  const over = await overDevices(parts, asked, targets);
  if (over !== null) return over;
  const content = await contentOf(parts, asked, scopes);
  if (content.kind === 'busy') return { kind: 'too-many-templates' };
  if (content.kind === 'invalid') return content;
  const retry: NewRetry = {
    ...newNotification(
      { push, publisher },
      { ...content, kind: 'fit', targets },
      parts.isSimulated,
    ),
    retries: job.first,
  };
  const nodes = await parts.knownToAll.nodesBehind(retry);
  if (nodes !== null) return { kind: 'nodes-behind', nodes };
  const { clientId, limits = {} } = publisher;
  const open = await parts.openJobs.take(clientId, limits, 1);
  if (open.jobs === 0) return { kind: 'over-limit', over: open.over };
  const written = await write(parts.sql, retry, asked);
  if (written.kind !== 'inserted') {
    // The same request may have been faster on another connection.
    const faster = await earlierAnswer(parts.sql, publisher, null);
    if (faster !== null) return faster;
    return written.kind === 'key-taken' ? { kind: 'key-reused' } : written;
  }
  const { accepted } = written;
  const acceptance = announce(
    parts.journal,
    { notification: retry, publisher, targets, startedMs },
    accepted.state,
  );
  parts.onAccepted();
  return acceptance;
}

const write = (sql: SqlPool, retry: NewRetry, { hold, record, reachKeptMs, given }: AskedRetry) =>
  transact(sql, async (tx) => {
    await hold(tx);
    const written = await insertRetry(tx, retry, { reachKeptMs, hasOwnPayload: given !== null });
    if (written.kind === 'inserted') await record(tx, written.accepted.id);
    return written;
  });

/** Where the job has failed, of what its client still has and its caller may address. */
async function failedScopes(
  sql: Sql,
  clientId: number,
  { job, push }: AskedRetry,
): Promise<readonly ClientScope[]> {
  const all = await listScopes(sql, clientId);
  return all.filter(
    ({ appId, platformId }) =>
      (push.appLimit?.includes(appId) ?? true) &&
      job.failedScopes.some((one) => one.appId === appId && one.platformId === platformId),
  );
}

/** Counts only where its caller is held to a number. Null: not too many. */
async function overDevices(
  parts: RetryParts,
  { publisher, devicesMax }: AskedRetry,
  targets: FoundTargets,
): Promise<RetryAnswer | null> {
  if (devicesMax === null) return null;
  const counted = await countAudience(parts, publisher.clientId, targets);
  if (counted.kind === 'busy') return counted;
  const devices = counted.result.audience.reduce((sum, { count }) => sum + count, 0);
  return devices > devicesMax ? { kind: 'too-many-devices', devices } : null;
}

/** The job's own was checked when that was accepted, and is sent as it was rendered then. */
async function contentOf(
  parts: RetryParts,
  { job, push, given, publisher }: AskedRetry,
  scopes: readonly ClientScope[],
): Promise<Content> {
  const { payload, templated } = job;
  const own: Content = { kind: 'fit', payload, templated };
  if (given === null) return own;
  // A chain has one identity, as far as what was sent has one (decision 77).
  const identity = sentIdentityOf([job], scopes);
  const like = identity.kind === 'identity' ? identity.own : null;
  const faults = like === null ? [] : identityFaults(push.payload, like, 'a retry');
  if (faults.length > 0) return { kind: 'invalid', faults };
  const asked = like === null ? push : { ...push, payload: withIdentity(push.payload, like) };
  const [content = own] = await contentsOf(parts, publisher.clientId, [{ push: asked, scopes }]);
  if (content.kind !== 'fit' || like === null || content.templated === null) return content;
  const made = Object.entries(content.templated.payloads).map(
    ([key, one]) => [key, withIdentity(one, like)] as const,
  );
  return {
    ...content,
    templated: { ...content.templated, payloads: Object.fromEntries(made) },
  };
}
