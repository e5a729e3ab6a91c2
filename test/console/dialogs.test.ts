/**
 * Every dialog of the console: axe-core finds nothing, and the keyboard goes into it, stays there
 * and comes back.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Locator, Page } from '../support/browser.ts';
import { axeFaults, openPage, withBrowser } from '../support/browser.ts';
import { finalStatus, post } from '../support/client.ts';
import {
  addWaitingOperation,
  makeConsoleClient,
  PASSWORD,
  registerDevices,
  signUp,
  silenceRail,
} from '../support/console.ts';

t.setTimeout(240_000);

const SOURCE = join(import.meta.dirname, '..', '..', '..', 'console', 'src');
const OWNER_EMAIL = 'owner@dialogs.example';
const DEVICE = 'cd'.repeat(32);
/** More often than any dialog has places. */
const TABS_MAX = 40;

interface Case {
  /** The heading of the dialog. */
  readonly title: string | RegExp;
  /** The page that opens it: the address after the client. */
  readonly path: string;
  /** The element that opens it. */
  readonly opener: (page: Page) => Locator;
  /** The key that opens it; Enter if there is none. */
  readonly key?: string;
  /** Steps before it can be opened. */
  readonly before?: (page: Page) => Promise<void>;
  /** The way to another step of the same dialog. */
  readonly next?: (dialog: Locator) => Promise<void>;
}

const button = (name: string | RegExp) => (page: Page) =>
  page.getByRole('button', { name, exact: typeof name === 'string' });

/** Uses of what makes a dialog, besides those that make one of another. */
function countDialogs(): number {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.svelte') && !/(?:^|\/)(?:confirm|link-maker)\.svelte$/.test(file),
  );
  const uses = files.map(
    (file) =>
      readFileSync(join(SOURCE, file), 'utf8').match(/<(?:Modal|Confirm|LinkMaker)\b/g) ?? [],
  );
  return uses.flat().length;
}

t.test('every dialog', (t) =>
  withBrowser(t, async (t, browser) => {
    const client = await makeConsoleClient();
    const { demo, room, signIn } = client;
    const [tagId = 0, otherTagId = 0] = demo.tagIds;
    await registerDevices(demo, { platformId: 3, tagId, count: 1 });
    const ask = async <T>(path: string, token: string, body: object): Promise<T> => {
      const answer = await post(demo.baseUrl + path, token, body);
      if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
      const text = await answer.text();
      return (text.startsWith('{') ? JSON.parse(text) : text) as T;
    };
    const { token } = demo.superUser;
    const admin = `/push-admin-api/v3/${demo.clientId}`;
    const group = await ask<{ id: number }>(`${admin}/groups`, token, { name: 'Empty' });
    await ask(`${admin}/keys`, token, { name: 'CMS', scopes: ['read'] });
    const device = { appId: demo.appId, platformId: 3, deviceId: DEVICE };
    await ask('/push-api/reg', demo.apiUser.token, { ...device, tagId });
    const planned = await ask<{ id: string }>(
      `/push-api/v3/${demo.clientId}/notifications`,
      token,
      {
        tagIds: [tagId],
        payload: { title: 'Later' },
        sendAt: '2100-01-01T00:00:00Z',
      },
    );

    const staged = await ask<{ id: string }>(`/push-api/v3/${demo.clientId}/notifications`, token, {
      tagIds: [tagId],
      payload: { title: 'In stages' },
      pauseAfter: 1,
    });

    // An app without a key.
    const keyless = await ask<{ id: number; apiUser: { token: string } }>(`${admin}/apps`, token, {
      name: 'Kurier',
      platformIds: [3],
    });
    await ask('/push-api/reg', keyless.apiUser.token, {
      appId: keyless.id,
      platformId: 3,
      deviceId: 'ef'.repeat(32),
      tagId: otherTagId,
    });
    const failed = await ask<{ id: string }>(`/push-api/v3/${demo.clientId}/notifications`, token, {
      tagIds: [otherTagId],
      payload: { title: 'To nobody' },
    });
    await finalStatus(demo.baseUrl, demo, failed.id);

    const webhook = await ask<{ id: number }>(`${admin}/webhooks`, token, {
      url: 'https://hooks.example/events',
    });
    await ask(`${admin}/attributes`, token, { name: 'plan', type: 'text' });
    await ask(`${admin}/segments`, token, { name: 'german', expression: '@language = de' });
    const operation = await addWaitingOperation(client, tagId);
    await fetch(`${demo.baseUrl}${admin}/apps/${demo.appId}/platforms/3/template`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${token}` },
      body: JSON.stringify({ expression: '$' }),
    });

    const compose = async (page: Page) => {
      await page.getByRole('button', { name: 'Advanced (expression)' }).click();
      await page.getByLabel('Expression', { exact: true }).fill(`#${tagId}`);
      await page.getByLabel('Title', { exact: true }).fill('Goal');
      await page.getByRole('button', { name: /^Send to 2/ }).waitFor();
    };
    const lookUp = async (page: Page) => {
      await page.getByLabel('Device token').fill(DEVICE);
      await page.getByRole('button', { name: 'Find device' }).click();
    };
    const app = `apps/${demo.appId}`;
    const cases: readonly Case[] = [
      { title: 'Search', path: 'overview', opener: button(/^Search/) },
      {
        title: 'Keyboard shortcuts',
        path: 'overview',
        opener: (page) => page.getByRole('link', { name: 'Tags', exact: true }),
        key: '?',
      },
      { title: 'New app', path: 'apps', opener: button('New app') },
      { title: /^Delete Demo/, path: app, opener: button('Delete app…') },
      { title: /^Rotate the credentials/, path: app, opener: button(/^Rotate… Notification/) },
      {
        title: 'Remove this key?',
        path: `${app}/platforms`,
        // Each platform loads its own key: without a name, the first one changes.
        opener: (page) =>
          page
            .locator('section')
            .filter({ has: page.getByRole('heading', { name: 'iOS', exact: true }) })
            .getByRole('button', { name: 'Remove key…' }),
      },
      { title: 'New tag', path: 'tags', opener: button('New tag') },
      { title: 'New group', path: 'tags', opener: button('New group') },
      { title: /^Move /, path: `tags/${tagId}`, opener: button('Move…') },
      { title: /^Delete /, path: `tags/${tagId}`, opener: button('Delete…') },
      { title: 'Delete Empty?', path: `tags/group/${group.id}`, opener: button('Delete…') },
      {
        title: /^New key|^Key created/,
        path: 'keys',
        opener: button('New key'),
        next: async (dialog) => {
          await dialog.getByLabel('Name', { exact: true }).fill('Another');
          await dialog.getByRole('button', { name: 'Create' }).press('Enter');
          await dialog.getByRole('button', { name: 'Copy Token' }).waitFor();
        },
      },
      { title: 'Revoke the key CMS?', path: 'keys', opener: button('Revoke… CMS') },
      {
        title: /^New webhook|^Secret created/,
        path: 'webhooks',
        opener: button('New webhook'),
        next: async (dialog) => {
          await dialog.getByLabel('Address').fill('https://hooks.example/other');
          await dialog.getByRole('button', { name: 'Create' }).press('Enter');
          await dialog.getByRole('button', { name: 'Copy Secret' }).waitFor();
        },
      },
      {
        title: /^Rotate the secret|^Secret created/,
        path: `webhooks/${webhook.id}`,
        opener: button('Rotate secret…'),
        next: async (dialog) => {
          await dialog.getByRole('button', { name: 'Generate' }).press('Enter');
          await dialog.getByRole('button', { name: 'Copy Secret' }).waitFor();
        },
      },
      {
        title: 'Delete the webhook to hooks.example?',
        path: `webhooks/${webhook.id}`,
        opener: button('Delete…'),
      },
      {
        title: 'Replay all deliveries that were given up?',
        path: `webhooks/${webhook.id}`,
        opener: button('Replay all given up…'),
      },
      {
        title: /^Subscribe to /,
        path: 'bulk/new',
        before: async (page) => {
          await page.getByRole('combobox', { name: 'Tags' }).fill('a');
          await page.getByRole('option').first().click();
          await page.getByLabel('Device tokens').fill(DEVICE);
        },
        opener: button('Start…'),
      },
      {
        title: 'Delete this template?',
        path: `templates/${demo.appId}/3`,
        opener: button('Delete…'),
      },
      {
        title: 'Delete the segment german?',
        path: 'segments/one/german',
        opener: button('Delete…'),
      },
      { title: 'Change plan', path: 'attributes', opener: button('Change… plan') },
      {
        title: 'Delete the attribute plan?',
        path: 'attributes',
        opener: button('Delete… plan'),
      },
      {
        title: 'Cancel this operation?',
        path: `bulk/${operation}`,
        opener: button('Cancel…'),
      },
      {
        title: 'Invite somebody',
        path: 'team',
        opener: button('Invite…'),
        next: async (dialog) => {
          await dialog.getByRole('button', { name: 'Generate link' }).press('Enter');
          await dialog.getByRole('button', { name: 'Copy Link' }).waitFor();
        },
      },
      { title: /^Reset the password/, path: 'team', opener: button(/^Reset password…/) },
      { title: /^Remove /, path: 'team', opener: button(/^Remove…/) },
      { title: 'Speed limit', path: `notifications/${staged.id}`, opener: button('Speed limit…') },
      {
        title: 'Correct this notification?',
        path: `notifications/${staged.id}`,
        opener: button('Correct…'),
      },
      {
        title: 'Retract this notification?',
        path: `notifications/${staged.id}`,
        opener: button('Retract…'),
      },
      {
        title: 'Change the time',
        path: `notifications/${planned.id}`,
        opener: button('Change time…'),
      },
      {
        title: 'Send to 2 devices?',
        path: `notifications/${planned.id}`,
        opener: button('Send now…'),
      },
      {
        title: 'Cancel this notification?',
        path: `notifications/${planned.id}`,
        opener: button('Cancel…'),
      },
      {
        title: 'Send it again on iOS?',
        path: `notifications/${failed.id}`,
        opener: button('Retry 1 failed (iOS)…'),
      },
      {
        title: 'Send a test',
        path: 'send',
        before: compose,
        opener: button('Send a test…'),
      },
      { title: 'Drafts', path: 'send', opener: button('Drafts…') },
      { title: 'Save the draft', path: 'send', opener: button('Save draft…') },
      { title: 'Send to 2 devices?', path: 'send', opener: button(/^Send to 2/) },
      {
        title: 'Send a test',
        path: 'devices',
        before: lookUp,
        opener: button('Send a test…'),
      },
      {
        title: 'Erase this device?',
        path: 'devices',
        before: lookUp,
        opener: button('Erase device…'),
      },
    ];

    t.equal(countDialogs(), cases.length + 1, 'each has a row, but that of a session that ended');

    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const dialog = page.getByRole('dialog');
    const isInside = () => page.evaluate("document.activeElement?.closest('dialog') !== null");
    /** Tab and Shift+Tab go round: to each place in it, and to none outside. */
    const walk = async (what: string): Promise<void> => {
      for (const key of ['Tab', 'Shift+Tab']) {
        const places = Number(
          await page.evaluate(
            `[...document.querySelectorAll('dialog :is(a[href], button, input, select, textarea)')]
              .filter((one) => !one.disabled && one.type !== 'hidden').length`,
          ),
        );
        const outside: unknown[] = [];
        let visits = 0;
        for (let n = 0; n <= Math.min(places + 1, TABS_MAX); n += 1) {
          await page.keyboard.press(key);
          // Between its last place and its first a browser has its own.
          const place = await page.evaluate(`(() => {
            const { activeElement: at } = document;
            if (at === null || at === document.body) return 'browser';
            return at.closest('dialog') === null ? at.outerHTML : 'dialog';
          })()`);
          if (place === 'dialog') visits += 1;
          else if (place !== 'browser') outside.push(place);
        }
        t.strictSame(outside, [], `${what}: ${key} stays in it`);
        t.ok(visits > 0, `${what}: ${key} goes through it`);
      }
    };

    for (const { title, path, opener, key = 'Enter', before, next } of cases) {
      await page.goto(room(path));
      await before?.(page);
      const from = opener(page);
      await from.and(page.locator(':enabled, a')).waitFor();
      await from.press(key);
      const heading = dialog.getByRole('heading', { name: title });
      await heading.waitFor();
      const what = String(await heading.textContent());
      t.ok(await isInside(), `${what}: the focus goes into it`);
      t.equal(await page.locator('.danger:focus').count(), 0, `${what}: no harm by Enter alone`);
      t.strictSame(await axeFaults(page, 'dialog'), [], what);
      await walk(what);
      if (next !== undefined) {
        await next(dialog);
        t.ok(await isInside(), `${what}: the focus stays in it`);
        t.strictSame(await axeFaults(page, 'dialog'), [], `${what}, its next step`);
      }
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      t.ok(
        await from.evaluate((element) => element === element.ownerDocument.activeElement),
        `${what}: the focus is where it was`,
      );
    }

    await t.test(
      'the session has ended: it cannot be left, and then the page goes on',
      async (t) => {
        const { page, context } = await openPage(t, browser);
        const client = await signUp(page, demo.baseUrl, { name: 'Kurier', email: OWNER_EMAIL });
        await page.goto(`${demo.baseUrl}/console/#/client/${client}/apps`);
        await page.getByRole('button', { name: 'New app' }).first().waitFor();
        await silenceRail(page);
        await context.clearCookies();
        const way = page.getByRole('link', { name: 'Team' });
        await way.press('Enter');
        const asking = page.getByRole('dialog', { name: 'Your session has ended' });
        const password = asking.getByLabel('Password');
        await password.waitFor();
        t.ok(await password.evaluate((element) => element === element.ownerDocument.activeElement));
        t.strictSame(await axeFaults(page, 'dialog'), []);
        await page.keyboard.type(PASSWORD);
        await page.keyboard.press('Enter');
        await asking.waitFor({ state: 'detached' });
        await page.getByRole('row').filter({ hasText: OWNER_EMAIL }).waitFor();
        t.ok(await way.evaluate((element) => element === element.ownerDocument.activeElement));
      },
    );

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
