/** The pages outside of a client: signing in and up, links that work once, one's own account. */

import t from 'tap';
import type { Page } from '../support/browser.ts';
import { LOOKS, lookAtRoom, openPage, withBrowser } from '../support/browser.ts';
import { PASSWORD, sharedEngine, signUp } from '../support/console.ts';

t.setTimeout(240_000);

const OWNER = { name: 'Kurier', email: 'owner@entry.example' };
const NEW_PASSWORD = 'another sentence that is long';

t.test('the pages outside of a client', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo } = await sharedEngine();
    const { page, complaints } = await openPage(t, browser);
    const address = (path: string) => `${demo.baseUrl}/console/#/${path}`;
    const lookAt = async (paths: Readonly<Record<string, string>>): Promise<void> => {
      for (const [name, path] of Object.entries(paths)) {
        await lookAtRoom(t, page, name, address(path));
      }
      await page.setViewportSize(LOOKS.light.viewport);
    };
    const client = await signUp(page, demo.baseUrl, OWNER);

    await t.test('signed in: the account, an address of nothing', () =>
      lookAt({ account: 'account', nothing: `client/${client}/nothing` }),
    );

    await t.test('a password is changed; what is wrong is said at its field', async (t) => {
      await page.goto(address('account'));
      const now = page.getByLabel('Current password');
      const next = page.getByLabel('New password');
      const change = page.getByRole('button', { name: 'Change password' });
      await now.fill('not this one, and long');
      await next.fill(NEW_PASSWORD);
      await change.click();
      await page.locator('input[autocomplete="current-password"][aria-invalid="true"]').waitFor();
      t.equal(await next.inputValue(), NEW_PASSWORD, 'what was typed stays');
      await now.fill(PASSWORD);
      await next.fill('short');
      await change.click();
      await page.locator('input[autocomplete="new-password"][aria-invalid="true"]').waitFor();
      await next.fill(NEW_PASSWORD);
      await change.click();
      await page.getByText('Password changed.').waitFor();
    });

    await t.test('signed out everywhere, other pages find it out', async (t) => {
      const { page: other } = await openPage(t, browser);
      await signIn(other, address(''), NEW_PASSWORD);
      await other.getByRole('heading', { name: 'Overview' }).waitFor();
      await page.getByRole('button', { name: 'Sign out everywhere' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await other.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    });

    await t.test('signed out: the ways in', () =>
      lookAt({
        'sign-in': '',
        'sign-up': 'sign-up',
        invitation: 'invitation/tcl_none',
        reset: 'reset/tcl_none',
        link: 'sign-in/tcl_none',
      }),
    );

    await t.test('links that do not work say so, and nothing typed is lost', async (t) => {
      await page.goto(address('sign-in/tcl_other'));
      await page.getByText('This link no longer works.').waitFor();
      await page.goto(address('reset/tcl_other'));
      await page.getByLabel('New password').fill(NEW_PASSWORD);
      await page.getByRole('button', { name: 'Set password' }).click();
      await page.getByRole('alert').waitFor();
      t.equal(await page.getByLabel('New password').inputValue(), NEW_PASSWORD);
    });

    await t.test('a sign-up with an address that is taken tells nobody so', async () => {
      await page.goto(address('sign-up'));
      await page.getByLabel('Name of the client').fill('Another');
      await page.getByLabel('E-mail').fill(OWNER.email);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign up' }).click();
      await page.getByText('If this address already has an account').waitFor();
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);

async function signIn(page: Page, address: string, password: string): Promise<void> {
  await page.goto(address);
  await page.getByLabel('E-mail').fill(OWNER.email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
