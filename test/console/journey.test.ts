/**
 * The console in a real browser, on an engine of its own with the simulator: from the first page to
 * a notification that arrived.
 */

import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { openPage, withBrowser } from '../support/browser.ts';
import { startConsoleEngine } from '../support/console.ts';
import type { Lifetime } from '../support/lifetime.ts';
import { ecKeys } from '../support/provider-credentials.ts';

t.setTimeout(390_000);

/** The bytes that a browser loads before the first page is there. */
const FIRST_LOAD_BYTES_MAX = 150_000;
const OWNER = { email: 'owner@example.com', password: 'a sentence that is long' };
const HOSTILE = `<img src=x onerror="document.title='owned'">`;

/** A proxy that serves an engine under a path; answers where. */
async function serveUnder(t: Lifetime, path: string, engineUrl: string): Promise<string> {
  const proxy = createServer((request, response) => {
    const { url = '', method = 'GET', headers } = request;
    const asked = httpRequest(engineUrl + url.slice(path.length), { method, headers });
    asked.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(asked);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => proxy.close());
  const { port } = proxy.address() as AddressInfo;
  return `http://127.0.0.1:${port}${path}`;
}

t.test('the first load is small', (t) => {
  const built = join(import.meta.dirname, '..', '..', 'console');
  const html = readFileSync(join(built, 'index.html'), 'utf8');
  const first = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(
    ([, name = '']) => name,
  );
  const css = readFileSync(join(built, first.find((name) => name.endsWith('.css')) ?? ''), 'utf8');
  const fonts = [...css.matchAll(/url\(\.?\/?([^)]+woff2)\)/g)].map(([, name = '']) =>
    join('assets', name),
  );
  const names = readdirSync(built, { recursive: true, encoding: 'utf8' });
  const sizeOf = (name: string) =>
    readFileSync(join(built, names.includes(`${name}.br`) ? `${name}.br` : name)).length;
  const bytes = ['index.html', ...first, ...fonts].reduce((sum, name) => sum + sizeOf(name), 0);
  t.ok(first.length >= 2 && fonts.length === 1, 'page, script, style, type');
  t.comment(`first load: ${bytes} bytes compressed`);
  t.ok(bytes < FIRST_LOAD_BYTES_MAX, `${bytes} bytes`);
  t.end();
});

t.test('from signing in to a notification that arrived', async (t) => {
  await withBrowser(t, async (t, browser) => {
    const { engine, demo } = await startConsoleEngine(t, { SIGN_UP: 'open' });
    const { page, context, complaints } = await openPage(t, browser);
    const shows = (text: string | RegExp) => page.getByText(text).first().waitFor();

    await t.test("the demo's link signs in once, and its owner invites another", async (t) => {
      const { page: first } = await openPage(t, browser);
      await first.goto(demo.consoleUrl ?? '');
      await first.getByRole('heading', { name: 'Overview' }).waitFor();
      t.match(
        first.url(),
        /#\/client\/demo\/overview$/,
        'the token is not in the address any more',
      );
      await first.goto(`${engine.baseUrl}/console/#/client/demo/team`);
      await first.getByRole('button', { name: 'Invite…' }).click();
      await first.getByLabel('owner').check();
      await first.getByRole('button', { name: 'Generate link' }).click();
      const link = await first.getByText('#/invitation/').textContent();

      await page.goto(link ?? '');
      await page.getByLabel('E-mail').fill(OWNER.email);
      const [paintMs, interactiveMs] = (await page.evaluate(
        "[performance.getEntriesByName('first-contentful-paint')[0]?.startTime, performance.now()]",
      )) as readonly number[];
      t.comment(
        `first paint ${Math.round(paintMs ?? 0)} ms, taken a letter by ${Math.round(interactiveMs ?? 0)} ms`,
      );
      await page.getByLabel('Password').fill('short');
      await page.getByRole('button', { name: 'Sign up' }).click();
      await shows(/must have \d+–\d+ characters/);
      t.equal(await page.getByLabel('E-mail').inputValue(), OWNER.email, 'what was typed stays');
      await page.getByLabel('Password').fill(OWNER.password);
      await page.getByRole('button', { name: 'Sign up' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      await shows('Four steps to the first notification');
    });

    await t.test('signing out and in; a wrong password is told', async (t) => {
      await page.goto(`${engine.baseUrl}/console/#/account`);
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByLabel('E-mail').fill(OWNER.email);
      await page.getByLabel('Password').fill('a wrong one');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await shows('The e-mail address or the password is wrong.');
      t.equal(await page.getByLabel('E-mail').inputValue(), OWNER.email, 'what was typed stays');
      await page.getByLabel('Password').fill(OWNER.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Account' }).waitFor();
    });

    await t.test('who signs up sees a client of their own, and nothing of another', async (t) => {
      const { page: other } = await openPage(t, browser);
      await other.goto(`${engine.baseUrl}/console/#/sign-up`);
      await other.getByLabel('Name of the client').fill('Kurier');
      await other.getByLabel('E-mail').fill('other@example.com');
      await other.getByLabel('Password').fill(OWNER.password);
      await other.getByRole('button', { name: 'Sign up' }).click();
      await other.getByText('No notifications yet.').waitFor();
      t.notMatch(other.url(), /\/demo\//);
      await other.getByRole('link', { name: 'Apps' }).click();
      await other.getByRole('heading', { name: 'No apps yet' }).waitFor();
      await other.goto(`${engine.baseUrl}/console/#/client/demo/apps`);
      await other.getByRole('heading', { name: 'Page not found' }).first().waitFor();
      const status = await other.evaluate(
        `fetch('/console/api/session').then((answer) => answer.json()).then(({ csrfToken }) =>
          fetch('/push-admin-api/v3/demo/apps', { headers: { 'X-CSRF-Token': csrfToken, 'Tagcast-Client': 'demo' } })).then(({ status }) => status)`,
      );
      t.equal(status, 403);
    });

    await t.test('Info: hidden until shown', async (t) => {
      await page.goto(`${engine.baseUrl}/console/#/client/demo/apps/${demo.appId}`);
      await page.getByRole('heading', { name: 'Notification + Admin API' }).waitFor();
      t.equal(await page.getByText(demo.superUser.token).count(), 0);
      await page.getByRole('button', { name: 'Show Token' }).first().click();
      await shows(demo.superUser.token);
      t.equal(await page.getByText(demo.apiUser.token).count(), 0, 'the other stays hidden');
    });

    await t.test('a tag with a hostile name, and a device that has it', async (t) => {
      await page.goto(`${engine.baseUrl}/console/#/client/demo/tags`);
      await page.getByRole('button', { name: 'New tag' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name', { exact: true }).fill(HOSTILE);
      await dialog.getByLabel('Source ID').fill('hostile');
      await dialog.getByRole('button', { name: 'New tag' }).click();
      await page.getByRole('heading', { name: HOSTILE }).waitFor();
      const answer = await fetch(`${demo.baseUrl}/push-api/reg`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${demo.apiUser.token}` },
        body: JSON.stringify({
          appId: demo.appId,
          platformId: 3,
          deviceId: 'ab'.repeat(32),
          tagSourceId: ['hostile'],
        }),
      });
      t.equal(await answer.text(), 'OK');
    });

    await t.test('sending: counted, previewed, confirmed, watched to its end', async (t) => {
      await page.goto(`${engine.baseUrl}/console/#/client/demo/send`);
      await page
        .getByRole('combobox', { name: 'Send to people with any of these tags' })
        .fill('img');
      await page.getByRole('option', { name: HOSTILE }).click();
      await page.getByRole('heading', { name: '1 device' }).waitFor();
      await page.getByLabel('Title', { exact: true }).fill(HOSTILE);
      await page.getByLabel('Message', { exact: true }).fill('1:0');
      await shows(/iOS · \d+ of 4,096 bytes/);

      await context.clearCookies();
      await page.getByLabel('Message', { exact: true }).fill('1:0, and the session has ended');
      const asking = page.getByRole('dialog', { name: 'Your session has ended' });
      await asking.getByLabel('Password').fill(OWNER.password);
      await asking.getByRole('button', { name: 'Sign in', exact: true }).click();
      await asking.waitFor({ state: 'detached' });
      t.equal(
        await page.getByLabel('Title', { exact: true }).inputValue(),
        HOSTILE,
        'nothing typed is lost',
      );

      await page.getByRole('button', { name: 'Send to 1 device…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Send to 1 device' }).click();
      await page.getByRole('heading', { name: HOSTILE }).waitFor();
      await page.getByText('Sent', { exact: true }).first().waitFor();
      await shows('1 of 1');
      t.not(await page.title(), 'owned');
      t.match(page.url().split('/').at(-1) ?? '', /^[0-9a-f-]{36}$/);
    });

    await t.test('what became of it: statistics of the app, and the device', async (t) => {
      const app = `${engine.baseUrl}/console/#/client/demo/apps/${demo.appId}`;
      await page.goto(`${app}/statistics`);
      await page.getByRole('img', { name: 'Accepted and failed sends by day.' }).waitFor();
      const figures = await page.locator('dl.figures').first().textContent();
      t.match(figures, /Devices\s*1\s*Notifications\s*1\s*Accepted\s*1\s*Failed\s*0/);
      await page.goto(`${engine.baseUrl}/console/#/client/demo/devices`);
      await page.getByLabel('Device token').fill('cd'.repeat(32));
      await page.getByRole('button', { name: 'Find device' }).click();
      await shows('No such device is registered');
      await page.getByLabel('Device token').fill('ab'.repeat(32));
      await page.getByRole('button', { name: 'Find device' }).click();
      await shows('This device can be reached. It has one tag.');
      await shows('Accepted by the provider, as far as known');
      t.notMatch(page.url(), /abab/, 'the token is in no address');
    });

    await t.test('an app of their own, its key by drop, and a further key', async () => {
      await page.goto(`${engine.baseUrl}/console/#/client/demo/apps`);
      await page.getByRole('button', { name: 'New app' }).click();
      await page.getByLabel('Name').fill('Kurier');
      await page.getByRole('button', { name: 'Create' }).click();
      await shows('Choose at least one.');
      await page.getByRole('checkbox', { name: 'iOS' }).check();
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('heading', { name: 'Kurier' }).waitFor();
      await page.getByRole('link', { name: 'Platforms' }).click();
      await shows('No key was uploaded: nothing can be sent to this platform.');
      const file = (name: string, text: string) => ({
        name,
        mimeType: '',
        buffer: Buffer.from(text),
      });
      const drop = page.locator('input[type=file]');
      await drop.setInputFiles(file('key.txt', 'no key'));
      await shows('This is not a .p8 file');
      const pem = ecKeys('P-384').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      await drop.setInputFiles(file('AuthKey_ABCDE12345.p8', pem));
      await page.getByLabel('Team ID').fill('TEAM123456');
      await page.getByLabel('Bundle ID').fill('example.kurier');
      await page.getByRole('button', { name: 'Check and save' }).click();
      await page.getByRole('alert').getByText('Key in the file').waitFor();
      await page.goto(`${engine.baseUrl}/console/#/client/demo/keys`);
      await page.getByRole('button', { name: 'New key' }).first().click();
      await page.getByLabel('Name').fill('CMS');
      await page.getByRole('button', { name: 'Create' }).click();
      await shows(/^tck_/);
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('rowheader', { name: 'CMS' }).waitFor();
    });

    await t.test('under the path of a proxy, a link leads back through it', async (t) => {
      const under = await serveUnder(t, '/push', engine.baseUrl);
      await page.goto(`${under}/console/#/client/demo/team`);
      await page.getByRole('button', { name: 'Invite…' }).click();
      await page.getByRole('button', { name: 'Generate link' }).click();
      const link = (await page.getByText('#/invitation/').textContent()) ?? '';
      t.ok(link.startsWith(`${under}/console/#/invitation/tcl_`), link.replace(/tcl_.*/, ''));
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  });
});
