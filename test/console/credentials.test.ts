/** Credentials in the browser: shown, copied, rotated; further keys made, used, revoked. */

import t from 'tap';
import type { Locator } from '../support/browser.ts';
import { openPage, withBrowser } from '../support/browser.ts';
import { makeConsoleClient } from '../support/console.ts';
import { until } from '../support/poll.ts';

t.setTimeout(240_000);

const DEVICE = 'ab'.repeat(32);

t.test('credentials', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const { page, context, complaints } = await openPage(t, browser);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await signIn(page);
    const dialog = page.getByRole('dialog');
    const clipboard = () => page.evaluate('navigator.clipboard.readText()');
    /** The button says for two seconds that it has copied. */
    const copy = (from: Locator, what: string) =>
      Promise.all([
        from.getByRole('button', { name: `Copied: ${what}` }).waitFor(),
        from.getByRole('button', { name: `Copy ${what}` }).click(),
      ]);
    const statusOf = async (path: string, authorization: string, body?: unknown) => {
      const answer = await fetch(demo.baseUrl + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { Authorization: authorization },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return answer.status;
    };
    /** The super user's by the Admin API, the API user's by the App API. */
    const lists = (authorization: string) =>
      statusOf(`/push-admin-api/v3/${demo.clientId}/apps`, authorization);
    const registers = (authorization: string) =>
      statusOf('/push-api/reg', authorization, {
        appId: demo.appId,
        platformId: 3,
        deviceId: DEVICE,
        tagId: demo.tagIds[0],
      });
    const block = (title: string) =>
      page.locator('section, .sheet').filter({ has: page.getByRole('heading', { name: title }) });
    const superUser = block('Notification + Admin API').last();
    const apiUser = block('Subscriptions API').last();
    /** The text of a row of a block. */
    const shown = async (of: Locator, label: string) => {
      const row = of.locator('.secret').filter({ has: page.getByText(label, { exact: true }) });
      await row.waitFor();
      const show = row.getByRole('button', { name: `Show ${label}` });
      if ((await show.count()) > 0) await show.click();
      return (await row.locator('dd.mono').textContent())?.trim() ?? '';
    };

    await t.test('two blocks, hidden until shown, copied without being shown', async (t) => {
      await page.goto(room(`apps/${demo.appId}`));
      await apiUser.waitFor();
      const secrets = [demo.superUser, demo.apiUser].flatMap((one) => [one.token, one.password]);
      const html = await page.content();
      for (const secret of secrets) t.notOk(html.includes(secret), 'it is nowhere in the page');
      const blocks = [
        [superUser, demo.superUser],
        [apiUser, demo.apiUser],
      ] as const;
      for (const [of, { token, username, password }] of blocks) {
        await copy(of, 'Token');
        t.equal(await clipboard(), token);
        t.equal(await of.getByText(token).count(), 0, 'copied, still hidden');
        t.equal(await shown(of, 'Token'), token);
        t.equal(await shown(of, 'LegacyAuth user'), username);
        t.equal(await shown(of, 'LegacyAuth password'), password);
        await of.getByRole('button', { name: 'Hide Token' }).click();
        t.equal(await of.getByText(token).count(), 0);
        await copy(of, 'LegacyAuth password');
        t.equal(await clipboard(), password);
      }
    });

    const rotate = async (of: Locator, hours: string): Promise<void> => {
      await of.getByRole('button', { name: /^Rotate/ }).click();
      await dialog.getByLabel('Hours that the old').fill(hours);
      await dialog.getByRole('button', { name: 'Generate' }).click();
    };

    await t.test('rotated with grace: the old ones work on, the new ones at once', async (t) => {
      await rotate(superUser, '169');
      t.equal(await dialog.count(), 1, 'more than a week is not taken');
      await dialog.getByLabel('Hours that the old').fill('1');
      await dialog.getByRole('button', { name: 'Generate' }).click();
      await dialog.waitFor({ state: 'detached' });
      await superUser.getByText('These credentials are new.').waitFor();
      const token = await shown(superUser, 'Token');
      const userName = await shown(superUser, 'LegacyAuth user');
      const password = await shown(superUser, 'LegacyAuth password');
      t.not(token, demo.superUser.token);
      t.equal(await lists(`Bearer ${token}`), 200, 'the new token');
      t.equal(await lists(basic(userName, password)), 200, 'the new password');
      t.equal(await lists(`Bearer ${demo.superUser.token}`), 200, 'the old token');
      t.equal(await lists(basic(demo.superUser.username, demo.superUser.password)), 200);
      await page.reload();
      t.equal(await shown(superUser, 'Token'), token, 'it is what the page shows from then on');
    });

    await t.test('rotated without grace: the old ones are refused', async (t) => {
      await rotate(apiUser, '0');
      await dialog.waitFor({ state: 'detached' });
      await apiUser.getByText('The old ones no longer work.').waitFor();
      const token = await shown(apiUser, 'Token');
      t.equal(await registers(`Bearer ${token}`), 200);
      await until('the old token is refused', async () =>
        (await registers(`Bearer ${demo.apiUser.token}`)) === 401 ? true : null,
      );
      t.equal(await registers(basic(demo.apiUser.username, demo.apiUser.password)), 401);
      t.equal(await registers(`Bearer ${token}`), 200, 'the new one works on');
    });

    await t.test('a key: made for one thing, used, seen to be used, revoked', async (t) => {
      await page.goto(room('keys'));
      await page.getByRole('heading', { name: 'No keys yet' }).waitFor();
      await page.getByRole('button', { name: 'New key' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('CMS');
      await dialog.getByRole('checkbox', { name: 'Read' }).uncheck();
      await dialog.getByRole('checkbox', { name: 'Send', exact: true }).uncheck();
      await dialog.getByText('Choose at least one.').waitFor();
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.getByRole('checkbox', { name: 'Read' }).check();
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.getByRole('heading', { name: 'Key created' }).waitFor();
      const token = (await dialog.locator('p.mono').textContent()) ?? '';
      t.match(token, /^tck_\w{32,}$/);
      await copy(dialog, 'Token');
      t.equal(await clipboard(), token);
      await dialog.getByRole('button', { name: 'Close' }).click();
      const row = page.getByRole('row').filter({ hasText: 'CMS' });
      /** The cells of its last use and of its end. */
      const nevers = row.getByRole('cell', { name: 'Never', exact: true });
      await nevers.first().waitFor();
      t.equal(await nevers.count(), 2);
      t.match(await row.textContent(), /CMS.*Read.*Everything/);
      t.notOk((await page.content()).includes(token), 'it was shown once');

      t.equal(await lists(`Bearer ${token}`), 200, 'within its scope');
      const push = { tagIds: [demo.tagIds[0]], payload: { title: 'Goal' } };
      const path = `/push-api/v3/${demo.clientId}/notifications`;
      t.equal(await statusOf(path, `Bearer ${token}`, push), 403, 'out of its scope');
      await until('its use is seen', async () => {
        await page.reload();
        await row.waitFor();
        return (await nevers.count()) === 1 ? true : null;
      });

      await page.getByRole('button', { name: 'Revoke… CMS' }).click();
      await dialog.getByText('It stops working within a second.').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      t.equal(await lists(`Bearer ${token}`), 200, 'it was left');
      await page.getByRole('button', { name: 'Revoke… CMS' }).click();
      await dialog.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('heading', { name: 'No keys yet' }).waitFor();
      await dialog.waitFor({ state: 'detached' });
      const at = await page.evaluate('document.activeElement?.textContent');
      t.equal(at, 'Keys', 'the row is gone: the keyboard goes on at the title');
      await until('the key is refused', async () =>
        (await lists(`Bearer ${token}`)) === 401 ? true : null,
      );
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);

const basic = (userName: string, password: string): string =>
  `Basic ${Buffer.from(`${userName}:${password}`).toString('base64')}`;
