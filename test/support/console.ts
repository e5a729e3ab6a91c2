/**
 * The console in tests: an engine that all tests of a process share, on which each test makes a
 * client of its own, and what people do on its pages.
 */

import { randomBytes } from 'node:crypto';
import { ensureDemo, readDemoAccounts } from '../../src/app/demo/demo.ts';
import { readClientSettings, writeClientSettings } from '../../src/clients/client-settings.ts';
import { findClient } from '../../src/clients/find-client.ts';
import type { ClientSettings } from '../../src/domain/client-settings.ts';
import { addAccount, beginSession } from './accounts.ts';
import { secrets } from './api.ts';
import type { Page } from './browser.ts';
import { post } from './client.ts';
import type { Lifetime } from './lifetime.ts';
import type { Demo, EngineProcess } from './processes.ts';
import { startEngine } from './processes.ts';
import type { Service } from './service.ts';
import { startSharedService } from './service.ts';
import { shared } from './shared.ts';
import { seedEmbedded, temporaryStore } from './store.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Registrations under way at a time. */
const CALLERS = 32;

export const PASSWORD = 'a sentence that is long';

/**
 * The engine that the tests of this process share: sign-up is open, and webhooks may lead to this
 * machine.
 */
export const sharedEngine: () => Promise<Service> = shared(async (life) =>
  startSharedService(life, await temporaryStore(life), {
    SIGN_UP: 'open',
    WEBHOOK_PRIVATE_ADDRESSES: '1',
  }),
);

/** A client that is like that of the demo, with one owner, whose password is `PASSWORD`. */
export interface ConsoleClient {
  readonly demo: Demo;
  readonly service: Service;
  readonly ownerEmail: string;
  /** The address of a page of it. */
  room(path: string): string;
  /** Gives the page a session of the owner, and opens the overview. */
  signIn(page: Page): Promise<void>;
}

/** Makes a client of the test's own on the shared engine. */
export async function makeConsoleClient(name = 'Demo'): Promise<ConsoleClient> {
  const service = await sharedEngine();
  const { sql } = service.store;
  const slug = `client-${randomBytes(6).toString('hex')}`;
  const accounts = await readDemoAccounts(sql, secrets, service.demo);
  const { baseUrl, simulator } = service.demo;
  const made = await ensureDemo(sql, secrets, accounts, { slug, name });
  const clientId = (await findClient(sql, slug))?.id ?? 0;
  // Sends of the tests go out at once.
  const settings = await readClientSettings(sql, clientId);
  await writeClientSettings(sql, clientId, { ...settings, undoSeconds: 0 });
  const ownerEmail = `owner@${slug}.example`;
  const accountId = await addAccount(sql, {
    email: ownerEmail,
    password: PASSWORD,
    roles: [[clientId, 'owner']],
  });
  const room = (path: string) => `${baseUrl}/console/#/client/${slug}/${path}`;
  return {
    demo: { baseUrl, ...made, simulator },
    service,
    ownerEmail,
    room,
    async signIn(page) {
      const { cookie } = await beginSession(sql, accountId);
      const [cookieName = '', value = ''] = cookie.split('=');
      await page.context().addCookies([{ name: cookieName, value, url: baseUrl, httpOnly: true }]);
      await page.goto(room('overview'));
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
    },
  };
}

/** An engine of the test's own: a process on the embedded store, with demo and simulator. */
export async function startConsoleEngine(
  t: Lifetime,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly engine: EngineProcess; readonly demo: Demo }> {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const engine = await startEngine(t, dataDir, environment);
  return { engine, demo: engine.demo() };
}

/** Makes an account and its client, of which it answers the id. The engine has `SIGN_UP=open`. */
export async function signUp(
  page: Page,
  baseUrl: string,
  { name, email }: { readonly name: string; readonly email: string },
): Promise<string> {
  await page.goto(`${baseUrl}/console/#/sign-up`);
  await page.getByLabel('Name of the client').fill(name);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return decodeURIComponent(/#\/client\/([^/]+)\/overview$/.exec(page.url())?.[1] ?? '');
}

/**
 * The rail asks every ten seconds whether something is sent. In a session that has ended it might
 * find that out before what a test does.
 */
export async function silenceRail(page: Page): Promise<void> {
  await page.route(/\/notifications\?.*state=RUNNING/, (asked) => asked.abort());
}

/** An owner makes an invitation on the page Team. Answers its link. */
export async function inviteTo(
  page: Page,
  { room }: Pick<ConsoleClient, 'room'>,
  role: string,
): Promise<string> {
  await page.goto(room('team'));
  await page.getByRole('button', { name: 'Invite…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Invite somebody' });
  await dialog.getByRole('radio', { name: role }).check();
  await dialog.getByRole('button', { name: 'Generate link' }).click();
  const link = (await dialog.locator('p.mono').textContent()) ?? '';
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  return link;
}

/** Follows an invitation and chooses how to sign in. */
export async function acceptInvitation(page: Page, link: string, email: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign up' }).click();
}

/** Signs in by the demo's link, which works once. */
export async function signInToDemo(
  page: Page,
  { consoleUrl = '' }: Pick<Demo, 'consoleUrl'>,
): Promise<void> {
  await page.goto(consoleUrl);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

/** Sets above how many devices the console asks for the count. */
export const confirmAbove = (demo: Demo, devices: number): Promise<void> =>
  changeSettings(demo, { confirmAboveDevices: devices });

export async function changeSettings(
  { baseUrl, clientId, superUser }: Demo,
  settings: Partial<ClientSettings>,
): Promise<void> {
  const answer = await fetch(`${baseUrl}/push-admin-api/v3/${clientId}/settings`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${superUser.token}` },
    body: JSON.stringify(settings),
  });
  if (!answer.ok) throw new Error(`settings: ${answer.status} ${await answer.text()}`);
}

/** Registers devices with a tag, as an app does. Answers their tokens. */
export async function registerDevices(
  { baseUrl, apiUser, appId }: Demo,
  { platformId, tagId, count }: { platformId: number; tagId: number; count: number },
): Promise<readonly string[]> {
  const deviceIds = Array.from({ length: count }, () => randomBytes(32).toString('hex'));
  const left = [...deviceIds];
  const call = async (): Promise<void> => {
    for (let deviceId = left.pop(); deviceId !== undefined; deviceId = left.pop()) {
      const answer = await post(`${baseUrl}/push-api/reg`, apiUser.token, {
        appId,
        platformId,
        deviceId,
        tagId,
      });
      if (!answer.ok) throw new Error(`reg: ${answer.status} ${await answer.text()}`);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
  return deviceIds;
}

/** Adds a bulk operation that takes a tag from its members, and never begins. Answers its id. */
export async function addWaitingOperation(
  { demo, service }: Pick<ConsoleClient, 'demo' | 'service'>,
  tagId: number,
): Promise<number> {
  const [row] = await service.store.sql<{ id: number }[]>`
    insert into bulk_operations
      (client_id, user_name, action, subscribe_tag_ids, unsubscribe_tag_ids, member_of, total, due_at)
    select id, 'demo-super', 'remove', '{}', array[${tagId}]::integer[], ${tagId}, 3, 'infinity'
    from clients where slug = ${demo.clientId} returning id`;
  return row?.id ?? 0;
}
