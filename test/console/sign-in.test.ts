/** Who has signed in stays so, and who has signed out, whatever answers come late. */

import t from 'tap';
import { makeDemoLink } from '../../src/app/demo/demo-link.ts';
import { secrets } from '../support/api.ts';
import { axeFaults, openPage, withBrowser } from '../support/browser.ts';
import type { ConsoleClient } from '../support/console.ts';
import {
  makeConsoleClient,
  PASSWORD,
  sharedEngine,
  signInToDemo,
  signUp,
  silenceRail,
} from '../support/console.ts';
import { holdBack } from '../support/held-answers.ts';

t.setTimeout(180_000);

const SESSION = /\/console\/api\/session$/;
const UNAUTHORIZED = 401;
const OWNER = { name: 'Kurier', email: 'owner@sign-in.example' };

/** Makes a link like the start of a demo. */
async function linkTo({ demo, service }: ConsoleClient): Promise<string> {
  const { path } = await makeDemoLink(service.store.sql, secrets, demo.clientId);
  return demo.baseUrl + path;
}

for (const end of ['give', 'lose'] as const) {
  t.test(`the page looked who is signed in before its link has signed in: ${end}`, (t) =>
    withBrowser(t, async (t, browser) => {
      const consoleUrl = await linkTo(await makeConsoleClient());
      const { page } = await openPage(t, browser);
      const next = await holdBack(page, SESSION);
      await signInToDemo(page, { consoleUrl });
      const nobody = await next();
      t.equal(nobody.status, UNAUTHORIZED);
      await nobody[end]();
      t.ok(await page.getByRole('heading', { name: 'Overview' }).isVisible());
    }),
  );
}

t.test('the link of the demo works once: who comes second is told what to do', (t) =>
  withBrowser(t, async (t, browser) => {
    const client = await makeConsoleClient();
    const consoleUrl = await linkTo(client);
    const { page: first } = await openPage(t, browser);
    await signInToDemo(first, { consoleUrl });
    t.notOk(first.url().includes('tcl_'), 'its token is in no address any more');
    await first.goBack();
    t.notOk(first.url().includes('tcl_'), 'nor behind a step back');
    const { page, complaints } = await openPage(t, browser);
    await page.goto(consoleUrl);
    const said = page.getByRole('alert');
    await said.getByText('This link no longer works.').waitFor();
    await said.getByText('restart the engine for a new one, or sign in').waitFor();
    t.strictSame(await axeFaults(page), []);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('E-mail').waitFor();
    t.equal(page.url(), `${client.demo.baseUrl}/console/#/`);
    await first.goto(consoleUrl);
    await first.getByRole('alert').waitFor();
    await first.getByRole('link', { name: 'Go to the overview' }).click();
    await first.getByRole('heading', { name: 'Overview' }).waitFor();
    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);

t.test('a session that ended is asked for once, and not of who has signed out', (t) =>
  withBrowser(t, async (t, browser) => {
    const { baseUrl } = (await sharedEngine()).demo;
    const { page, context } = await openPage(t, browser);
    const client = await signUp(page, baseUrl, OWNER);
    await silenceRail(page);
    const room = (name: string) => `${baseUrl}/console/#/client/${client}/${name}`;
    const asking = page.getByRole('dialog', { name: 'Your session has ended' });

    await t.test('two requests find it out, one long after the password was typed', async (t) => {
      const next = await holdBack(page, SESSION);
      await context.clearCookies();
      await page.goto(room('notifications'));
      const first = await next();
      const second = await next();
      await first.give();
      await asking.waitFor();
      for (let times = 0; times < 3; times += 1) await page.keyboard.press('Escape');
      t.ok(await asking.isVisible(), 'it cannot be left by a key');
      await asking.getByLabel('Password').fill(PASSWORD);
      await asking.getByRole('button', { name: 'Sign in', exact: true }).click();
      await asking.waitFor({ state: 'detached' });
      t.equal(second.status, UNAUTHORIZED);
      await second.give();
      t.equal(await asking.count(), 0);
      await page.getByText('No notifications yet').waitFor();
      await page.unroute(SESSION);
    });

    await t.test('signing out of it, while a request is under way', async (t) => {
      const next = await holdBack(page, /\/console\/api\/members$/);
      await context.clearCookies();
      await page.goto(room('team'));
      const members = await next();
      await page.goto(`${baseUrl}/console/#/account`);
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByLabel('E-mail').waitFor();
      t.equal(members.status, UNAUTHORIZED);
      await members.give();
      t.equal(await asking.count(), 0);
      t.ok(await page.getByRole('heading', { name: 'Sign in' }).isVisible());
    });
  }),
);
