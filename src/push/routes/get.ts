/** `GET …/notifications/<id>`: everything that is known of one push job. */

import { z } from 'zod';
import type { JsonObject } from '../../../packages/std/src/json.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import { publisherOf } from '../../domain/caller.ts';
import type { Scope } from '../../domain/device.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import type {
  Audience,
  Counts,
  Payload,
  Selector,
  ShownCounts,
  TemplatedPayload,
} from '../../domain/notification.ts';
import { nameOfLanguage, SELECTORS } from '../../domain/notification.ts';
import { optionSchemas, PUSH_OPTION_NAMES, shownOptions } from '../../domain/push-options.ts';
import { shown } from '../../http/answers.ts';
import type { Route } from '../../http/handler.ts';
import { count, epochMs, id, orAbsent, platformId } from '../../http/openapi/parts.ts';
import { done, refuse } from '../../http/result.ts';
import { shownUserName } from '../../http/user-name.ts';
import type { NotificationTimes } from '../sql/notifications/list-notifications.ts';
import type { ScopeEstimate } from '../sql/notifications/read-estimates.ts';
import { readEstimates, sumOfEstimates } from '../sql/notifications/read-estimates.ts';
import type { KnownNotification } from '../sql/notifications/read-notification.ts';
import { readNotification } from '../sql/notifications/read-notification.ts';
import type { ScopeStatus } from '../sql/notifications/read-status.ts';
import { readStatus } from '../sql/notifications/read-status.ts';
import { readWaves } from '../sql/waves/read-waves.ts';
import { countsObject } from './counts.ts';
import { jobPath, NO_JOB, reads } from './job.ts';
import { JOB_ROW, jobRow } from './list.ts';
import { COUNTS, estimatedTotalCount, reasons, standing } from './push-schemas.ts';
import { reachOf, reachSchema } from './reach.ts';
import { standingOf } from './status.ts';
import { waveAnswers, waveFields } from './waves.ts';

/** Documented as `payload`, which reads it; an answer has it as it is. */
const shownPayload = z.custom<JsonObject>().meta({ $ref: '#/components/schemas/Payload' });
/** Answers and events have it so. */
export const jobSchema = z
  .object({
    ...jobRow,
    estimatedTotalCount,
    devicesPerSecond: orAbsent(
      count.meta({
        description:
          'Devices that were answered for in a second, from the first send to the last. Absent while that is one moment.',
      }),
    ),
    failureReasons: reasons,
    reach: reachSchema,
    audience: z
      .object({
        tagIds: z.array(z.int()),
        filterTagIds: z.array(z.int()),
        excludeTagIds: z.array(z.int()),
        appIds: z.array(id),
        platformIds: z.array(platformId),
        expression: orAbsent(
          z.string().meta({
            description:
              'As it was given. The lists say then what each device needs at least: one of `tagIds`, all of `filterTagIds`, none of `excludeTagIds`.',
          }),
        ),
      })
      .meta({
        description:
          'What was resolved when the push was accepted. When a scheduled one is due, target tags that have expired are dropped.',
      }),
    category: orAbsent(
      z.string().meta({
        description:
          'The category by whose caps it goes, as when it was accepted. Absent: the client had no policies.',
      }),
    ),
    caps: orAbsent(
      z.literal('ignore').meta({
        description:
          'It leaves nobody out by the caps of its category. Absent: it is held to them.',
      }),
    ),
    retries: orAbsent(
      z.uuid().meta({
        description:
          'The job that was sent first, of which this one is a retry. Absent: it is none.',
      }),
    ),
    retriedBy: z.array(z.uuid()).optional().meta({
      description: 'Its retries, in the order in which they were asked for. Absent: none.',
    }),
    corrects: orAbsent(
      z.uuid().meta({
        description: 'The job that was sent first, which this one corrects. Absent: it does not.',
      }),
    ),
    correctedBy: z.array(z.uuid()).optional().meta({
      description: 'Its corrections, in the order in which they were asked for. Absent: none.',
    }),
    retracts: orAbsent(
      z.uuid().meta({
        description: 'The job that was sent first, which this one retracts. Absent: it does not.',
      }),
    ),
    retractedBy: z.array(z.uuid()).optional().meta({
      description: 'Its retractions, in the order in which they were asked for. Absent: none.',
    }),
    ...waveAnswers,
    ...optionSchemas(PUSH_OPTION_NAMES, ({ shownSchema }) => shownSchema),
    stageEndedAt: orAbsent(
      epochMs.meta({ description: 'When it paused by itself after `pauseAfter` devices.' }),
    ),
    payload: shownPayload,
    givenPayload: z.custom<JsonObject>().optional().meta({
      type: 'object',
      additionalProperties: {},
      description:
        'The payload as its publisher wrote it, where a template was given it, and of a job in several languages: the one to submit again.',
    }),
    platforms: z.array(
      z.object({
        appId: id,
        platformId,
        ...standing,
        estimatedTotalCount,
        payload: shownPayload
          .optional()
          .meta({ description: 'What its template made of the payload.' }),
      }),
    ),
  })
  .meta({ id: 'Notification' });

/** How jobs are read, and how long their reach is kept. */
export interface JobReads {
  readonly patientReads: PatientReads;
  readonly reachRetentionDays: number;
}

export const getRoute = (parts: JobReads): Route =>
  reads.get(
    'getNotification',
    {
      at: ':id',
      summary: 'Everything that is known of a push job',
      description:
        'A `payload` can be submitted again as it is; of the parts for one provider it has those of the platforms that the job goes to. That of a job in several languages has the messages of its tags as `languages`. The counts are about a second old at most; after the loss of a node they may go back for a moment by what is sent again.',
      path: jobPath,
      answer: shown('The job.', jobSchema, {
        ...JOB_ROW,
        failureReasons: { Unregistered: 1 },
        reach: { devices: 2, until: 1_790_000_000_000 },
        audience: {
          tagIds: [2],
          filterTagIds: [],
          excludeTagIds: [],
          appIds: [1],
          platformIds: [3],
        },
        delivery: 'at-least-once',
        priority: 'normal',
        payload: { title: 'goal!', message: '1:0' },
        platforms: [{ appId: 1, platformId: 3, state: 'FINISHED', ...COUNTS }],
      }),
    },
    async ({ caller, path: { id } }) => {
      const known = await readJob(parts, caller.clientId, id, publisherOf(caller));
      switch (known.kind) {
        case 'busy':
          return refuse.tooMuchCounted;
        case 'unknown':
          return NO_JOB;
        case 'known': {
          const { userName } = known.job;
          return done({ ...known.job, userName: shownUserName(caller, userName) });
        }
      }
    },
  );

export type KnownJob =
  | {
      readonly kind: 'known';
      readonly job: { readonly id: string } & ReturnType<typeof jobObject> &
        ReturnType<typeof waveFields> & {
          readonly reach: ReturnType<typeof reachOf>;
        };
    }
  /** The client has no such job, or, with a publisher, it is another's. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'busy' };

/** Everything that is known of a job. The answer about one that has ended has its final counts. */
export async function readJob(
  { patientReads, reachRetentionDays }: JobReads,
  clientId: number,
  id: string,
  publisher: string | null,
): Promise<KnownJob> {
  const read = await patientReads.run(clientId, async (sql) => {
    // One after the other: of a job that has ended no count changes any more.
    const job = await readNotification(sql, clientId, id, publisher);
    const rows = await readStatus(sql, clientId, id, publisher);
    // After the counts, so that no count is above its estimate.
    const estimates = job?.finishedAt === null ? await readEstimates(sql, [id]) : [];
    const waves = (job?.sendAtLocal ?? null) === null ? [] : await readWaves(sql, id);
    return { job, rows, estimates, waves };
  });
  if (read.kind === 'busy') return read;
  const { job, rows, estimates, waves } = read.result;
  if (job === null || rows === null) return { kind: 'unknown' };
  const ofApps = rows.filter(isOfAnApp);
  const reach = reachOf(ofApps, job.finishedAt, reachRetentionDays);
  const waved = waveFields({ ...job, waves }, ofApps.length);
  return { kind: 'known', job: { id, ...jobObject(job, ofApps, estimates), ...waved, reach } };
}

function jobObject(
  job: KnownNotification,
  rows: readonly (ScopeStatus & Scope)[],
  estimates: readonly ScopeEstimate[],
) {
  const counts = sumOf(rows);
  const rate = rateOf(job, counts);
  const estimateOf = new Map(estimates.map((one) => [scopeKeyOf(one), one.total]));
  return {
    state: job.state,
    userName: job.userName,
    ...timesOf(job),
    ...countsObject(counts),
    ...estimateIn(sumOfEstimates(estimates)),
    devicesPerSecond: rate,
    failureReasons: reasonsOf(rows),
    audience: {
      expression: job.expression,
      ...selectedTags(job.audience),
      appIds: [...new Set(rows.map(({ appId }) => appId))],
      platformIds: [...new Set(rows.map(({ platformId }) => platformId))],
    },
    category: job.category,
    caps: job.ignoresCaps ? ('ignore' as const) : null,
    retries: job.retries,
    ...(job.retriedBy.length === 0 ? {} : { retriedBy: job.retriedBy }),
    corrects: job.corrects,
    ...(job.correctedBy.length === 0 ? {} : { correctedBy: job.correctedBy }),
    retracts: job.retracts,
    ...(job.retractedBy.length === 0 ? {} : { retractedBy: job.retractedBy }),
    ...shownOptions(job),
    stageEndedAt: job.stageEndedAt,
    payload: payloadObject(job.payload),
    ...(job.templated === null ? {} : { givenPayload: job.templated.given }),
    platforms: rows.map((row) => ({
      appId: row.appId,
      platformId: row.platformId,
      ...standingOf(row),
      ...estimateIn(estimateOf.get(scopeKeyOf(row)) ?? null),
      ...templatedIn(job.templated, row),
    })),
  };
}

/** The audience as a request names it, each tag by its id. */
const selectedTags = (audience: Audience) =>
  Object.fromEntries(
    Object.values(SELECTORS).map(({ ids, list }) => [ids, audience[list]]),
  ) as Readonly<Record<(typeof SELECTORS)[Selector]['ids'], readonly number[]>>;

const timesOf = ({
  acceptedAt,
  sendAt,
  expiresAt,
  firstSendAt,
  lastSendAt,
  finishedAt,
}: NotificationTimes): NotificationTimes => ({
  acceptedAt,
  sendAt,
  expiresAt,
  firstSendAt,
  lastSendAt,
  finishedAt,
});

/** A client without apps has one row, of nothing. */
const isOfAnApp = (row: ScopeStatus): row is ScopeStatus & Scope => row.appId !== null;

const estimateIn = (total: number | null): { readonly estimatedTotalCount?: number } =>
  total === null ? {} : { estimatedTotalCount: total };

const NAMES = [
  'total',
  'delivered',
  'failed',
  'skipped',
  'expired',
  'cancelled',
  'withheld',
] as const;

const sumOf = (rows: readonly ShownCounts[]): ShownCounts => {
  const sum = {
    total: 0,
    delivered: 0,
    failed: 0,
    skipped: 0,
    expired: 0,
    cancelled: 0,
    withheld: 0,
  };
  for (const row of rows) for (const name of NAMES) sum[name] += row[name];
  return sum;
};

function reasonsOf(rows: readonly ScopeStatus[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { reasons } of rows) {
    for (const [reason, count] of Object.entries(reasons ?? {})) {
      counts.set(reason, (counts.get(reason) ?? 0) + count);
    }
  }
  return Object.fromEntries(counts);
}

/** Devices a second answered for between first and last send; null: too few for a rate. */
function rateOf(
  { firstSendAt, lastSendAt }: NotificationTimes,
  { delivered, failed }: Counts,
): number | null {
  if (firstSendAt === null || lastSendAt === null || lastSendAt <= firstSendAt) return null;
  return Math.round(((delivered + failed) * 1_000) / (lastSendAt - firstSendAt));
}

/** The payload that the template made; nothing for a scope without a template. */
function templatedIn(
  templated: TemplatedPayload | null,
  scope: Scope,
): { readonly payload?: JsonObject } {
  const made = templated?.payloads[scopeKeyOf(scope)];
  return made === undefined ? {} : { payload: payloadObject(made) };
}

/** The payload in the form that may be submitted again. */
const payloadObject = ({ languages, ...payload }: Payload) => ({
  ...oneLanguageObject(payload),
  ...(languages === undefined
    ? {}
    : {
        languages: Object.fromEntries(
          languages.map((one) => [nameOfLanguage(one), oneLanguageObject(one.payload)]),
        ),
      }),
});

const oneLanguageObject = ({
  ttlSeconds,
  data,
  replaceableDefault: _,
  ...payload
}: Omit<Payload, 'languages'>): JsonObject => ({
  ...payload,
  ...(ttlSeconds === undefined ? {} : { ttl: ttlSeconds }),
  ...(Object.keys(data).length === 0 ? {} : { data }),
});
