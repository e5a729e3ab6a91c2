/** The console of an engine with a demo client, and devices to send to. */

import { randomBytes } from 'node:crypto';
import type { Page } from './browser.ts';
import { post } from './client.ts';
import type { Lifetime } from './lifetime.ts';
import type { Demo, EngineProcess } from './processes.ts';
import { startEngine } from './processes.ts';
import { seedEmbedded } from './store.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Registrations under way at a time. */
const CALLERS = 32;

export const PASSWORD = 'a sentence that is long';

/** An engine on the embedded store, with the simulator. */
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
  { baseUrl }: EngineProcess,
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

/** The owner of the demo client makes an invitation on the page Team. Answers its link. */
export async function inviteToDemo(
  page: Page,
  { baseUrl }: EngineProcess,
  role: string,
): Promise<string> {
  await page.goto(`${baseUrl}/console/#/client/demo/team`);
  await page.getByRole('button', { name: 'Invite…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Invite somebody' });
  await dialog.getByRole('radio', { name: role }).check();
  await dialog.getByRole('button', { name: 'Make the link' }).click();
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
export async function signInToDemo(page: Page, { consoleUrl = '' }: Demo): Promise<void> {
  await page.goto(consoleUrl);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

/** Registers devices with a tag, as an app does. */
export async function registerDevices(
  { baseUrl, apiUser, appId }: Demo,
  { platformId, tagId, count }: { platformId: number; tagId: number; count: number },
): Promise<void> {
  let left = count;
  const call = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const deviceId = randomBytes(32).toString('hex');
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
}
