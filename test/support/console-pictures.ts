/**
 * `npm run screenshots`: takes the pictures of the console that README.md shows, of an engine of
 * its own with simulated providers and three thousand devices.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from './browser.ts';
import { LOOKS, launchBrowser } from './browser.ts';
import { finalStatus, push } from './client.ts';
import { registerDevices, signInToDemo, startConsoleEngine } from './console.ts';
import { ROOT } from './documents.ts';
import type { Lifetime } from './lifetime.ts';

const FOLDER = join(ROOT, 'docs', 'pictures');
const DEVICES = [
  { platformId: 3, count: 2_000 },
  { platformId: 15, count: 1_000 },
];
/** Under way for as long as the pictures take. */
const RATE_PER_SECOND = 120;
/** Until the chart of a live view has something to show. */
const WATCHED_MS = 12_000;
/** Answers of a real audience: some have uninstalled the app. */
const BEHAVIOUR = { shares: { gone: 0.02 } };

const ends: (() => unknown)[] = [];
const life: Lifetime = { teardown: (end) => ends.unshift(end) };
try {
  mkdirSync(FOLDER, { recursive: true });
  const { engine, demo } = await startConsoleEngine(life);
  const [tagId = 0] = demo.tagIds;
  for (const devices of DEVICES) await registerDevices(demo, { ...devices, tagId });
  const behaviour = await fetch(`${demo.simulator.controlUrl}/behaviour`, {
    method: 'PUT',
    body: JSON.stringify(BEHAVIOUR),
  });
  if (!behaviour.ok) throw new Error(`The simulator answers ${behaviour.status}.`);
  const payload = {
    title: 'Goal! 2:1',
    message: 'Extra time. The winner came in the 118th minute.',
  };
  await finalStatus(engine.baseUrl, demo, await push(engine.baseUrl, demo, [tagId], payload));

  const browser = await launchBrowser(life);
  if (browser === null) throw new Error('Install chromium-headless-shell.');
  const page = await browser.newPage(LOOKS.light);
  await signInToDemo(page, demo);
  const room = (path: string) => `${engine.baseUrl}/console/#/client/demo/${path}`;
  const job = await push(engine.baseUrl, demo, [tagId], payload, {
    ratePerSecond: RATE_PER_SECOND,
  });
  await page.goto(room(`notifications/${job}`));
  await page.waitForTimeout(WATCHED_MS);
  await take(page, 'live');
  await page.goto(room(`apps/${demo.appId}/statistics`));
  await take(page, 'statistics');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(room('tags'));
  await page.getByRole('treeitem').filter({ hasText: 'Sports' }).click();
  await page.getByRole('treeitem').filter({ hasText: 'Breaking news' }).click();
  await page.getByText('Accepted and failed, by day').waitFor();
  await take(page, 'tags');
  await page.goto(room('send'));
  await page.getByRole('combobox', { name: 'Send to people with any of these tags' }).click();
  await page.getByRole('listbox').getByRole('option').first().click();
  await page.getByLabel('Title', { exact: true }).fill(payload.title);
  await page.getByLabel('Message', { exact: true }).fill(payload.message);
  await page.getByText(/iOS · \d+ of 4,096 bytes/).waitFor();
  await take(page, 'send');
} finally {
  for (const end of ends) await end();
}

async function take(page: Page, name: string): Promise<void> {
  await page.locator('h1').waitFor();
  await page.waitForTimeout(1_000);
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
  process.stdout.write(`docs/pictures/${name}.png\n`);
}
