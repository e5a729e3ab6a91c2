/** A valid request for each route of the server, with a world's things in its path and body. */

import type { Route } from '../../../src/http/handler.ts';
import { PASSWORD } from '../accounts.ts';
import type { World } from './world.ts';
import { ATTRIBUTE, DOOMED_SOURCE_ID, SOURCE_ID } from './world.ts';

export interface Request {
  readonly method: string;
  /** Segments, not encoded. */
  readonly segments: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** A value for JSON, bytes, or undefined: none. */
  readonly body: unknown;
}

type Body = (world: World) => unknown;

const device: Body = ({ appId, deviceId }) => ({ appId, platformId: 3, deviceId });
const deviceToFind: Body = ({ deviceId }) => ({ platformId: 3, deviceId });
const subscription: Body = (world) => ({ ...(device(world) as object), tagId: [world.tagId] });
const payload = {
  title: 'goal!',
  message: '1:0',
  url: 'https://www.customer.example/',
  image: 'https://www.customer.example/goal.png',
  badge: 1,
  sound: 'default',
  ttl: 60,
  priority: 'high',
  collapseId: 'match-1',
  data: { score: 1 },
  apns: { aps: { 'thread-id': 'match' } },
  fcm: { android: { notification: { channel_id: 'goals' } } },
};
const push: Body = ({ tagId, appId }) => ({
  tagIds: [tagId],
  tagSourceIds: [SOURCE_ID],
  filterTagIds: [tagId],
  excludeTagSourceIds: [DOOMED_SOURCE_ID],
  appIds: [appId],
  platformIds: [3],
  payload,
  expiresAt: '2100-01-01T00:00:00Z',
  delivery: 'at-least-once',
  priority: 'urgent',
  ratePerSecond: 1_000,
  pauseAfter: 10,
  holdSeconds: 10,
  dryRun: false,
});
const tags: Body = () => ({
  groups: [{ name: 'Cups', sourceId: 'cups', parentGroupSourceId: 'clubs' }],
  tags: [
    {
      name: 'Goals',
      sourceId: SOURCE_ID,
      groupSourceId: 'cups',
      expiration: 4_102_444_800_000,
      tagOptionalParameters: { visible: 'true' },
    },
  ],
});

const JOB_AND_TAG_BODIES: Readonly<Record<string, Body>> = {
  'POST /push-api/reg': subscription,
  'POST /push-api/ureg': subscription,
  'POST /push-api/set': (world) => ({
    ...(subscription(world) as object),
    appVersion: '1.0',
    attributes: { language: 'de', [ATTRIBUTE]: 'gold' },
  }),
  'POST /push-api/list': device,
  'POST /push-api/tags': device,
  'POST /push-api/v3/:client/device': device,
  'POST /push-api/v3/:client/device/erase': device,
  'POST /push-admin-api/v3/:client/attributes': ({ appId }) => ({
    name: 'tier',
    type: 'text',
    setBy: 'server',
    appIds: [appId],
    personal: true,
    description: 'What the reader pays for',
  }),
  'PATCH /push-admin-api/v3/:client/attributes/:name': () => ({ description: 'Changed' }),
  'POST /push-admin-api/v3/:client/apps/:id/platforms/:platform/attributes': ({ deviceId }) => ({
    devices: [{ deviceId, attributes: { language: 'de', [ATTRIBUTE]: null } }],
  }),
  'POST /push-api/v3/:client/devices/replace': (world) => ({
    ...(device(world) as object),
    newDeviceId: 'cd'.repeat(32),
  }),
  'POST /push-api/push': push,
  'POST /push-api/v3/:client/notifications': push,
  'POST /push-api/v3/:client/notifications/preview': push,
  'POST /push-api/v3/:client/notifications/estimate': ({ tagId }) => ({ tagIds: [tagId] }),
  'POST /push-api/v3/:client/notifications/test': (world) => ({
    ...(device(world) as object),
    payload,
  }),
  'PATCH /push-api/v3/:client/notifications/:id': () => ({
    expiresAt: '2100-01-03T00:00:00Z',
    priority: 'urgent',
    ratePerSecond: 1_000,
  }),
  'POST /push-api/v3/:client/notifications/:id/pause': () => undefined,
  'POST /push-api/v3/:client/notifications/:id/resume': () => undefined,
  'POST /push-api/v3/:client/notifications/:id/cancel': () => undefined,
  'POST /push-api/v3/:client/notifications/:id/replace': push,
  'POST /push-api/v3/:client/notifications/:id/correct': () => ({
    payload: { title: 'goal!', message: '2:0' },
    alert: 'quiet',
    rest: 'corrected',
  }),
  'POST /push-api/v3/:client/notifications/:id/retract': () => ({
    mode: 'remove',
    text: { title: 'withdrawn' },
    platformIds: [3],
  }),
  'POST /push-api/v3/:client/drafts': () => ({ name: 'Final', content: { title: 'Goal!' } }),
  'PATCH /push-api/v3/:client/drafts/:id': () => ({ name: 'Final whistle', revision: 1 }),
  'PUT /push-admin-api/v3/:client/policies': () => ({
    timezone: 'Europe/Zurich',
    categories: [{ name: 'news', default: true, caps: [{ max: 5, per: '24h', of: 'all' }] }],
  }),
  'POST /push-admin-api/v3/:client/segments': () => ({
    name: 'swiss',
    expression: '@country = CH && !$fans',
    description: 'Readers in Switzerland',
  }),
  'PATCH /push-admin-api/v3/:client/segments/:name': () => ({ expression: `${SOURCE_ID} || *` }),
  'POST /push-api/v3/:client/test-devices': (world) => ({
    ...(device(world) as object),
    name: 'Phone of Ana',
  }),
  'POST /push-admin-api/tag/add/:client': tags,
  'POST /push-admin-api/tag/update/:client': () => ({
    tags: [{ sourceId: SOURCE_ID, groupSourceId: 'clubs', expiration: null }],
  }),
  'POST /push-admin-api/tag/delete/:client': () => ({ tags: [{ sourceId: DOOMED_SOURCE_ID }] }),
  'POST /push-admin-api/v3/:client/tags': ({ groupId, appId }) => ({
    name: 'New',
    sourceId: 'new',
    groupId,
    appIds: [appId],
    tagOptionalParameters: { visible: 'false' },
  }),
  'PATCH /push-admin-api/v3/:client/tags/:id': () => ({ name: 'Goals!', groupId: null }),
  'POST /push-admin-api/v3/:client/tags/:id/members': () => ({
    action: 'copy',
    toTagSourceId: DOOMED_SOURCE_ID,
  }),
  'POST /push-admin-api/v3/:client/operations/:id/cancel': () => undefined,
  'POST /push-admin-api/v3/:client/groups': ({ groupId }) => ({ name: 'New', parentId: groupId }),
  'PATCH /push-admin-api/v3/:client/groups/:id': () => ({ name: 'Clubs!', parentId: null }),
  'POST /push-admin-api/v3/:client/credentials/:role/rotate': () => ({ graceHours: 168 }),
  'POST /push-admin-api/v3/:client/keys': ({ tagId, appId }) => ({
    name: 'Another',
    scopes: ['send', 'read'],
    tagIds: [tagId],
    tagSourceIds: [SOURCE_ID],
    appIds: [appId],
    maxDevices: 10,
    expiresAt: '2100-01-01T00:00:00Z',
  }),
  'POST /push-admin-api/v3/:client/webhooks': () => ({
    url: 'https://cms.example/another',
    eventTypes: ['job.finished', 'credential.trouble'],
    isEnabled: false,
  }),
  'PATCH /push-admin-api/v3/:client/webhooks/:id': () => ({
    url: 'https://cms.example/another',
    eventTypes: ['token.removed'],
    isEnabled: true,
  }),
  'POST /push-admin-api/v3/:client/webhooks/:id/rotate': () => ({ graceHours: 1 }),
  'POST /push-admin-api/v3/:client/webhooks/:id/deliveries/replay': () => ({ state: 'dead' }),
  'PATCH /push-admin-api/v3/:client/settings': () => ({ confirmAboveDevices: 500 }),
};

const APP_BODIES: Readonly<Record<string, Body>> = {
  'POST /push-admin-api/app/add/:client': () => ({
    name: 'Website',
    platformId: '7',
    parameters: { senderId: null, fallbackUrl: 'https://www.customer.example' },
    tags: [{ sourceId: SOURCE_ID }],
  }),
  'POST /push-admin-api/app/update/:client': ({ appId }) => ({
    id: String(appId),
    platformId: 3,
    name: 'App!',
    parameters: { pushTemplate: '[]' },
  }),
  'POST /push-admin-api/app/delete/:client': ({ appId }) => ({ id: appId }),
  'POST /push-admin-api/v3/:client/apps': () => ({ name: 'New', platformIds: [7] }),
  'PATCH /push-admin-api/v3/:client/apps/:id': () => ({ name: 'App!' }),
  'PUT /push-admin-api/v3/:client/apps/:id/platforms/:platform': ({ apns }) => apns,
  'PUT /push-admin-api/v3/:client/apps/:id/platforms/:platform/template': () => ({
    expression: '$',
    sample: { title: 'goal!' },
  }),
  'POST /push-admin-api/v3/:client/apps/:id/platforms/:platform/template/preview': () => ({
    expression: '$',
    sample: { title: 'goal!' },
  }),
  'POST /push-admin-api/v3/:client/apps/:id/platforms/:platform/probe': () => undefined,
  'POST /push-admin-api/v3/:client/apps/:id/platforms/:platform/subscriptions': ({
    tagId,
    deviceId,
  }) => ({
    action: 'subscribe',
    tagIds: [tagId],
    tagSourceIds: [SOURCE_ID],
    deviceIds: [deviceId, 'nobody'],
  }),
  'POST /push-admin-api/v3/:client/apps/:id/devices/lookup': deviceToFind,
  'POST /push-admin-api/v3/:client/apps/:id/devices/explain': (world) => ({
    ...(deviceToFind(world) as object),
    audience: '*',
  }),
  'POST /push-admin-api/v3/:client/apps/:id/devices/erase': deviceToFind,
};

const CONSOLE_BODIES: Readonly<Record<string, Body>> = {
  'POST /console/api/register': ({ account, slug }) => ({
    email: `another-${account.email}`,
    password: PASSWORD,
    clientName: `More of ${slug}`,
  }),
  'POST /console/api/session': ({ account }) => ({ email: account.email, password: PASSWORD }),
  'POST /console/api/session/end-all': () => undefined,
  'POST /console/api/password': () => ({
    currentPassword: PASSWORD,
    newPassword: 'another password',
  }),
  'POST /console/api/password/reset': ({ account }) => ({
    token: account.resetToken,
    newPassword: 'another password',
  }),
  'POST /console/api/members': () => ({ role: 'publisher' }),
  'PATCH /console/api/members/:id': () => ({ role: 'publisher' }),
  'POST /console/api/members/:id/reset': () => undefined,
};

/**
 * The body that is posted to each route. A route that is not here gets the body of another; a body
 * whose route is not there goes to others.
 */
export const BODIES: Readonly<Record<string, Body>> = {
  ...JOB_AND_TAG_BODIES,
  ...APP_BODIES,
  ...CONSOLE_BODIES,
};

export const nameOf = ({ method, path }: Route): string => `${method} ${path}`;

const hasBody = ({ method }: Route): boolean => method !== 'GET' && method !== 'DELETE';

/** The job of a world is scheduled, and these are for one that was sent. */
const OF_A_SENT_JOB = /\/(?:correct|retract)$/;

/** Whether what is asked of a route is known to be valid. */
export function isKnown(route: Route, world: World): boolean {
  if (OF_A_SENT_JOB.test(route.path)) return false;
  const segments = route.path.split('/');
  const isThere = (segment: string, index: number): boolean =>
    !segment.startsWith(':') || parameter(segment, segments[index - 1] ?? '', world) !== null;
  return segments.every(isThere) && (!hasBody(route) || nameOf(route) in BODIES);
}

/** `elseBody`: of a route that is not known. */
export function validRequest(route: Route, world: World, elseBody: Body): Request {
  const body = BODIES[nameOf(route)] ?? elseBody;
  const segments = route.path.split('/');
  return {
    method: route.method,
    segments: segments.map((segment, index) =>
      segment.startsWith(':')
        ? (parameter(segment, segments[index - 1] ?? '', world) ?? UNKNOWN)
        : segment,
    ),
    query: {},
    headers: headersFor(route, world),
    body: hasBody(route) ? body(world) : undefined,
  };
}

function headersFor({ api }: Route, world: World): Readonly<Record<string, string>> {
  switch (api) {
    case 'open':
      return {};
    case 'console':
      return world.account.headers;
    case 'operator':
      return { authorization: `Bearer ${OPERATOR_TOKEN}` };
    case 'app':
      return { authorization: `Bearer ${world.apiToken}` };
    case 'notification':
    case 'admin':
      return { authorization: `Bearer ${world.superToken}` };
  }
}

/** The token of a service whose routes are all asked. */
export const OPERATOR_TOKEN = 'the-token-of-an-operator-of-all-routes';

/** In place of a parameter that is not known. */
const UNKNOWN = '1';

/** The value for a part of a path; `before`: what stands before it. Null: it is not known here. */
function parameter(name: string, before: string, world: World): string | null {
  switch (name) {
    case ':client':
      return world.slug;
    case ':app':
      return String(world.appId);
    case ':role':
      return 'super-user';
    case ':value':
      return before === 'sourceId' ? SOURCE_ID : String(world.tagId);
  }
  switch (before) {
    case 'attributes':
      return ATTRIBUTE;
    case 'notifications':
    case 'status':
      return world.jobId;
    case 'groups':
      return String(world.groupId);
    case 'keys':
      return String(world.keyId);
    case 'webhooks':
      return String(world.webhookId);
    case 'segments':
      return 'fans';
    case 'drafts':
      return String(world.draftId);
    case 'test-devices':
      return String(world.testDeviceId);
    case 'operations':
      return String(world.operationId);
    case 'apps':
      return String(world.appId);
    case 'platforms':
      return '3';
    case 'members':
      return String(world.account.memberId);
    case 'tags':
    case 'tag':
      return String(world.tagId);
    default:
      return null;
  }
}
