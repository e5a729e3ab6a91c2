/** The App API on a store, without a server: what its tests speak to. */

import { pino } from 'pino';
import { GivenAttributes } from '../../src/attributes/given-attributes.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { TagTrees } from '../../src/catalogue/tag-tree.ts';
import type { Store } from '../../src/database/store.ts';
import { OwnDevices } from '../../src/devices/own-devices.ts';
import { DeviceTags } from '../../src/devices/register/device-tags.ts';
import { Registration } from '../../src/devices/register/registration.ts';
import {
  REPLACEMENT_LANES,
  REPLACEMENT_LANES_EMBEDDED,
  Replacements,
} from '../../src/devices/replace/replacements.ts';
import type { AppApi } from '../../src/devices/routes/app-api.ts';
import { appApiRoutes } from '../../src/devices/routes/routes.ts';
import type { Caller } from '../../src/domain/caller.ts';
import type { HttpRequest, HttpResponse, Route } from '../../src/http/handler.ts';
import { TokenBuckets } from '../../src/std/token-buckets.ts';
import type { IndexFeed } from '../../src/tag-index/tag-index.ts';
import { NO_FEED } from '../../src/tag-index/tag-index.ts';
import { checked } from './document-check.ts';

export const silent = pino({ level: 'silent' });

export interface Limits {
  readonly inFlightMax?: number;
  readonly devicesPerAppMax?: number;
  readonly tagsPerDeviceMax?: number;
  readonly perSecond?: number;
}

export interface AppApiUnderTest extends AppApi {
  /** The calls of `onIgnored`, as `reg deviceId`. */
  readonly ignored: string[];
  /** The calls of `onResult`, as `reg committed`. */
  readonly results: string[];
  /** Why new values of attributes found no room. */
  readonly noRoom: string[];
  /** Calls an endpoint as `caller`; a body that is no string or Buffer is sent as JSON. */
  call(endpoint: string, caller: Caller, body: unknown): Promise<HttpResponse>;
  /** Calls the route with this path. */
  at(
    path: string,
    caller: Caller,
    params: Readonly<Record<string, string>>,
    body: unknown,
  ): Promise<HttpResponse>;
  get(path: string, caller: Caller, request: Partial<HttpRequest>): Promise<HttpResponse>;
}

/** One node's Registration on the store. */
export const makeRegistration = (
  store: Store,
  limits: Limits = {},
  feed: IndexFeed = NO_FEED,
): Registration =>
  new Registration({
    store,
    feed,
    log: silent,
    inFlightMax: limits.inFlightMax ?? 10_000,
    devicesPerAppMax: limits.devicesPerAppMax ?? 1_000_000,
    tagsPerDeviceMax: limits.tagsPerDeviceMax ?? 5_000,
    freshMs: 86_400_000,
  });

export const makeReplacements = (
  store: Store,
  limits: Limits = {},
  feed: IndexFeed = NO_FEED,
): Replacements =>
  new Replacements({
    sql: store.sql,
    feed,
    log: silent,
    lanes: store.address.kind === 'embedded' ? REPLACEMENT_LANES_EMBEDDED : REPLACEMENT_LANES,
    tagsPerDeviceMax: limits.tagsPerDeviceMax ?? 5_000,
  });

export function makeAppApi(store: Store, limits: Limits = {}): AppApiUnderTest {
  const ignored: string[] = [];
  const results: string[] = [];
  const noRoom: string[] = [];
  const api: AppApi = {
    catalogue: new Catalogue(store.sql),
    attributes: new GivenAttributes({ sql: store.sql, onNoRoom: (why) => noRoom.push(why) }),
    tagTrees: new TagTrees(store.sql),
    deviceTags: new DeviceTags(store.sql),
    ownDevices: new OwnDevices({ sql: store.sql, feed: NO_FEED }),
    registration: makeRegistration(store, limits),
    replacements: makeReplacements(store, limits),
    rates: new TokenBuckets({ perSecond: limits.perSecond ?? 1_000_000, bucketsMax: 100 }),
    tagsPerDeviceMax: limits.tagsPerDeviceMax ?? 5_000,
    onIgnored: (endpoint, name) => ignored.push(`${endpoint} ${name}`),
    onResult: (endpoint, result) => results.push(`${endpoint} ${result}`),
  };
  const routes = checked(appApiRoutes(api));
  return {
    ...api,
    ignored,
    results,
    noRoom,
    call: (endpoint, caller, body) =>
      handle(routes, `/push-api/${endpoint}`, caller, makeRequest({ body: bytesOf(body) })),
    at: (path, caller, params, body) =>
      handle(routes, path, caller, makeRequest({ params, body: bytesOf(body) })),
    get: (path, caller, request) => handle(routes, path, caller, makeRequest(request)),
  };
}

/** Calls the route with this path. */
export async function handle(
  routes: readonly Route[],
  path: string,
  caller: Caller,
  request: HttpRequest,
): Promise<HttpResponse> {
  const route = routes.find((candidate) => candidate.path === path);
  if (route === undefined) throw new Error(`no route ${path}`);
  if (route.api === 'open' || route.api === 'console' || route.api === 'operator') {
    throw new Error(`${path} has no caller`);
  }
  return await route.handle(request, caller);
}

export const makeRequest = (request: Partial<HttpRequest>): HttpRequest => ({
  method: 'POST',
  path: '/',
  params: {},
  query: new URLSearchParams(),
  header: () => '',
  hasHeader: () => false,
  body: Buffer.alloc(0),
  address: '192.0.2.1',
  isSecure: false,
  requestId: 'request-1',
  ...request,
});

const bytesOf = (body: unknown): Buffer => {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
};
