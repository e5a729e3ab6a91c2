/** `POST /push-api/push`, and the same in v3: submits a notification to tags. */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { json } from '../../http/json-body.ts';
import { prefersJson } from '../../http/negotiation.ts';
import { jsonAnswer, scopeCount, state } from '../../http/openapi/parts.ts';
import type { Fault } from '../../http/problem.ts';
import type { Refusal } from '../../http/result.ts';
import { answerRefusal, refuse, refused } from '../../http/result.ts';
import { counted, format } from '../../std/counted.ts';
import type { Accept, DryRun } from '../accept/accept.ts';
import type { Acceptance } from '../accept/acceptance.ts';
import type { Publisher } from '../accept/new-notification.ts';
import type { Push, PushFault } from '../accept/push.ts';
import { warningsOf } from '../accept/warnings.ts';
import { withWaves } from '../accept/with-waves.ts';
import { withheldObject } from './counts.ts';
import { expandPush } from './expand-push.ts';
import { holdToPolicies } from './hold-to-policies.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';
import { JOBS_PATH, jobId } from './job.ts';
import { limitPush } from './limit-push.ts';
import { readPushRequest } from './push-request.ts';
import {
  JOB_ID,
  PUSH,
  pushRequest,
  unknownTags,
  unknownValues,
  warnings,
  withheld,
  withoutValue,
} from './push-schemas.ts';

/**
 * internals/interface.md, "Notification API".
 * @publisherLimit characters of an `Idempotency-Key`, which is kept for 24 h → `400`; later the key
 * is free again
 */
const IDEMPOTENCY_KEY_LENGTH_MAX = 255;

const pushId = jobId.meta({ description: 'The id of the push job, a UUIDv7.' });
const acceptedPush = z
  .object({ id: pushId, state, unknownTags, unknownValues, warnings })
  .meta({ id: 'AcceptedPush' });
const dryRun = z
  .object({
    dryRun: z.literal(true),
    audience: z.array(scopeCount),
    unknownTags,
    unknownValues,
    withoutValue,
    ...withheld,
    warnings,
  })
  .meta({ id: 'DryRun' });

const ACCEPTED = { id: JOB_ID, state: 'QUEUED', unknownTags: [] };
const DRY_RUN = {
  dryRun: true,
  audience: [{ appId: 1, platformId: 3, count: 1 }],
  unknownTags: [],
};
/** `example`: a key of the operation's own. */
export const idempotentBy = (example: string) => ({
  'Idempotency-Key': {
    description:
      'A repeated request with the same key and body, byte for byte, within 24 hours is answered with the first job, and sends nothing again. With another body it is `422`; an empty one is `400`. The super user (also after a rotation), each further key and each account have keys of their own.',
    schema: z.string().min(1).max(IDEMPOTENCY_KEY_LENGTH_MAX),
    example,
  },
});
/** How the routes of v3 answer. */
export const ACCEPTED_ANSWERS = {
  200: jsonAnswer('The count of a dry run.', dryRun, DRY_RUN),
  202: jsonAnswer('Accepted.', acceptedPush, ACCEPTED, { Location: 'Where the job is.' }),
};
/** The part of the document that both routes share. */
const submits = {
  description: `Every device of the audience gets it once. What is accepted survives a crash.

A wrong name never widens the audience:

- An unknown or expired target tag addresses nobody, and is named in \`unknownTags\`.
- An unknown or expired filter tag leaves nobody, and is named there too.
- An unknown exclude tag and an unknown app are \`400\`. An expired tag still excludes.
- When no device is left, the push is accepted, and \`FINISHED\` with 0.
- Any other field is a \`400\` that names the nearest known one: an ignored \`excludeTags\` would widen the audience, an ignored \`dry_run\` would send.

**Languages.** A text (\`title\`, \`message\` or \`body\`, \`url\`, \`image\`, \`sound\`) may be a map of languages. \`languages\` of the payload then gives the language of each tag, by its \`sourceId\`, and as \`default\` that of devices which have none of these tags: \`{"languages":{"lang-de":"de","default":"en"},"title":{"en":"Goal!","de":"Tor!"}}\`. \
Each device gets the push once, in the language of the first of the tags that it has when it is sent to, in the order of \`languages\` (JSON has names that are whole numbers first); also when it is tried again. A text that is missing in a language stands in the default one, where each text must be. \
Where no text is a map, \`languages\` is data. At most 32 tags. A name that is no tag of the client is \`400\`: its devices would get the default language, and nobody would notice. A tag that has expired, or is deleted later, is held by nobody. Each language is measured. The counts of a job are those of all languages together. \
\`"languages":"@language"\` takes the language from the devices' attribute instead. The maps then have language tags and \`default\`: \`{"languages":"@language","title":{"default":"Goal!","de":"Tor!","de-CH":"Goal, gäll!"}}\`. Each text is chosen by the longest prefix of subtags of the device's language that it has, else \`default\`; devices without a language get \`default\`, too. At most 32 languages. A name that is no language tag is \`400\` with its path. \
Send in languages of tags when every node runs a version that knows them: others send the default one to all. One by \`@language\` is \`503\` until then.`,
  headers: idempotentBy('goal-1'),
  body: { schema: pushRequest, example: PUSH },
  problems: [400, 422],
} as const;
export const submission = {
  api: 'notification',
  needs: 'send',
  rate: 'pushes',
  method: 'POST',
  bodyBytesMax: BODY_BYTES_MAX,
} as const;

export const pushRoute = (accept: Accept, sql: Sql): ApiRoute => ({
  ...submission,
  operation: 'push',
  document: {
    summary: 'Submit a push to tags',
    ...submits,
    answers: {
      200: {
        description:
          'The id of the push job as text. JSON if `Accept` prefers `application/json` to `text/plain` (a tie, `*/*` or no header means text), and for a dry run in any case.',
        content: {
          'text/plain': { schema: pushId, example: JOB_ID },
          'application/json': { schema: z.union([acceptedPush, dryRun]), example: ACCEPTED },
        },
      },
    },
  },
  path: '/push-api/push',
  handle: (request, caller) => push(accept, sql, request, caller, asIsPreferred),
});

/** In v3: what is accepted is answered 202, with where it is to be found. */
export const createRoute = (accept: Accept, sql: Sql): ApiRoute => ({
  ...submission,
  operation: 'createNotification',
  document: {
    summary: 'Submit a push job',
    ...submits,
    answers: ACCEPTED_ANSWERS,
  },
  path: JOBS_PATH,
  handle: (request, caller) => push(accept, sql, request, caller, confirmWithPlace(caller)),
});

/** 202, and where it is to be found. */
export const confirmWithPlace =
  (caller: Caller): Confirm =>
  (_request, accepted) =>
    acceptedAt(caller, accepted.id, shown(accepted));

/** 202 with the path of a job. */
export function acceptedAt(caller: Caller, id: string, body: object): HttpResponse {
  const answer = json(body);
  const location = `${JOBS_PATH.replace(':client', caller.clientSlug)}/${id}`;
  return { ...answer, status: 202, headers: { ...answer.headers, Location: location } };
}

type Accepted = Extract<Acceptance, { readonly kind: 'accepted' }>;
type Confirm = (request: HttpRequest, accepted: Accepted) => HttpResponse;

async function push(
  accept: Accept,
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
  confirm: Confirm,
): Promise<HttpResponse> {
  const submit: Submit = async (push, publisher, pastFaults) =>
    acceptanceAnswer(request, await accept.submit(push, publisher, pastFaults), confirm);
  return await submitted(accept, sql, request, caller, submit);
}

/** Hands over a push that was read, and that its caller may submit. */
type Submit = (
  push: Push,
  publisher: Publisher,
  pastFaults: readonly PushFault[],
) => Promise<HttpResponse | Refusal>;

/** The answer to a request with a push: a dry run's, a refusal, or what `submit` answers. */
export async function submitted(
  accept: Accept,
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
  submit: Submit,
): Promise<HttpResponse> {
  const answer = await answerOf(accept, sql, request, caller, submit);
  return 'ok' in answer ? answerRefusal(request, answer) : answer;
}

async function answerOf(
  accept: Accept,
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
  submit: Submit,
): Promise<HttpResponse | Refusal> {
  const read = readPushRequest(request.body);
  const keyFaults = idempotencyKeyFaults(request);
  if (!read.ok) return refuse.invalid([...keyFaults, ...read.faults]);
  if (keyFaults.length > 0) return refuse.invalid(keyFaults);
  const { push: expanded, faults } = await expandPush(sql, caller, read.push);
  const held = await holdToPolicies(sql, caller, expanded);
  if (!held.ok) return held;
  const limited = await limitPush(sql, caller, held.push);
  if (!limited.ok) return refused(403, limited.why);
  const timed = await withWaves(sql, caller.clientId, limited.push);
  const pastFaults = [
    ...endFaults(read.push.expiresAtMs),
    ...faults,
    ...held.faults,
    ...timed.faults,
  ];
  const devicesMax = caller.key?.maxDevices ?? null;
  if (read.isDryRun || devicesMax !== null) {
    const dryRun = await accept.dryRun(timed.push, caller.clientId, pastFaults);
    if (read.isDryRun || dryRun.kind !== 'counted') return dryRunAnswer(dryRun);
    const devices = dryRun.audience.reduce((sum, { count }) => sum + count, 0);
    if (devicesMax !== null && devices > devicesMax) return tooManyDevices(devices, devicesMax);
  }
  const bodyHash = createHash('sha256').update(request.body).digest();
  return await submit(timed.push, publisherIn(request, caller, bodyHash), pastFaults);
}

/** 403. `devicesMax`: for how many the caller's key is. */
export const tooManyDevices = (devices: number, devicesMax: number): Refusal =>
  refused(
    403,
    `This push is for ${counted(devices, 'device')}, and this key for ${format(devicesMax)} at most.`,
  );

/** `bodyHash`: of what a repeated request must have in common with the first. */
export function publisherIn(request: HttpRequest, caller: Caller, bodyHash: Buffer): Publisher {
  const key = request.header('idempotency-key');
  return {
    requestId: request.requestId,
    traceparent: request.header('traceparent'),
    clientId: caller.clientId,
    userName: caller.userName,
    idempotency: key === '' ? null : { key: idempotencyKeyOf(caller, key), bodyHash },
    limits: caller.limits ?? {},
  };
}

/** An empty key is a mistake: without a key, a repeated request would send again. */
export function idempotencyKeyFaults(request: HttpRequest): readonly Fault[] {
  const { length } = request.header('idempotency-key');
  const isFit = length > 0 && length <= IDEMPOTENCY_KEY_LENGTH_MAX;
  if (isFit || !request.hasHeader('idempotency-key')) return [];
  const message = `must have 1–${IDEMPOTENCY_KEY_LENGTH_MAX} characters.`;
  return [{ path: 'Idempotency-Key', message }];
}

/** Faults in the times alone. */
export const endFaults = (expiresAtMs: number | null): readonly Fault[] =>
  expiresAtMs !== null && expiresAtMs <= Date.now()
    ? [{ path: 'expiresAt', message: 'must not be in the past.' }]
    : [];

/** The id as text, for the callers of the public service. */
function asIsPreferred(request: HttpRequest, accepted: Accepted): HttpResponse {
  if (prefersJson(request.header('accept'))) return json(shown(accepted));
  return { status: 200, headers: { 'Content-Type': 'text/plain' }, body: accepted.id };
}

const shown = ({ id, state, warnings, ...accepted }: Accepted): object => ({
  id,
  state,
  ...shownUnknown(accepted),
  ...shownWarnings(warnings),
});

/** Tags, and of a push with tests values; absent: it has no tests. */
export const shownUnknown = ({
  unknownTags,
  unknownValues,
}: Pick<Accepted, 'unknownTags' | 'unknownValues'>) => ({
  unknownTags,
  ...(unknownValues === undefined ? {} : { unknownValues }),
});

/** Absent: none. */
export const shownWarnings = (warnings: readonly string[]) =>
  warnings.length === 0 ? {} : { warnings };

export function acceptanceAnswer(
  request: HttpRequest,
  acceptance: Acceptance,
  confirm: Confirm,
): HttpResponse | Refusal {
  switch (acceptance.kind) {
    case 'invalid':
      return refuse.invalid(acceptance.faults);
    case 'over-limit':
      return refuse.overLimit(acceptance.over);
    case 'key-reused':
      return refused(422, 'This Idempotency-Key was used before with another body.');
    case 'too-many-templates':
      return refuse.tooManyTemplates;
    case 'nodes-behind':
      return nodesBehind(acceptance.nodes);
    case 'accepted':
      return { ...confirm(request, acceptance), notificationId: acceptance.id };
  }
}

const nodesBehind = (nodes: string): Refusal =>
  refused(
    503,
    `Nodes of an earlier version are at work (${nodes}), which do not know all that it asks. Try again when they have ended.`,
    { headers: { 'Retry-After': '10' } },
  );

function dryRunAnswer(dryRun: DryRun): HttpResponse | Refusal {
  if (dryRun.kind === 'invalid') return refuse.invalid(dryRun.faults);
  if (dryRun.kind === 'busy') return refuse.tooMuchCounted;
  if (dryRun.kind === 'too-many-templates') return refuse.tooManyTemplates;
  const { audience, withoutValue, payload, templated } = dryRun;
  const warnings = shownWarnings(warningsOf(audience, payload, templated));
  const unknown = shownUnknown(dryRun);
  const held = withheldObject(dryRun.withheld ?? 0);
  return json({ dryRun: true, audience, ...unknown, withoutValue, ...held, ...warnings });
}
