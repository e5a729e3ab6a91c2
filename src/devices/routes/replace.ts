/**
 * `POST …/devices/replace`: moves all tags of a device to its new token. The endpoint is Tagcast's
 * own, so parameters are checked as those of `list`.
 */

import { z } from 'zod';
import type { GivenAttribute, ResolvedAttributes } from '../../attributes/given-attributes.ts';
import type { Caller } from '../../domain/caller.ts';
import { takeAttributes } from '../../domain/device-attributes.ts';
import { deviceId } from '../../http/device-id-form.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/handler.ts';
import { id } from '../../http/id-form.ts';
import { json, readForm } from '../../http/json-body.ts';
import { jsonAnswer } from '../../http/openapi/parts.ts';
import { problem } from '../../http/problem.ts';
import { answerRefusal } from '../../http/result.ts';
import { NO_FACETS } from '../facets.ts';
import { NO_NUMBERS } from '../numbers.ts';
import { deviceRef } from '../operation.ts';
import type { ReplaceResult } from '../replace/replacements.ts';
import type { AppApi } from './app-api.ts';
import { attributeFields } from './attribute-forms.ts';
import { DEVICE } from './parameter-schemas.ts';
import type { ParameterName } from './parameters.ts';
import { headerNames, ignoredName, PARAMETER_BYTES_MAX, readGiven } from './parameters.ts';
import { invalidParameters, PLATFORM_FAULT } from './scope.ts';
import { refuseTooMany } from './too-many.ts';
import { unavailable } from './unavailable.ts';

/** Unknown fields are ignored and named, as on all of the App API. */
const replaceForm = z.looseObject({
  appId: id,
  platformId: id,
  deviceId,
  newDeviceId: deviceId.meta({
    description: 'The new token or installation id, in the form of `deviceId` of `reg`.',
  }),
  ...attributeFields,
  attributes: z.unknown().optional().meta({
    description:
      'As of `reg`: given ones are set, null clears one, absent ones stay. They count where the outcome is `moved` or `merged`. What is no object is ignored, and named.',
  }),
});

export const replaceRoute = (api: AppApi): Route => ({
  operation: 'replaceDevice',
  document: {
    summary: 'Move the tags of a device to its new token',
    description: `For an app to which the provider has given another token: all tags move to \`newDeviceId\`, in one transaction. The device counts as registered now. When neither device exists, the answer is \`404\`: call \`reg\` then. More than 64 KiB is \`413\`; the rate is that of \`reg\`.

Outcomes:

- \`moved\`: the new deviceId was unknown. The device continues under it.
- \`merged\`: both existed. The new device has the tags of both, and counts as reached by what the old one got; the old one is erased. Tags beyond \`TAGS_PER_DEVICE_MAX\` are lost, and \`Tagcast-Ignored\` says so.
- \`unchanged\`: only the new device exists, or both deviceIds are the same. So the request may be repeated after a lost answer.

Current SDKs for Android register an app by its installation's id (\`onRegistered\`) in place of a token, and from then on the token is dead. The update of the app is the moment to ask for this: \`deviceId\` the token that it has stored, \`newDeviceId\` the id. So the device keeps its tags, and gets each push once. \
An id is 22 characters without a colon, so the engine can tell ids from tokens and sends to each in its own way. An app that registers its id by \`reg\` or \`set\` instead is a new device with the tags that it names; the old one is erased when the provider calls its token dead.`,
    body: { schema: replaceForm, example: { ...DEVICE, newDeviceId: 'cd'.repeat(32) } },
    answers: {
      200: jsonAnswer(
        'Done; it may be repeated.',
        z.object({ outcome: z.enum(['moved', 'merged', 'unchanged']) }),
        { outcome: 'moved' },
        {
          'Tagcast-Ignored':
            'Unknown fields, attributes that were ignored, and `tagId` when tags were beyond the limit.',
        },
      ),
    },
    problems: [400, 404],
  },
  method: 'POST',
  path: '/push-api/v3/:client/devices/replace',
  api: 'app',
  rate: 'registrations',
  bodyBytesMax: PARAMETER_BYTES_MAX,
  handle: (request, caller) => replace(api, request, caller),
});

async function replace(api: AppApi, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  if (request.params['client'] !== caller.clientSlug) return foreign(request);
  const tooMany = refuseTooMany(api, request, caller);
  if (tooMany !== null) return tooMany;
  const read = readForm(request.body, replaceForm);
  if (!read.ok) return answerRefusal(request, read);
  const { appId, platformId, deviceId, newDeviceId, attributes: inner, ...rest } = read.value;
  const { attributes: facts, others } = takeAttributes(rest);
  if (appId !== caller.appId) return foreign(request);
  if (!(await api.catalogue.hasPlatform(caller.clientId, appId, platformId))) {
    return answerRefusal(request, invalidParameters([PLATFORM_FAULT]));
  }
  const faults: ParameterName[] = [];
  const { given, surplusNames, attributes } = readGiven({ attributes: inner }, facts, faults);
  const resolved = await resolve(api, caller.clientId, appId, given);
  if (resolved === null) return unavailable(request, NOT_COMMITTED);
  const { facets, numbers, ignored } = resolved;
  const result = await api.replacements.submit({
    device: deviceRef(appId, platformId, deviceId),
    by: deviceRef(appId, platformId, newDeviceId),
    attributes,
    facets: facets.size === 0 ? NO_FACETS : facets,
    numbers: numbers.size === 0 ? NO_NUMBERS : numbers,
  });
  const names = [...faults, ...headerNames(ignored.map(ignoredName)), ...surplusNames];
  return answer(api, request, result, [...names, ...headerNames(others)]);
}

const NOT_COMMITTED = 'The replacement could not be committed. Try again.';

const NOTHING: ResolvedAttributes = { facets: NO_FACETS, numbers: NO_NUMBERS, ignored: [] };

/** Null: they cannot be looked up now, and the app has asked for more than its version. */
async function resolve(
  { attributes }: AppApi,
  clientId: number,
  appId: number,
  given: readonly GivenAttribute[],
): Promise<ResolvedAttributes | null> {
  if (given.length === 0) return NOTHING;
  const setter = { clientId, appId, by: 'app' } as const;
  try {
    return attributes.resolveAtHand(setter, given) ?? (await attributes.resolve(setter, given));
  } catch {
    return given.every(({ isQuiet }) => isQuiet) ? NOTHING : null;
  }
}

const foreign = (request: HttpRequest): HttpResponse =>
  problem(request.requestId, 403, 'This credential belongs to another client or app.');

function answer(
  api: AppApi,
  request: HttpRequest,
  result: ReplaceResult,
  unknownNames: readonly string[],
): HttpResponse {
  switch (result.outcome) {
    case 'moved':
    case 'merged':
    case 'unchanged': {
      api.onResult('replace', 'committed');
      const response = json({ outcome: result.outcome });
      const ignored = [...(result.isTagsLimited ? ['tagId'] : []), ...unknownNames];
      if (ignored.length === 0) return response;
      const headers = { ...response.headers, 'Tagcast-Ignored': ignored.join(', ') };
      return { ...response, headers };
    }
    case 'unknown':
      return problem(request.requestId, 404, 'The app has neither of these devices.');
    case 'overloaded':
      api.onResult('replace', 'overloaded');
      return unavailable(request, 'Too many replacements are waiting. Try again.');
    case 'unavailable':
      return unavailable(request, NOT_COMMITTED);
  }
}
