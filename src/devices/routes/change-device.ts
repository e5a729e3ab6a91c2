/**
 * The common part of `reg`, `ureg` and `set`: parameters are never an error; `OK` means durable.
 */

import { z } from 'zod';
import type { ResolvedAttributes } from '../../attributes/given-attributes.ts';
import type { ResolvedTags, Snapshot } from '../../catalogue/snapshot.ts';
import { isSubscribable } from '../../catalogue/snapshot.ts';
import type { Caller } from '../../domain/caller.ts';
import { isConnected } from '../../domain/tag.ts';
import { compressionOf } from '../../http/compressed-body.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import type { Operation as OpenApiOperation } from '../../http/openapi/operation.ts';
import { problem } from '../../http/problem.ts';
import type { Operation, RegistrationResult } from '../operation.ts';
import { deviceRef } from '../operation.ts';
import type { AppApi, AppApiEndpoint } from './app-api.ts';
import { changeParameters, DEVICE } from './parameter-schemas.ts';
import type { ParameterName, Parameters } from './parameters.ts';
import { headerNames, ignoredName, PARAMETER_NAMES, readParameters } from './parameters.ts';
import { refuseTooMany } from './too-many.ts';
import { unavailable } from './unavailable.ts';

export const deviceChange = (
  summary: string,
  description: string,
  example: object,
): OpenApiOperation => ({
  summary,
  description,
  body: { schema: changeParameters, example: { ...DEVICE, ...example } },
  answers: {
    200: {
      description: 'Durable, or ignored: parameters are never an error.',
      content: { 'text/plain': { schema: z.literal('OK'), example: 'OK' } },
      headers: { 'Tagcast-Ignored': 'The parameters that were ignored, unknown ones included.' },
    },
  },
  problems: [429],
});

/** Housekeeping or the operator makes room for devices, but not within seconds. */
const LIMIT_RETRY_AFTER_SECONDS = '60';
/** Not OK, for nothing is durable; nor 403, which is about who asks: the device may come again. */
const TOO_MANY_DEVICES =
  'The app has as many devices as it may: its limit DEVICES_PER_APP_MAX, or the limit devices of its client. The operator of this service can change both.';

/**
 * Handles a request of `endpoint` from an API user. This is the hot path: while the catalogue is
 * recent and knows everything that the request names, the request waits for nothing but the commit.
 */
export function changeDevice(
  api: AppApi,
  endpoint: AppApiEndpoint,
  request: HttpRequest,
  caller: Caller,
): HttpResponse | Promise<HttpResponse> {
  const tooMany = refuseTooMany(api, request, caller);
  if (tooMany !== null) return tooMany;
  const parameters = readParameters(request.body);
  if (parameters === null) {
    return answerOk(api, endpoint, { unknownNames: whyUnread(request) }, ['body']);
  }
  const recent = api.catalogue.remembered(caller.clientId);
  const made = recent === null ? null : plan(endpoint, parameters, caller, recent);
  if (made === null || made.missed) return planAnew(api, endpoint, request, caller, parameters);
  return resolve(api, endpoint, request, caller, parameters, made);
}

/** The header that makes a body one that cannot be read. */
const whyUnread = (request: HttpRequest): readonly string[] =>
  compressionOf(request.header('content-encoding'), request.body) === null
    ? []
    : ['content-encoding'];

interface Plan {
  /** Null: there is nothing to do. */
  readonly operation: Operation | null;
  /** A name may occur several times. */
  readonly ignored: readonly ParameterName[];
  readonly unknownNames: readonly string[];
  /** Written as the header has them. */
  readonly ignoredAttributes?: readonly string[];
  /** Something was not found; only a fresh snapshot can say for sure. */
  readonly missed: boolean;
}

async function planAnew(
  api: AppApi,
  endpoint: AppApiEndpoint,
  request: HttpRequest,
  caller: Caller,
  parameters: Parameters,
): Promise<HttpResponse> {
  const fresh = await api.catalogue.fresh(caller.clientId);
  const made = plan(endpoint, parameters, caller, fresh);
  return resolve(api, endpoint, request, caller, parameters, made);
}

/** Attributes that the node remembers cost no wait, as tags do. Most requests have none. */
function resolve(
  api: AppApi,
  endpoint: AppApiEndpoint,
  request: HttpRequest,
  { clientId }: Caller,
  { given, surplusNames }: Parameters,
  made: Plan,
): HttpResponse | Promise<HttpResponse> {
  const { operation } = made;
  if (given.length === 0 || operation === null || operation.kind === 'ureg') {
    return carryOut(api, endpoint, request, made);
  }
  const setter = { clientId, appId: operation.device.appId, by: 'app' } as const;
  const go = ({ facets, numbers, ignored }: ResolvedAttributes) => {
    const { kind, device, tagIds, attributes } = operation;
    // Field by field: two spreads cost a tenth of the request.
    const known = facets.size === 0 ? operation : { kind, device, tagIds, attributes, facets };
    return carryOut(api, endpoint, request, {
      operation: numbers.size === 0 ? known : { ...known, numbers },
      ignored: made.ignored,
      unknownNames: made.unknownNames,
      ignoredAttributes:
        ignored.length === 0
          ? surplusNames
          : [...headerNames(ignored.map(ignoredName)), ...surplusNames],
      missed: made.missed,
    });
  };
  const atHand = api.attributes.resolveAtHand(setter, given);
  if (atHand !== null) return go(atHand);
  return api.attributes.resolve(setter, given).then(go, () => {
    if (given.every(({ isQuiet }) => isQuiet)) return carryOut(api, endpoint, request, made);
    api.onResult(endpoint, 'unavailable');
    return unavailable(request, NOT_COMMITTED);
  });
}

function carryOut(
  api: AppApi,
  endpoint: AppApiEndpoint,
  request: HttpRequest,
  made: Plan,
): HttpResponse | Promise<HttpResponse> {
  if (made.operation === null) return answerOk(api, endpoint, made, made.ignored);
  return api.registration.submit(made.operation).then((result) => {
    api.onResult(endpoint, result);
    return answer(api, endpoint, request, made, result);
  });
}

function plan(
  endpoint: AppApiEndpoint,
  parameters: Parameters,
  caller: Caller,
  snapshot: Snapshot,
): Plan {
  const { appId, platformId, deviceId, unknownNames } = parameters;
  const nothing = { operation: null, unknownNames };
  const ignored = [...parameters.faults];
  if (appId === null || appId !== caller.appId) ignored.push('appId');
  if (deviceId === null) ignored.push('deviceId');
  if (platformId === null) ignored.push('platformId');
  if (appId === null || platformId === null || deviceId === null || ignored.includes('appId')) {
    return { ...nothing, ignored, missed: false };
  }
  if (parameters.tooManyTags) return { ...nothing, ignored, missed: false };
  if (!snapshot.hasPlatform(appId, platformId)) {
    ignored.push('platformId');
    return { ...nothing, ignored, missed: true };
  }
  const device = deviceRef(appId, platformId, deviceId);
  switch (endpoint) {
    case 'reg':
    case 'set':
      return planSubscribing(endpoint, device, parameters, snapshot, ignored);
    case 'ureg':
      return planUnsubscribing(device, parameters, snapshot, ignored);
  }
}

function planSubscribing(
  kind: 'reg' | 'set',
  device: Operation['device'],
  { tagNames, tagsGiven, attributes, unknownNames }: Parameters,
  snapshot: Snapshot,
  ignored: ParameterName[],
): Plan {
  if (!tagsGiven) ignored.push('tagId');
  const resolved = snapshot.resolve(tagNames);
  let missed = nameUnknown(resolved, ignored);
  const nowMs = Date.now();
  const tagIds: number[] = [];
  for (const tag of resolved.tags) {
    // Expired tags are left to the transaction, which knows the database's clock.
    if (isConnected(tag, device.appId)) tagIds.push(tag.id);
    if (isSubscribable(tag, device.appId, nowMs)) continue;
    missed = true;
    ignored.push(tagNames.ids.includes(tag.id) ? 'tagId' : 'tagSourceId');
  }
  // "When no tags are given the request is ignored"; a `reg` still shows that the device exists.
  if (kind === 'set' && tagIds.length === 0)
    return { operation: null, ignored, unknownNames, missed };
  const operation = { kind, device, tagIds, attributes };
  return { operation, ignored, unknownNames, missed };
}

/** An opt-out must hold: finds every tag of the client, also expired or disconnected ones. */
function planUnsubscribing(
  device: Operation['device'],
  { tagNames, tagsGiven, unknownNames, meansTags }: Parameters,
  snapshot: Snapshot,
  ignored: ParameterName[],
): Plan {
  if (!tagsGiven) {
    // With `tagIds` for `tagId`, the caller meant some tags: the device must not lose all of them.
    const everything = meansTags ? null : ({ kind: 'ureg', device, tagIds: 'all' } as const);
    return { operation: everything, ignored, unknownNames, missed: false };
  }
  const resolved = snapshot.resolve(tagNames);
  const missed = nameUnknown(resolved, ignored);
  const tagIds = resolved.tags.map((tag) => tag.id);
  const operation = tagIds.length === 0 ? null : ({ kind: 'ureg', device, tagIds } as const);
  return { operation, ignored, unknownNames, missed };
}

function nameUnknown(
  { unknownIds, unknownSourceIds }: ResolvedTags,
  ignored: ParameterName[],
): boolean {
  if (unknownIds.length > 0) ignored.push('tagId');
  if (unknownSourceIds.length > 0) ignored.push('tagSourceId');
  return unknownIds.length + unknownSourceIds.length > 0;
}

function answer(
  api: AppApi,
  endpoint: AppApiEndpoint,
  request: HttpRequest,
  made: Plan,
  result: RegistrationResult,
): HttpResponse {
  const { ignored } = made;
  switch (result) {
    case 'committed':
      return answerOk(api, endpoint, made, ignored);
    case 'tags-limited':
      return answerOk(api, endpoint, made, [...ignored, 'tagId']);
    case 'refused':
      return answerOk(api, endpoint, made, [...ignored, 'deviceId']);
    case 'limit':
      return {
        ...problem(request.requestId, 429, TOO_MANY_DEVICES, {
          headers: { 'Retry-After': LIMIT_RETRY_AFTER_SECONDS },
        }),
        beyondLimit: 'devices',
      };
    case 'overloaded':
      return unavailable(request, 'Too many registrations are waiting. Try again.');
    case 'unavailable':
      return unavailable(request, NOT_COMMITTED);
  }
}

const NOT_COMMITTED = 'The registration could not be committed. Try again.';

type NamedAsIgnored = Pick<Plan, 'unknownNames' | 'ignoredAttributes'>;

function answerOk(
  api: AppApi,
  endpoint: AppApiEndpoint,
  { unknownNames, ignoredAttributes = NONE }: NamedAsIgnored,
  ignored: readonly ParameterName[],
): HttpResponse {
  if (ignored.length + unknownNames.length + ignoredAttributes.length === 0) return OK;
  const names = PARAMETER_NAMES.filter((name) => ignored.includes(name));
  for (const name of names) api.onIgnored(endpoint, name);
  for (const _name of ignoredAttributes) api.onIgnored(endpoint, 'attributes');
  for (const _name of unknownNames) api.onIgnored(endpoint, 'unknown');
  const named = [...names, ...ignoredAttributes, ...unknownNames].join(', ');
  return { ...OK, headers: { ...OK.headers, 'Tagcast-Ignored': named } };
}

const NONE: readonly string[] = [];

const OK: HttpResponse = { status: 200, headers: { 'Content-Type': 'text/plain' }, body: 'OK' };
