/**
 * Explains why a device is, or is not, in an audience, and whether a job has reached it. It judges
 * by the device's tags and values of now: what they were when the job was sent is not kept.
 */

import { compileFor } from '../../attributes/compile-for.ts';
import { findAttributes } from '../../attributes/find-attributes.ts';
import { readClock } from '../../database/read-clock.ts';
import type { Sql } from '../../database/sql.ts';
import type { ExplainedDevice, ExplainedEvent } from '../../devices/explained-device.ts';
import {
  hasLeftSince,
  listExplainedEvents,
  readExplainedDevice,
} from '../../devices/explained-device.ts';
import { withoutIds } from '../../devices/hide-sends.ts';
import type { DeviceRef } from '../../devices/operation.ts';
import type { AskedAudience } from '../../domain/asked-audience.ts';
import { askedTestsOf } from '../../domain/asked-audience.ts';
import type { Attribute } from '../../domain/attributes.ts';
import { isInAudience, isNobody } from '../../domain/audience.ts';
import type { ExpressionNode } from '../../domain/audience-expression.ts';
import { readExpression } from '../../domain/audience-expression.ts';
import { GROUP_DEVICES, groupNumberOf } from '../../domain/device.ts';
import type { DevicePlace } from '../../domain/device-group-change.ts';
import { lookUp } from '../accept/look-up.ts';
import type { Push, PushFault } from '../accept/push.ts';
import { resolveTargets } from '../accept/targets.ts';
import { hasDevice } from '../sql/ledger/reach-words.ts';
import { isReached, reachedIn } from '../sql/ledger/read-reach.ts';
import { chainOf } from '../sql/ledger/retry-chain.ts';
import type { ExplainedJob } from '../sql/notifications/read-explained-job.ts';
import { readExplainedJob } from '../sql/notifications/read-explained-job.ts';
import type { ScopeStatus } from '../sql/notifications/read-status.ts';
import { readStatus } from '../sql/notifications/read-status.ts';
import { mayBePersonal, personalJobs } from '../sql/personal-jobs.ts';
import type { WaveOfDevice } from '../sql/waves/wave-of-device.ts';
import { waveOfDevice } from '../sql/waves/wave-of-device.ts';
import type { AskedOperand } from './asked-operands.ts';
import { meaningsOf, operandsIn, operandsOfJob } from './asked-operands.ts';
import type { JudgedOperand } from './judge.ts';
import { judge } from './judge.ts';
import type { JudgedLimit } from './limits.ts';
import { limitsOf, notReachedBy } from './limits.ts';
import type { Withheld } from './withheld.ts';
import { withheldBy } from './withheld.ts';

interface ExplainRequest {
  readonly clientId: number;
  /** Whose jobs the caller sees; null: all of its client. */
  readonly publisher: string | null;
  /** Whether the caller may know the personal values of a device. */
  readonly seesPersonal: boolean;
  readonly reachRetentionDays: number;
  readonly device: DeviceRef;
  /** The id of a job, or a push of nothing to an expression whose segments are in their places. */
  readonly of: string | Push;
}

export interface Explanation {
  readonly known: boolean;
  readonly inAudience: boolean;
  readonly because: readonly (JudgedOperand | JudgedLimit)[];
  /** Absent: an audience was asked about. */
  readonly reached?: boolean | 'unknown' | 'gone';
  /** The cap that has left it out. Absent: none has. */
  readonly withheld?: Withheld;
  /** The part of the job for the app and platform of the device; null: it has none. */
  readonly part: ScopeStatus | null;
  /** Absent: the job has one moment, or an audience was asked about. */
  readonly wave?: WaveOfDevice;
  readonly lastEvents: readonly ExplainedEvent[];
}

type Explained =
  | { readonly kind: 'explained'; readonly explanation: Explanation }
  | { readonly kind: 'unknown-job' }
  | { readonly kind: 'invalid'; readonly faults: readonly PushFault[] }
  /** The caller may not know this value. Null: of an attribute that was deleted. */
  | { readonly kind: 'personal'; readonly name: string | null };

export async function explain(sql: Sql, request: ExplainRequest): Promise<Explained> {
  const { device: ref, of } = request;
  const device = await readExplainedDevice(sql, ref);
  const meant =
    typeof of === 'string'
      ? await meantByJob(sql, request, of, device?.ordinal ?? null)
      : await meantByPush(sql, request, of);
  if (meant.kind !== 'meant') return meant;
  if (!request.seesPersonal) {
    const personal = personalIn(meant);
    if (personal !== null) return { kind: 'personal', ...personal };
  }
  const jobId = typeof of === 'string' ? of : null;
  const lastEvents = await eventsOf(sql, request, device, jobId);
  const reach = jobId === null ? { part: null } : await reachOf(sql, request, jobId, device);
  const judged =
    device === null
      ? { inAudience: false, because: [] }
      : await judgedBy(sql, request, meant, device);
  const withheld =
    device === null || meant.job === null
      ? null
      : await withheldBy(sql, meant.job, { ...ref, ordinal: device.ordinal });
  const wave =
    jobId === null || device === null ? null : await waveOfDevice(sql, jobId, device.facetIds);
  const explanation = {
    known: device !== null,
    ...judged,
    ...reach,
    ...(withheld === null ? {} : { withheld }),
    ...(wave === null ? {} : { wave }),
    lastEvents,
  };
  return { kind: 'explained', explanation: await withDoubt(sql, ref, explanation, meant.job) };
}

interface Meant {
  readonly kind: 'meant';
  readonly audience: AskedAudience;
  readonly operands: readonly AskedOperand[];
  /** Those of the client that it may test, by name. */
  readonly attributes: ReadonlyMap<string, Attribute>;
  readonly scopes: ExplainedJob['scopes'];
  readonly job: ExplainedJob | null;
}

async function meantByJob(
  sql: Sql,
  { clientId, publisher, device, reachRetentionDays: movesKeptDays }: ExplainRequest,
  id: string,
  ordinal: number | null,
): Promise<Meant | Extract<Explained, { readonly kind: 'unknown-job' }>> {
  const asked = { clientId, publisher, scope: device, ordinal, movesKeptDays };
  const job = await readExplainedJob(sql, id, asked);
  if (job === null) return { kind: 'unknown-job' };
  const { scopes, lostTagIds } = job;
  const root = rootOf(job);
  const isTested = root !== null || askedTestsOf(job.audience).length > 0;
  const declared = isTested ? await findAttributes(sql, clientId) : [];
  const attributes = new Map(declared.map((attribute) => [attribute.name, attribute]));
  const { audience } = job;
  const operands = await operandsOfJob(sql, { clientId, audience, root, attributes, lostTagIds });
  return { kind: 'meant', audience: currentAudience(job), operands, attributes, scopes, job };
}

/** The audience that it would be planned with now (planDue); of a planned one, its own. */
function currentAudience({ audience, lostTagIds }: ExplainedJob): AskedAudience {
  const lost = new Set(lostTagIds);
  if (lost.size === 0) return audience;
  if (audience.allTagIds.some((id) => lost.has(id))) {
    return { ...audience, anyTagIds: [], isToEverybody: false };
  }
  return { ...audience, anyTagIds: audience.anyTagIds.filter((id) => !lost.has(id)) };
}

function rootOf({ expression }: ExplainedJob): ExpressionNode | null {
  if (expression === null) return null;
  const read = readExpression(expression, { isExpanded: true });
  return read.ok ? read.expression.root : null;
}

async function meantByPush(
  sql: Sql,
  { clientId }: ExplainRequest,
  push: Push,
): Promise<Meant | Extract<Explained, { readonly kind: 'invalid' }>> {
  const [known = { tags: [], scopes: [] }] = await lookUp(sql, clientId, [push]);
  const targets = resolveTargets(push, known);
  if (!targets.ok) return { kind: 'invalid', faults: targets.faults };
  return {
    kind: 'meant',
    audience: targets.audience,
    operands:
      push.expression === undefined ? [] : operandsIn(push.expression.root, meaningsOf(known)),
    attributes: known.attributes ?? new Map(),
    scopes: targets.scopes.map(({ appId, platformId }) => [appId, platformId] as const),
    job: null,
  };
}

/**
 * A personal attribute that is tested; null: there is none. The operands may have more tests than
 * the audience, which drops those that cannot decide.
 */
function personalIn({ audience, operands, attributes }: Meant) {
  const asked = operands.flatMap(({ asks }) =>
    asks.kind === 'attribute' ? (asks.test ?? []) : [],
  );
  const test = [...asked, ...askedTestsOf(audience)].find((one) =>
    mayBePersonal(one, attributes.values()),
  );
  if (test === undefined) return null;
  const known = [...attributes.values()].find(({ id }) => id === test.subject);
  return { name: known?.name ?? null };
}

/** Who may not know personal values does not see which jobs that test them have failed for it. */
async function eventsOf(
  sql: Sql,
  { clientId, device: ref, seesPersonal }: ExplainRequest,
  device: ExplainedDevice | null,
  jobId: string | null,
): Promise<readonly ExplainedEvent[]> {
  const events = await listExplainedEvents(sql, ref, device, jobId);
  if (seesPersonal) return events;
  const ids = events.flatMap(({ notificationId }) => notificationId ?? []);
  const hidden = await personalJobs(sql, clientId, ids);
  return withoutIds(events, hidden);
}

async function judgedBy(
  sql: Sql,
  { clientId, device: { appId, platformId } }: ExplainRequest,
  { audience, operands, scopes, job }: Meant,
  device: ExplainedDevice,
): Promise<Pick<Explanation, 'inAudience' | 'because'>> {
  if (job?.correction != null && job.retries !== null) {
    const isMeant = await isReachedByChain(
      sql,
      { appId, platformId, ordinal: device.ordinal },
      job.retries,
    );
    return { inAudience: isMeant, because: isMeant ? [] : [notReachedBy(job.retries)] };
  }
  const nowMs = await readClock(sql);
  const audienceIn = await compileFor(sql, clientId, audience, nowMs);
  const scope = { appId, platformId };
  const limits = limitsOf({
    ...scope,
    scopes,
    isForNobody: isNobody(audience),
    isLate: job?.isDeviceLate ?? false,
    wasForNobodyHere: job?.wasForNobodyHere ?? false,
    reachedBefore: await reachedBefore(sql, { ...scope, ordinal: device.ordinal }, job),
  });
  const { tagIds, facetIds } = device;
  return {
    inAudience: limits.length === 0 && isInAudience(audienceIn(scope), tagIds, facetIds, device),
    because: [...operands.map((operand) => judge(operand, { ...scope, device, nowMs })), ...limits],
  };
}

/** The first job of a retry that left the device out, because it had the message already. */
async function reachedBefore(
  sql: Sql,
  { ordinal, ...scope }: DevicePlace,
  job: ExplainedJob | null,
): Promise<string | null> {
  const first = job?.retries ?? null;
  if (job === null || first === null) return null;
  // Ids are in the order of acceptance: a retry does not leave out what later ones have reached.
  const earlier = (await chainOf(sql, first)).filter((id) => id < job.id);
  const reached = await reachedIn(sql, earlier, { ...scope, groupNumber: groupNumberOf(ordinal) });
  return reached !== null && hasDevice(reached, ordinal % GROUP_DEVICES) ? first : null;
}

/** Also by a correction itself: it may have gone to a device that the first job was not sent to. */
async function isReachedByChain(
  sql: Sql,
  { ordinal, ...scope }: DevicePlace,
  first: string,
): Promise<boolean> {
  const group = { ...scope, groupNumber: groupNumberOf(ordinal) };
  const reached = await reachedIn(sql, await chainOf(sql, first), group);
  return reached !== null && hasDevice(reached, ordinal % GROUP_DEVICES);
}

async function reachOf(
  sql: Sql,
  { clientId, publisher, device: { appId, platformId } }: ExplainRequest,
  id: string,
  device: ExplainedDevice | null,
): Promise<Required<Pick<Explanation, 'reached' | 'part'>>> {
  const rows = await readStatus(sql, clientId, id, publisher);
  const part = rows?.find((row) => row.appId === appId && row.platformId === platformId) ?? null;
  // The ordinal of a device that is not there any more is not known.
  if (device === null) return { part, reached: part === null ? false : 'unknown' };
  const answer = await isReached(sql, id, { appId, platformId, ordinal: device.ordinal });
  const isKnown = answer === 'reached' || answer === 'not';
  return { part, reached: isKnown ? answer === 'reached' : answer };
}

/** A device that was removed since, and came again, has another place: what it got is not known. */
async function withDoubt(
  sql: Sql,
  device: DeviceRef,
  explanation: Explanation,
  job: ExplainedJob | null,
): Promise<Explanation> {
  if (job === null || explanation.reached !== false || explanation.part === null) {
    return explanation;
  }
  const hasLeft = await hasLeftSince(sql, device, job.sendAtMs);
  return hasLeft ? { ...explanation, reached: 'unknown' } : explanation;
}
