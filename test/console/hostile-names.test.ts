/** Names that are markup, wherever they are shown: they are text, and nothing of them runs. */

import t from 'tap';
import type { Page } from '../support/browser.ts';
import { openPage, withBrowser } from '../support/browser.ts';
import { PASSWORD, sharedEngine, signUp } from '../support/console.ts';

t.setTimeout(240_000);

const IMAGE = '<img src=x onerror=ran(1)>';
const SCRIPT = '"><script>ran(2)</script>';
const LINK = `'"><a href="javascript:ran(3)" onfocus=ran(4) autofocus>`;
const PERSON = `"><img/src=x/onerror=ran(5)>@example.com`;
/** Before anything of a page: what runs says so, and so does what the CSP has stopped. */
const WATCH = `
  window.deeds = [];
  window.ran = (which) => window.deeds.push('ran ' + which);
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    window.deeds.push(violatedDirective + ' ' + blockedURI));`;
/** Elements that would be in the page if one of the names had been taken for markup. */
const MADE_OF_NAMES =
  'img[src="x"], script:not([src]), a[href^="javascript:"], [onfocus], [onerror]';

t.test('hostile names', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo } = await sharedEngine();
    const { page, context, complaints } = await openPage(t, browser);
    await context.addInitScript(WATCH);
    const owner = { name: `Client ${IMAGE}${SCRIPT}`, email: 'owner@hostile.example' };
    const client = await signUp(page, demo.baseUrl, owner);
    const room = (path: string) => `${demo.baseUrl}/console/#/client/${client}/${path}`;
    const ask = async <T>(method: string, path: string, body?: object): Promise<T> =>
      (await page.evaluate(
        `(async () => {
          const { csrfToken } = await (await fetch('/console/api/session')).json();
          const answer = await fetch(${JSON.stringify(path)}, {
            method: ${JSON.stringify(method)},
            headers: { 'X-CSRF-Token': csrfToken, 'Tagcast-Client': ${JSON.stringify(client)} },
            ${body === undefined ? '' : `body: JSON.stringify(${JSON.stringify(body)}),`}
          });
          if (!answer.ok) throw new Error(await answer.text());
          return await answer.json();
        })()`,
      )) as T;
    const admin = `/push-admin-api/v3/${client}`;
    await ask('POST', `${admin}/apps`, {
      name: `App ${IMAGE}`,
      platformIds: [3, 15],
    });
    const group = await ask<{ id: number }>('POST', `${admin}/groups`, { name: `Group ${SCRIPT}` });
    const tag = await ask<{ id: number }>('POST', `${admin}/tags`, {
      name: `Tag ${IMAGE}`,
      sourceId: SCRIPT,
      groupId: group.id,
      tagOptionalParameters: { [IMAGE]: SCRIPT },
    });
    await ask('POST', `${admin}/keys`, { name: `Key ${SCRIPT}`, scopes: ['send', 'read'] });
    const { link } = await ask<{ link: string }>('POST', '/console/api/members', {
      role: 'publisher',
    });
    const post = async (
      path: string,
      body: object,
      more: Readonly<Record<string, string>> = {},
    ) => {
      const answer = await fetch(demo.baseUrl + path, {
        method: 'POST',
        headers: { 'Sec-Fetch-Site': 'same-origin', ...more },
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
      return { body: (await answer.json()) as unknown, headers: answer.headers };
    };
    const person = { email: PERSON, password: PASSWORD };
    await post('/console/api/register', { ...person, invitation: link.split('/').at(-1) });
    const session = await post('/console/api/session', person);
    const asPerson = {
      Cookie: session.headers.get('set-cookie')?.split(';')[0] ?? '',
      'X-CSRF-Token': (session.body as { readonly csrfToken: string }).csrfToken,
    };

    const dialog = page.getByRole('dialog');
    const shows = (text: string, within: Pick<Page, 'getByText'> = page) =>
      within.getByText(text).first().waitFor();
    const isText = async (what: string) => {
      t.strictSame(await page.evaluate('window.deeds'), [], `${what}: nothing ran or was stopped`);
      t.equal(await page.locator(MADE_OF_NAMES).count(), 0, `${what}: no element is made of it`);
    };
    const leave = async () => {
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    };

    await t.test('in the search over everything, and an address', async () => {
      await page.goto(room('overview'));
      await shows(owner.name);
      await page.keyboard.press('Control+k');
      await dialog.getByRole('combobox').fill('<img');
      for (const name of [`App ${IMAGE}`, `Tag ${IMAGE}`]) {
        await dialog.getByRole('option').filter({ hasText: name }).waitFor();
      }
      await isText('search');
      await leave();
      for (const path of [
        `client/${encodeURIComponent(IMAGE)}/overview`,
        encodeURIComponent(SCRIPT),
      ]) {
        await page.goto(`${demo.baseUrl}/console/#/${path}`);
        await page.getByRole('heading', { name: 'Page not found' }).first().waitFor();
      }
      await isText('address');
    });

    await t.test('in the tree of tags, its forms, and where one is moved or deleted', async (t) => {
      await page.goto(room(`tags/${tag.id}?q=${encodeURIComponent(IMAGE)}`));
      await page
        .getByRole('treeitem')
        .filter({ hasText: `Tag ${IMAGE}` })
        .waitFor();
      await page.getByRole('heading', { name: `Tag ${IMAGE}` }).waitFor();
      t.equal(await page.getByLabel('Optional parameters').inputValue(), `${IMAGE} = ${SCRIPT}`);
      await isText('tag');
      await page.getByRole('button', { name: 'Move…' }).click();
      await dialog.getByRole('heading', { name: `Move Tag ${IMAGE}` }).waitFor();
      await dialog.getByLabel('Group').selectOption({ label: `Group ${SCRIPT}` });
      await isText('moved');
      await leave();
      await page.getByRole('button', { name: 'Delete…' }).click();
      await dialog.getByRole('heading', { name: `Delete Tag ${IMAGE}?` }).waitFor();
      await isText('deleted');
      await leave();
      await page.goto(room(`tags/group/${group.id}`));
      await page.getByRole('heading', { name: `Group ${SCRIPT}` }).waitFor();
      await page.getByRole('button', { name: 'Delete…' }).click();
      await dialog.getByRole('heading', { name: `Delete Group ${SCRIPT}?` }).waitFor();
      await isText('group');
      await leave();
    });

    await t.test('in the pages of an app, of keys and of the team', async () => {
      await page.goto(room('apps'));
      await page.getByRole('link', { name: `App ${IMAGE}` }).click();
      await page.getByRole('heading', { name: `App ${IMAGE}` }).waitFor();
      await shows('Try it');
      await page.getByRole('button', { name: 'Delete app…' }).click();
      await dialog.getByRole('heading', { name: `Delete App ${IMAGE}?` }).waitFor();
      await isText('app');
      await leave();
      await page.goto(room('keys'));
      await page.getByRole('button', { name: `Revoke… Key ${SCRIPT}` }).click();
      await dialog.getByRole('heading', { name: `Revoke the key Key ${SCRIPT}?` }).waitFor();
      await isText('key');
      await leave();
      await page.goto(room('team'));
      await page.getByRole('row').filter({ hasText: PERSON }).waitFor();
      await isText('team');
      for (const [button, title] of [
        ['Reset password…', `Reset the password of ${PERSON}?`],
        ['Remove…', `Remove ${PERSON}?`],
      ] as const) {
        await page.getByRole('button', { name: `${button} ${PERSON}` }).click();
        await dialog.getByRole('heading', { name: title }).waitFor();
        await isText(button);
        await leave();
      }
    });

    let id = '';
    await t.test('in what is composed: previewed, confirmed', async () => {
      await page.goto(room('send'));
      await page
        .getByRole('combobox', { name: 'Send to people with any of these tags' })
        .fill('<img');
      await page.getByRole('option', { name: `Tag ${IMAGE}` }).click();
      await page.getByLabel('Title', { exact: true }).fill(`Title ${IMAGE}`);
      await page.getByLabel('Message', { exact: true }).fill(`Message ${SCRIPT} ${LINK}`);
      for (const phone of await page.locator('.phone').all()) {
        await shows(`Title ${IMAGE}`, phone);
        await shows(`Message ${SCRIPT} ${LINK}`, phone);
      }
      await page.getByText('JSON for each provider').click();
      await page.locator('pre.json').first().getByText('Message').waitFor();
      await isText('preview');
      await page.getByRole('button', { name: /^Send to 0/ }).click();
      await dialog.getByText(`Title ${IMAGE}`).waitFor();
      await isText('confirmation');
      await leave();
      const payload = {
        title: `Title ${IMAGE}`,
        message: `Message ${SCRIPT} ${LINK}`,
        data: { [IMAGE]: SCRIPT },
      };
      const push = { tagIds: [tag.id], payload };
      const sent = await post(`/push-api/v3/${client}/notifications`, push, asPerson);
      id = (sent.body as { readonly id: string }).id;
    });

    await t.test('in a notification, its timeline, the list and the overview', async () => {
      await page.goto(room(`notifications/${id}`));
      await page.getByRole('heading', { name: `Title ${IMAGE}` }).waitFor();
      await shows(`by ${PERSON}`);
      await shows(`by ${PERSON}`, page.locator('.timeline'));
      await shows(`Tag ${IMAGE}`);
      await page.getByText('Payload').first().click();
      await page.locator('pre.json').getByText('ran(3)').waitFor();
      await isText('notification');
      await page.goto(room('notifications'));
      await page.getByRole('link', { name: `Title ${IMAGE}` }).waitFor();
      await shows(`by ${PERSON}`);
      await isText('list');
      await page.goto(room('overview'));
      await shows(`“Title ${IMAGE}”`);
      await isText('overview');
    });

    await t.test('in the audit log', async () => {
      await page.goto(room('audit'));
      for (const name of [
        `App ${IMAGE}`,
        `Group ${SCRIPT}`,
        `Tag ${IMAGE}`,
        `Key ${SCRIPT}`,
        PERSON,
      ]) {
        await page.getByRole('row').filter({ hasText: name }).first().waitFor();
      }
      await isText('audit log');
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
