/** Accepts a correction or retraction of a job: to whom that has reached (decision 77). */

import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Payload } from '../../domain/notification.ts';
import type { OwnIdentity } from '../../providers/overlay-tags.ts';
import { payloadFaults } from '../../providers/payload-size.ts';
import { loudly, quietly } from '../../providers/quiet.ts';
import type { TagIndex } from '../../tag-index/tag-index.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import type {
  NewCorrection,
  Rest,
  WhyNoCorrection,
} from '../sql/notifications/insert-correction.ts';
import { insertCorrection } from '../sql/notifications/insert-correction.ts';
import type { ClientScope } from '../sql/notifications/list-scopes.ts';
import { listScopes } from '../sql/notifications/list-scopes.ts';
import type { CorrectedNotification } from '../sql/notifications/read-corrected.ts';
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
import type { AskedRetraction } from './retraction.ts';
import { promisesOf, retractionContent } from './retraction.ts';
import { identityFaults, replacing, sentIdentityOf } from './sent-identity.ts';

/** `isQuiet`: it makes no noise. */
export type Deed =
  | { readonly kind: 'correct'; readonly isQuiet: boolean; readonly rest: Rest }
  | ({ readonly kind: 'retract' } & AskedRetraction);

export interface AskedCorrection {
  readonly job: CorrectedNotification;
  readonly deed: Deed;
  /** The job as a push, of a correction with the new payload. */
  readonly push: Push;
  readonly publisher: Publisher;
  /** For how many devices a push of its caller may be. Null: any number. */
  readonly devicesMax: number | null;
  /** How long a reach is kept, at least. */
  readonly reachKeptMs: number;
  /** Holds the client's row, before anything else is locked. */
  readonly hold: (tx: Sql) => Promise<void>;
  /** Records it in its transaction. */
  readonly record: (tx: Sql, correctedBy: string) => Promise<void>;
}

/** Nothing was written unless it is `accepted`. */
export type CorrectionAnswer =
  | Acceptance
  | WhyNoCorrection
  /** Its alerts have no identity, or not all of them the same. */
  | { readonly kind: 'not-replaceable'; readonly hasSeveral: boolean }
  /** It went to an app that its caller may not address. */
  | { readonly kind: 'other-apps' }
  /** A retraction would send nothing on any platform. */
  | { readonly kind: 'nothing-to-show' }
  | { readonly kind: 'too-many-devices'; readonly devices: number }
  /** Too many counts are under way. */
  | { readonly kind: 'busy' };

interface CorrectionParts extends ContentParts {
  readonly sql: SqlPool;
  readonly patientReads: PatientReads;
  readonly tagIndex: TagIndex;
  readonly isSimulated: (platformId: PlatformId) => boolean;
  readonly journal: Pick<JobJournal, 'accepted' | 'ended'>;
  readonly knownToAll: Pick<KnownToAll, 'nodesBehind'>;
  readonly openJobs: Pick<OpenJobs, 'take'>;
}

/** A repeated request, by its idempotency key, is answered with the job of the first one. */
export async function correctJob(
  parts: CorrectionParts,
  asked: AskedCorrection,
): Promise<CorrectionAnswer> {
  const { job, deed, publisher } = asked;
  const startedMs = Date.now();
  const earlier = await earlierAnswer(parts.sql, publisher, null);
  if (earlier !== null) return earlier;
  const identity = sentIdentityOf(job.sent, job.scopes);
  if (identity.kind !== 'identity') {
    return { kind: 'not-replaceable', hasSeveral: identity.kind === 'several' };
  }
  const scopes = await scopesOf(parts.sql, asked);
  if (scopes === null) return { kind: 'other-apps' };
  if (scopes.length === 0 && deed.kind === 'retract') return { kind: 'nothing-to-show' };
  const targets: FoundTargets = {
    ok: true,
    audience: job.audience,
    scopes,
    unknownTags: [],
    tests: [],
  };
  const tooMany = await overDevices(parts, asked, targets);
  if (tooMany !== null) return tooMany;
  const content = await contentOf(parts, asked, scopes, identity.own);
  if (content.kind === 'busy') return { kind: 'too-many-templates' };
  if (content.kind === 'invalid') return content;
  const correction: NewCorrection = {
    ...newNotification(
      { push: asked.push, publisher },
      { ...content, kind: 'fit', targets },
      parts.isSimulated,
    ),
    retries: job.first,
    correction: deed.kind,
  };
  const nodes = await parts.knownToAll.nodesBehind(correction);
  if (nodes !== null) return { kind: 'nodes-behind', nodes };
  const over = await overOpenJobs(parts, asked);
  if (over !== null) return over;
  const written = await write(parts.sql, correction, asked);
  if (written.kind !== 'inserted') {
    // The same request may have been faster on another connection.
    const faster = await earlierAnswer(parts.sql, publisher, null);
    if (faster !== null) return faster;
    return written.kind === 'key-taken' ? { kind: 'key-reused' } : written;
  }
  parts.journal.ended(written.ended);
  const accepted = { notification: correction, publisher, targets, startedMs };
  return announce(parts.journal, accepted, written.accepted.state);
}

/** One that cancels a job which is open takes the room of that. Null: there is room. */
async function overOpenJobs(
  { openJobs }: CorrectionParts,
  { job, deed, publisher }: AskedCorrection,
): Promise<CorrectionAnswer | null> {
  const isInPlace = !job.hasEnded && !(deed.kind === 'correct' && deed.rest === 'original');
  if (isInPlace) return null;
  const { clientId, limits = {} } = publisher;
  const open = await openJobs.take(clientId, limits, 1);
  return open.jobs === 0 ? { kind: 'over-limit', over: open.over } : null;
}

const write = (sql: SqlPool, correction: NewCorrection, asked: AskedCorrection) =>
  transact(sql, async (tx) => {
    const { job, deed, reachKeptMs } = asked;
    await asked.hold(tx);
    const rest = deed.kind === 'correct' ? deed.rest : 'stop';
    const written = await insertCorrection(tx, correction, { target: job.id, rest, reachKeptMs });
    if (written.kind === 'inserted') await asked.record(tx, written.accepted.id);
    return written;
  });

/** Where it goes, of what its client still has. Null: its caller may not address all of the job. */
async function scopesOf(
  sql: Sql,
  { job, deed, push, publisher }: AskedCorrection,
): Promise<readonly ClientScope[] | null> {
  const all = await listScopes(sql, publisher.clientId);
  const own = all.filter((one) =>
    job.scopes.some(
      ({ appId, platformId }) => appId === one.appId && platformId === one.platformId,
    ),
  );
  if (!own.every(({ appId }) => push.appLimit?.includes(appId) ?? true)) return null;
  if (deed.kind === 'correct') return own;
  const promises = promisesOf(deed, own).filter(({ how }) => how !== 'none');
  return own.filter((one) => promises.some(({ platformId }) => platformId === one.platformId));
}

/** Counts only where its caller is held to a number. Null: not too many. */
async function overDevices(
  parts: CorrectionParts,
  { job, deed, publisher, devicesMax }: AskedCorrection,
  targets: FoundTargets,
): Promise<CorrectionAnswer | null> {
  if (devicesMax === null) return null;
  const goesToRest = deed.kind === 'correct' && deed.rest !== 'stop' && !job.hasEnded;
  let devices = job.reached;
  if (goesToRest) {
    const counted = await countAudience(parts, publisher.clientId, targets);
    if (counted.kind === 'busy') return counted;
    const now = counted.result.audience.reduce((sum, { count }) => sum + count, 0);
    devices = Math.max(devices, now);
  }
  return devices > devicesMax ? { kind: 'too-many-devices', devices } : null;
}

async function contentOf(
  parts: CorrectionParts,
  { deed, push, publisher }: AskedCorrection,
  scopes: readonly ClientScope[],
  identity: OwnIdentity,
): Promise<Content> {
  if (deed.kind === 'retract') {
    return retractionContent(deed, promisesOf(deed, scopes), scopes, identity);
  }
  const platformIds = scopes.map(({ platformId }) => platformId);
  const asCorrection = (payload: Payload): Payload => {
    const made = replacing(payload, identity);
    return deed.isQuiet ? quietly(made) : loudly(made, platformIds);
  };
  const faults = ownFaults(push, identity);
  if (faults.length > 0) return { kind: 'invalid', faults };
  const asked = { push: { ...push, payload: asCorrection(push.payload) }, scopes };
  const [content] = await contentsOf(parts, publisher.clientId, [asked]);
  if (content?.kind !== 'fit') return content ?? { kind: 'busy' };
  const { payload, templated } = content;
  const made = Object.entries(templated?.payloads ?? {}).map(
    ([key, one]) => [key, asCorrection(one)] as const,
  );
  const payloads = Object.fromEntries(made);
  const tooLarge = scopes.flatMap((scope) =>
    payloadFaults(payloads[scopeKeyOf(scope)] ?? payload, [scope.platformId], 'correct'),
  );
  if (tooLarge.length > 0) return { kind: 'invalid', faults: tooLarge };
  return { kind: 'fit', payload, templated: templated && { ...templated, payloads } };
}

/** Faults of a payload that could replace nothing. */
function ownFaults({ payload }: Push, identity: OwnIdentity) {
  return [
    ...identityFaults(payload, identity, 'a correction'),
    ...(payload.silent === true
      ? [{ path: 'payload.silent', message: 'must be absent: a correction is shown.' }]
      : []),
    ...(payload.present?.replaceable === false
      ? [{ path: 'payload.present.replaceable', message: 'must not be false: it can be replaced.' }]
      : []),
  ];
}
