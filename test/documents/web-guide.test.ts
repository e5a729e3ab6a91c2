/**
 * The files of the guide for the web, in Chromium: the page registers, the engine sends, the
 * service worker shows it.
 *
 * A headless browser has no push service. So three things are others than a reader's: `subscribe`
 * gives a subscription of the simulator, DevTools hand the worker the message that the engine
 * makes, and a click and a new subscription are events that the test dispatches.
 */

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import type { PushSubscription } from '../../packages/simulator/src/webpush/push-subscriptions.ts';
import type { Page } from '../support/browser.ts';
import { openPage, withNotifyingBrowser } from '../support/browser.ts';
import { finalStatus, post, push } from '../support/client.ts';
import type { ConsoleClient } from '../support/console.ts';
import { makeConsoleClient } from '../support/console.ts';
import { ROOT } from '../support/documents.ts';
import { fencesOf, guideText } from '../support/guides/fences.ts';
import { until } from '../support/poll.ts';
import type { Demo } from '../support/processes.ts';
import { webPushCredential } from '../support/provider-credentials.ts';
import { addWebsite } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

t.setTimeout(300_000);

const PLATFORM = 7;
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
};
const PAYLOAD = {
  title: 'Goal!',
  message: '1:0',
  url: 'https://example.com/match/7',
  badge: 3,
  collapseId: 'match-7',
  webpush: { icon: 'https://example.com/icon.png' },
};

interface Settings {
  readonly url: string;
  readonly client: string;
  readonly appId: number;
  readonly apiUserToken: string;
  readonly publicKey: string;
}

t.test('web.md: the page registers, and the worker shows what the engine sends', (t) =>
  withNotifyingBrowser(t, async (t, browser) => {
    const client = await makeConsoleClient();
    const { demo } = client;
    const settings = await makeWebsiteApp(client);
    const site = await serveSite(t, settings);
    const [first, second] = await makeSubscriptions(demo, settings.publicKey);
    const { page, context, complaints } = await openPage(t, browser);
    // The page takes nothing of a subscription but its JSON.
    await page.addInitScript(`
      globalThis.subscription ??= ${JSON.stringify(first)};
      PushManager.prototype.subscribe = async (options) => {
        if (options.applicationServerKey !== ${JSON.stringify(settings.publicKey)}) throw new Error('another key');
        return globalThis.subscription;
      };`);

    await page.goto(site);
    await context.grantPermissions(['notifications'], { origin: site });
    await page.getByRole('button').click();
    await page.getByText('On', { exact: true }).waitFor();
    t.same(await tagsOf(demo, settings, first), ['breaking-news']);
    t.match(await attributesOf(demo, settings, first), { language: /^[a-z]{2}/, timezone: /^\w/ });

    const id = await push(demo.baseUrl, demo, [demo.tagIds[0] ?? 0], PAYLOAD);
    const rows = await finalStatus(demo.baseUrl, demo, id);
    t.match(
      rows.find(({ key }) => key.platformId === PLATFORM),
      { totalCount: 1, successCount: 1 },
      'the push service takes it',
    );

    const message = await messageOf(demo);
    t.match(message, { web_push: 8030, notification: { title: 'Goal!' } }, 'it is declarative too');
    await deliver(page, site, JSON.stringify(message));
    const [worker] = context.serviceWorkers();
    if (worker === undefined) throw new Error('there is no service worker');
    const shown = await until('the worker shows it', async () => {
      const all = (await worker.evaluate(`self.registration.getNotifications().then((all) =>
        all.map(({ title, body, icon, tag, data }) => ({ title, body, icon, tag, data })))`)) as unknown[];
      return all[0] ?? null;
    });
    t.match(shown, {
      title: 'Goal!',
      body: '1:0',
      icon: 'https://example.com/icon.png',
      tag: 'match-7',
      data: { url: PAYLOAD.url, pushId: /^[0-9a-f-]{36}$/ },
    });

    const opened = await worker.evaluate(`(async () => {
      const [notification] = await self.registration.getNotifications();
      let opened = null;
      Object.defineProperty(self.clients, 'openWindow', { value: async (url) => { opened = url; } });
      const event = new NotificationEvent('notificationclick', { notification });
      event.waitUntil = () => {};
      self.dispatchEvent(event);
      return opened;
    })()`);
    t.equal(opened, PAYLOAD.url, 'a click opens its address');

    await worker.evaluate(`(() => {
      const event = new ExtendableEvent('pushsubscriptionchange');
      event.oldSubscription = ${JSON.stringify(first)};
      event.newSubscription = ${JSON.stringify(second)};
      return new Promise((resolve, reject) => {
        event.waitUntil = (work) => work.then(resolve, reject);
        self.dispatchEvent(event);
      });
    })()`);
    t.same(await tagsOf(demo, settings, second), ['breaking-news'], 'the device keeps its tags');
    t.same(await tagsOf(demo, settings, first), []);

    await page.evaluate(`globalThis.subscription = ${JSON.stringify(second)};
      import('/push.js').then(async ({ refresh, unsubscribe }) => {
        await refresh(['tennis']);
        await unsubscribe('breaking-news');
      })`);
    t.same(await tagsOf(demo, settings, second), ['tennis'], 'the page goes on with the new one');
    t.same(complaints, [], 'the page complains of nothing');
  }),
);

/** The app of the guide's commands, which a test of their own runs. */
async function makeWebsiteApp({ service, demo }: ConsoleClient): Promise<Settings> {
  const { vapid } = webPushCredential();
  const { appId, apiUser } = await addWebsite({ store: service.store, demo }, vapid);
  return {
    url: demo.baseUrl,
    client: demo.clientId,
    appId,
    apiUserToken: apiUser.token,
    publicKey: vapid?.publicKey ?? '',
  };
}

/** Serves the files of the guide, the script compiled, the settings with the test's own values. */
async function serveSite(t: Test, settings: Settings): Promise<string> {
  const folder = temporaryDirectory(t);
  const files = fencesOf(guideText('web')).filter(({ kind }) => kind === 'web');
  for (const { name, code } of files) writeFileSync(join(folder, name), code);
  const example = JSON.parse(readFileSync(join(folder, 'tagcast.json'), 'utf8')) as object;
  t.same(Object.keys(example), Object.keys(settings), 'the file of settings has these');
  writeFileSync(join(folder, 'tagcast.json'), JSON.stringify(settings));
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = ['--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--module', 'es2022'];
  execFileSync(process.execPath, [compiler, ...options, 'push.ts'], { cwd: folder });
  const server = createServer(({ url = '/' }, response) => {
    const name = url === '/' ? 'index.html' : url.slice(1);
    const isFile = files.some((file) => file.name === name) || name === 'push.js';
    response.writeHead(isFile ? 200 : 404, {
      'Content-Type': TYPES[extname(name)] ?? 'text/plain',
    });
    response.end(isFile ? readFileSync(join(folder, name)) : '');
  }).listen(0, '127.0.0.1');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function makeSubscriptions(
  { simulator }: Demo,
  applicationServerKey: string,
): Promise<readonly PushSubscription[]> {
  const made = await fetch(`${simulator.controlUrl}/webpush/subscriptions`, {
    method: 'POST',
    body: JSON.stringify({ count: 2, applicationServerKey }),
  });
  return (await made.json()) as readonly PushSubscription[];
}

async function tagsOf(
  { baseUrl }: Demo,
  { appId, apiUserToken }: Settings,
  subscription: PushSubscription | undefined,
): Promise<unknown> {
  const device = { appId, platformId: PLATFORM, deviceId: JSON.stringify(subscription) };
  const answer = await post(`${baseUrl}/push-api/list`, apiUserToken, device);
  return ((await answer.json()) as readonly { sourceId: string }[]).map(({ sourceId }) => sourceId);
}

async function attributesOf(
  { baseUrl }: Demo,
  { client, appId, apiUserToken }: Settings,
  subscription: PushSubscription | undefined,
): Promise<unknown> {
  const device = { appId, platformId: PLATFORM, deviceId: JSON.stringify(subscription) };
  const answer = await post(`${baseUrl}/push-api/v3/${client}/device`, apiUserToken, device);
  return ((await answer.json()) as { readonly attributes: unknown }).attributes;
}

/** The message that the engine encrypts for browsers. */
async function messageOf({ baseUrl, clientId, superUser, tagIds }: Demo): Promise<object> {
  const url = `${baseUrl}/push-api/v3/${clientId}/notifications/preview`;
  const answer = await post(url, superUser.token, { tagIds: [tagIds[0]], payload: PAYLOAD });
  const { preview } = (await answer.json()) as {
    readonly preview: readonly { readonly platformId: number; readonly message: object }[];
  };
  const found = preview.find(({ platformId }) => platformId === PLATFORM);
  if (found === undefined) throw new Error('there is no message for browsers');
  return found.message;
}

/** Hands the worker of a site a message, as the browser does that has got one. */
async function deliver(page: Page, site: string, data: string): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [registration] = registrations;
      if (registration !== undefined) resolve(registration.registrationId);
    });
  });
  await devTools.send('ServiceWorker.enable');
  const registrationId = await registered;
  const { origin } = new URL(site);
  await devTools.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data });
}
