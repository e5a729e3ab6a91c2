/**
 * `POST …/notifications/preview` and `…/estimate`: what a push would be, and for how many. Nothing
 * is sent.
 */

import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { invalid, json } from '../../http/json-body.ts';
import { problem } from '../../http/problem.ts';
import { tooManyTemplates } from '../../http/too-many-templates.ts';
import { tooMuchCounted } from '../../http/too-much-counted.ts';
import type { Accept } from '../accept/accept.ts';
import type { Push } from '../accept/push.ts';
import { warningsOf } from '../accept/warnings.ts';
import { limitPush } from './limit-push.ts';
import { planOf } from './plan-in-words.ts';
import { endFaults, shownWarnings } from './push.ts';
import type { PushRequest } from './push-request.ts';
import { readAudienceRequest, readPushRequest } from './push-request.ts';
import type { Counted } from './renderings.ts';
import { previewOf } from './renderings.ts';

/**
 * Of each (app, platform), to count its audience by them: at most 131,072 devices, which the
 * database reads in some tenths of a second.
 * @limit device groups of each (app, platform) that an approximate estimate looks at → it concludes
 * from them
 */
const SAMPLED_GROUPS_MAX = 16;

/** The message of each (app, platform), its size and its audience. */
export const previewPush = (
  accept: Accept,
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> =>
  ask(accept, sql, { request, caller, read: readPushRequest(request.body) }, (push, counted) =>
    json({
      ...previewOf(push, counted),
      unknownTags: counted.unknownTags,
      ...shownWarnings(warningsOf(counted.audience, counted.payload, counted.templated)),
    }),
  );

/** The audience, and how it is found. */
export const estimateAudience = (
  accept: Accept,
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> => {
  const read = readAudienceRequest(request.body);
  return ask(accept, sql, { request, caller, read }, (push, counted) => {
    const { audience, unknownTags } = counted;
    const isApproximate = read.ok && read.isApproximate;
    const plan = planOf(push, counted, isApproximate);
    return json({ audience, plan, unknownTags, ...(isApproximate ? { approximate: true } : {}) });
  });
};

interface Question {
  readonly request: HttpRequest;
  readonly caller: Caller;
  readonly read: PushRequest;
}

async function ask(
  accept: Accept,
  sql: Sql,
  { request, caller, read }: Question,
  answer: (push: Push, counted: Counted) => HttpResponse,
): Promise<HttpResponse> {
  if (!read.ok) return invalid(request, read.faults);
  const limited = await limitPush(sql, caller, read.push);
  if (!limited.ok) return problem(request.requestId, 403, limited.why);
  const { push } = limited;
  const counted = await accept.dryRun(
    push,
    caller.clientId,
    endFaults(push.expiresAtMs),
    read.isApproximate ? SAMPLED_GROUPS_MAX : undefined,
  );
  switch (counted.kind) {
    case 'invalid':
      return invalid(request, counted.faults);
    case 'busy':
      return tooMuchCounted(request);
    case 'too-many-templates':
      return tooManyTemplates(request);
    case 'counted':
      return answer(push, counted);
  }
}
