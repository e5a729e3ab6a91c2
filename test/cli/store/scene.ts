/**
 * An engine with a thing of every kind that the API shows, and the answers of an engine to
 * everything that can be read.
 */

import type { Test } from 'tap';
import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import type { OpenApiDocument } from '../../../src/api/openapi/document.ts';
import { finalStatus, push } from '../../support/client.ts';
import { OPERATOR_TOKEN, signIn, tokenIn } from '../../support/people.ts';
import { until } from '../../support/poll.ts';
import type { Demo, EngineProcess } from '../../support/processes.ts';

export const SETTINGS = { WORKERS: '1', OPERATOR_TOKEN, DEMO: '1' };
const ADMIN = '/push-admin-api/v3/demo';
export const NOTIFICATIONS = '/push-api/v3/demo/notifications';
export const DEVICES: readonly string[] = ['ab', 'cd', 'ef'].map((octet) => octet.repeat(32));

/** Operations whose answers are about this process, or change by themselves. */
const OF_PROCESS = new Set([
  ...['getSystem', 'getConsoleSystem', 'getDeviceScope', 'listenToNotification'],
]);
/** Fields of one answer, and times that are written some seconds after they are shown. */
const OF_MOMENT = /,?"(?:requestId|lastUsedAt|acceptedAt)":(?:"[^"]*"|\d+)/g;
const ASKED_TAGS = ['App API', 'Notification API', 'Admin API', 'Console', 'Operator'];

type Headers = Readonly<Record<string, string>>;

/** Things that were made on the first engine, and who asks for them. */
export interface Scene {
  readonly demo: Demo;
  /** A page in the console, signed in before the move. */
  readonly page: Headers;
  readonly keyToken: string;
  readonly scheduled: string;
  readonly paused: string;
  readonly finished: string;
  readonly webhookId: number;
  readonly operationId: number;
}

export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

export async function ask(url: string, headers: Headers, body?: object, method = 'POST') {
  const sent = body === undefined ? {} : { method, body: JSON.stringify(body) };
  const answer = await fetch(url, { headers, ...sent });
  const text = await answer.text();
  return { status: answer.status, text };
}

/** A thing of every kind that the API shows. */
export async function makeScene(t: Test, engine: EngineProcess): Promise<Scene> {
  const { baseUrl } = engine;
  const demo = engine.demo();
  const headers = bearer(demo.superUser.token);
  const make = async (path: string, body: object, method?: string) => {
    const { status, text } = await ask(baseUrl + path, headers, body, method);
    t.ok(status < 300, `${path}: ${status} ${text}`);
    return JSON.parse(text === '' ? '{}' : text);
  };
  const [tag = 0] = demo.tagIds;
  for (const deviceId of DEVICES) {
    const device = { appId: demo.appId, platformId: PLATFORMS.apns, deviceId, tagId: tag };
    const body = { ...device, appVersion: '7.1 "beta"' };
    await ask(`${baseUrl}/push-api/reg`, bearer(demo.apiUser.token), body);
  }
  const finished = await push(baseUrl, demo, [tag]);
  await finalStatus(baseUrl, demo, finished);
  const later = { tagIds: [tag], payload: { title: 'later' }, sendAt: '2029-01-01T12:00:00Z' };
  const { id: scheduled } = await make(NOTIFICATIONS, later);
  const { id: paused } = await make(NOTIFICATIONS, later);
  await make(`${NOTIFICATIONS}/${paused}/pause`, {});
  await make(`${ADMIN}/groups`, { name: 'Winter', sourceId: 'winter' });
  await make(`${ADMIN}/tags`, { name: 'Ski', sourceId: 'ski', tagOptionalParameters: { a: 'é' } });
  const { token: keyToken } = await make(`${ADMIN}/keys`, {
    name: 'CMS',
    scopes: ['send', 'read'],
  });
  const { id: webhookId } = await make(`${ADMIN}/webhooks`, {
    url: 'https://cms.example/hook',
    isEnabled: false,
  });
  const template = { expression: '{ "title": title }', sample: { title: 'FCB' } };
  await make(`${ADMIN}/apps/${demo.appId}/platforms/15/template`, template, 'PUT');
  const list = `${ADMIN}/apps/${demo.appId}/platforms/${PLATFORMS.apns}/subscriptions`;
  const { id: operationId } = await make(list, {
    action: 'subscribe',
    tagIds: [tag],
    deviceIds: DEVICES,
  });
  await until('the bulk operation has ended', async () => {
    const { text } = await ask(`${baseUrl}${ADMIN}/operations/${operationId}`, headers);
    return text.includes('"endedAt"') ? true : null;
  });
  const page = await join(t, baseUrl);
  await ask(`${baseUrl}/console/api/members`, page, { role: 'publisher' });
  return { demo, page, keyToken, scheduled, paused, finished, webhookId, operationId };
}

/** A member who joins by invitation, and signs in to the console. */
async function join(t: Test, baseUrl: string): Promise<Headers> {
  const members = `${baseUrl}/operator/v1/clients/demo/members`;
  const invited = await ask(members, bearer(OPERATOR_TOKEN), { role: 'owner' });
  const invitation = tokenIn((JSON.parse(invited.text) as { readonly link: string }).link);
  const account = { email: 'member@example.com', password: 'correct horse battery' };
  const ours = { 'Sec-Fetch-Site': 'same-origin' };
  const joined = await ask(`${baseUrl}/console/api/register`, ours, { ...account, invitation });
  t.ok(joined.status < 300, joined.text);
  return signIn(baseUrl, account);
}

interface Read {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly example?: unknown }[];
}

/** The answers to everything that can be read, and to some requests besides. */
export async function answersOf({ baseUrl }: EngineProcess, scene: Scene) {
  const { demo, keyToken } = scene;
  const served = await fetch(`${baseUrl}/openapi.json`);
  const { paths } = (await served.json()) as OpenApiDocument;
  const answers: Record<string, unknown> = {};
  const note = async (path: string, headers: Headers, body?: object) => {
    const { status, text } = await ask(baseUrl + path, headers, body);
    answers[path] = { status, text: text.replace(OF_MOMENT, '') };
  };
  for (const [path, item] of Object.entries(paths)) {
    const read = (item as { readonly get?: Read }).get;
    if (read === undefined || OF_PROCESS.has(read.operationId)) continue;
    if (!read.tags.some((tag) => ASKED_TAGS.includes(tag))) continue;
    for (const filled of filledPaths(path, read, scene)) await note(filled, headersOf(read, scene));
  }
  const device = { platformId: PLATFORMS.apns, deviceId: DEVICES[0] };
  const ofApp = { appId: demo.appId, ...device };
  await note('/push-api/list', bearer(demo.apiUser.token), ofApp);
  const lookUp = `${ADMIN}/apps/${demo.appId}/devices/lookup`;
  await note(lookUp, bearer(demo.superUser.token), device);
  await note(`${NOTIFICATIONS}/estimate`, bearer(keyToken), { tagIds: demo.tagIds });
  return answers;
}

function headersOf({ tags }: Read, { demo, page }: Scene): Headers {
  if (tags.includes('Console')) return page;
  if (tags.includes('Operator')) return bearer(OPERATOR_TOKEN);
  return bearer(tags.includes('App API') ? demo.apiUser.token : demo.superUser.token);
}

/** The path with its examples, for each of the jobs where it is about one. */
function filledPaths(path: string, { parameters = [] }: Read, scene: Scene): readonly string[] {
  const { scheduled, paused, finished, webhookId, operationId } = scene;
  const isOfJob = /^\/push-api\/.*\{id\}/.test(path);
  return (isOfJob ? [scheduled, paused, finished] : [null]).map((job) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => {
      if (name === 'client' || name === 'clientId') return 'demo';
      if (name === 'id' && job !== null) return job;
      if (name === 'id' && path.includes('/webhooks/')) return String(webhookId);
      if (name === 'id' && path.includes('/operations/')) return String(operationId);
      return String(parameters.find((one) => one.name === name)?.example);
    }),
  );
}
