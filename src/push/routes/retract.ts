/** `POST …/notifications/<id>/retract`: takes back a message that was sent, as far as that goes. */

import { z } from 'zod';
import type { Sql } from '../../database/sql.ts';
import type { ApiRoute } from '../../http/handler.ts';
import { parseObject } from '../../http/json-body.ts';
import { LenientReader } from '../../http/lenient.ts';
import { jsonAnswer, platformId } from '../../http/openapi/parts.ts';
import { answerRefusal } from '../../http/result.ts';
import { isStorable } from '../../std/name-text.ts';
import type { AskedRetraction } from '../accept/retraction.ts';
import { promisesOf } from '../accept/retraction.ts';
import { listScopes } from '../sql/notifications/list-scopes.ts';
import type { CorrectedNotification } from '../sql/notifications/read-corrected.ts';
import type { CorrectionRouteParts, ReadDeed } from './correction-answer.ts';
import { correctionAnswer } from './correction-answer.ts';
import { JOBS_PATH, jobId, jobPath } from './job.ts';
import { idempotentBy, submission } from './push.ts';
import { readPlatformIds, unknownFieldFaults } from './push-request.ts';
import { JOB_ID } from './push-schemas.ts';

const MODES = ['remove', 'replace'] as const;
const FIELDS = ['mode', 'text', 'platformIds'] as const;
const TEXT_FIELDS = ['title', 'message'] as const;

const retractRequest = z
  .object({
    mode: z.enum(MODES).nullish().meta({
      description:
        '`remove`, the default: the app removes the message. `replace`: `text` takes its place, as a quiet correction does.',
    }),
    text: z
      .object({ title: z.string().optional(), message: z.string().optional() })
      .nullish()
      .meta({
        description:
          'Needed for `replace`. With `remove` it takes the place of the message in browsers, where a push must show something.',
      }),
    platformIds: z.array(platformId).nullish().meta({
      description:
        'Only there. What is still to be sent is cancelled on every platform. Absent: on each where the job went.',
    }),
  })
  .meta({ id: 'RetractRequest' });
const retracted = z
  .object({
    id: jobId.meta({ description: 'The id of the new push job.' }),
    retracts: jobId.meta({ description: 'The job that was sent first.' }),
    promise: z
      .array(
        z.object({
          platformId,
          how: z.enum(['background', 'data', 'replace', 'none']),
          promise: z.enum(['best-effort', 'replaced', 'none']),
        }),
      )
      .meta({
        description:
          'What happens on each platform. `best-effort`: the app removes it when the device lets it. `replaced`: another text takes its place. `none`: nothing is sent there.',
      }),
  })
  .meta({ id: 'Retraction' });

export const retractRoute = (parts: CorrectionRouteParts): ApiRoute => ({
  ...submission,
  operation: 'retractNotification',
  document: {
    summary: 'Take a push job back from the devices that it has reached',
    description: `What is still to be sent of the job is cancelled before the answer. A new, urgent job goes to those whom it has reached, as a correction does, with \`{"pushId", "retracts"}\`: \`retracts\` is the id of the job that was sent first.

No provider removes what is shown: the app does. On iOS a background push wakes it (two or three an hour, none after the reader has closed it for good); on Android a data message; in browsers nothing, but \`text\` if there is one. \`promise\` says so for each platform.

- \`409\`: as for \`correct\`; of a job that has begun nothing is sent any more (of one that has not, cancel it).
- \`410\`, \`403\`, \`503\`: as for \`correct\`.`,
    headers: idempotentBy('retract-1'),
    path: jobPath,
    body: { schema: retractRequest, example: { mode: 'remove' } },
    answers: {
      202: jsonAnswer(
        'Accepted.',
        retracted,
        {
          id: JOB_ID,
          retracts: JOB_ID,
          promise: [{ platformId: 3, how: 'background', promise: 'best-effort' }],
        },
        { Location: 'Where the new job is.' },
      ),
    },
    problems: [400, 404, 409, 410, 422],
  },
  path: `${JOBS_PATH}/:id/retract`,
  handle: async (request, caller) => {
    const read = readRetractRequest(request.body);
    const answer = await correctionAnswer(parts, request, caller, read, async (job, id) => ({
      id,
      retracts: job.first,
      promise: read.ok ? await promiseOf(parts.sql, caller.clientId, job, read.deed) : [],
    }));
    return 'ok' in answer ? answerRefusal(request, answer) : answer;
  },
});

/** Counts only apps that its client still has. */
async function promiseOf(
  sql: Sql,
  clientId: number,
  { scopes }: CorrectedNotification,
  asked: AskedRetraction,
) {
  const all = await listScopes(sql, clientId);
  const own = all.filter((one) =>
    scopes.some(({ appId, platformId }) => appId === one.appId && platformId === one.platformId),
  );
  return promisesOf(asked, own);
}

type ReadRetraction = ReadDeed & ({ readonly deed: AskedRetraction } | { readonly ok: false });

/** An empty body asks for nothing in particular. */
function readRetractRequest(body: Buffer): ReadRetraction {
  const parsed = parseObject(body.length === 0 ? Buffer.from('{}') : body);
  if (!parsed.ok) return parsed;
  const read = parsed.value;
  const reader = new LenientReader(read);
  const mode = reader.choice('mode', MODES);
  const platformIds = readPlatformIds(reader, read);
  const text = readText(reader, read['text']);
  const isMissing = read['text'] === undefined || read['text'] === null;
  if (mode === 'replace' && isMissing) {
    reader.fault('text', 'is missing: it takes the place of the message.');
  }
  reader.faults.push(...unknownFieldFaults(read, FIELDS, 'a retraction'));
  if (reader.faults.length > 0) return { ok: false, faults: reader.faults };
  return { ok: true, deed: { kind: 'retract', mode, text, platformIds }, payload: {} };
}

/** Null: there is none, or a fault in it. */
function readText(reader: LenientReader, given: unknown): AskedRetraction['text'] {
  if (given === undefined || given === null) return null;
  if (typeof given !== 'object' || Array.isArray(given)) {
    reader.fault('text', 'must be an object with title and message.');
    return null;
  }
  const object = given as Readonly<Record<string, unknown>>;
  const faults = unknownFieldFaults(object, TEXT_FIELDS, 'a text');
  reader.faults.push(...faults.map((fault) => ({ ...fault, path: `text.${fault.path}` })));
  const filled = TEXT_FIELDS.filter((name) => {
    const value = object[name];
    return value !== undefined && value !== null && value !== '';
  });
  const entries = filled.flatMap((name) => {
    const value = object[name];
    if (typeof value === 'string' && isStorable(value)) return [[name, value] as const];
    reader.fault(`text.${name}`, 'must be a string without NUL.');
    return [];
  });
  if (filled.length === 0) reader.fault('text', 'must have a title or a message.');
  return entries.length === 0 ? null : Object.fromEntries(entries);
}
