/** The tree of tags in a browser: made, moved by keyboard and by drag, changed, deleted. */

import t from 'tap';
import { axeFaults, openPage, withBrowser } from '../support/browser.ts';
import { makeConsoleClient, registerDevices } from '../support/console.ts';
import { holdBack } from '../support/held-answers.ts';
import { until } from '../support/poll.ts';

t.setTimeout(240_000);

const DEVICES = 2;
const LONG = 'A name as long as a name may be, which no row of a tree has room for. '.repeat(3);

interface Tag {
  readonly id: number;
  readonly name: string;
  readonly groupId?: number;
  readonly expiration?: number;
  readonly tagOptionalParameters?: Readonly<Record<string, string>>;
}

t.test('the tree by keyboard and mouse', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    await registerDevices(demo, { platformId: 3, tagId, count: DEVICES });
    const ask = async <T>(path: string): Promise<T> => {
      const answer = await fetch(`${demo.baseUrl}/push-admin-api/v3/${demo.clientId}/${path}`, {
        headers: { Authorization: `Bearer ${demo.superUser.token}` },
      });
      return (await answer.json()) as T;
    };
    const tagNow = () => ask<Tag>(`tags/${tagId}`);
    const { name } = await tagNow();
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    await page.goto(room('tags'));
    const tree = page.getByRole('tree');
    const row = (text: string) => page.getByRole('treeitem').filter({ hasText: text });
    const dialog = page.getByRole('dialog');
    const groupNow = (groupId: number | undefined) =>
      until('it is in its group', async () => ((await tagNow()).groupId === groupId ? true : null));

    await t.test('a tag that is made while an older list is on its way', async (t) => {
      await row(name).waitFor();
      const next = await holdBack(page, /\/tags\?groupId=0/);
      await page.reload();
      const old = await next();
      await page.getByRole('button', { name: 'New tag' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill(LONG);
      await dialog.getByLabel('Optional parameters').fill('colour red');
      await dialog.getByText('Each line needs a name, = and a value.').waitFor();
      await dialog.getByRole('button', { name: 'New tag' }).click();
      t.equal(await dialog.count(), 1, 'what is faulty is not sent');
      await dialog.getByLabel('Optional parameters').fill('colour = red');
      await dialog.getByRole('button', { name: 'New tag' }).click();
      const newer = await next();
      await newer.give();
      await row(LONG.trim()).waitFor();
      await old.give();
      t.equal(await row(LONG.trim()).count(), 1);
      await page.unroute(/\/tags\?groupId=0/);
      const widthPx = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      t.ok(Number(widthPx) <= 0, 'as wide as the window');
      t.strictSame(await axeFaults(page), []);
    });

    await t.test('a group, and one in it that is renamed', async () => {
      await page.getByRole('button', { name: 'New group' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('Clubs');
      await dialog.getByRole('button', { name: 'New group' }).click();
      await row('Clubs').waitFor();
      await page.getByRole('button', { name: 'New group' }).click();
      await dialog.getByLabel('Name', { exact: true }).fill('Munich');
      await dialog.getByLabel('Parent group').selectOption('Clubs');
      await dialog.getByRole('button', { name: 'New group' }).click();
      await dialog.waitFor({ state: 'detached' });
      await row('Clubs').click();
      await row('Munich').click();
      await page.getByRole('heading', { name: 'Munich' }).waitFor();
      await page.getByLabel('Name', { exact: true }).fill('München');
      await page.getByRole('button', { name: 'Save' }).click();
      await row('München').waitFor();
    });

    const groups = await ask<readonly { readonly id: number; readonly name: string }[]>('groups');
    const idOf = (wanted: string) => groups.find((group) => group.name === wanted)?.id;

    await t.test('moved by keyboard: walked to, M, a group chosen, Enter', async (t) => {
      await tree.focus();
      await tree.press('Home');
      await until('the row is walked to', async () => {
        const at = await tree.getAttribute('aria-activedescendant');
        if (at === `tree-t${tagId}`) return true;
        await tree.press('ArrowDown');
        return null;
      });
      await tree.press('m');
      await dialog.getByRole('heading', { name: `Move ${name}` }).waitFor();
      await dialog.getByLabel('Group').selectOption('Clubs');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await groupNow(idOf('Clubs'));
      const focused = await page.evaluate("document.activeElement?.getAttribute('role')");
      t.equal(focused, 'tree', 'it has the focus again');
    });

    await t.test('moved by drag, into the group and out of it', async () => {
      await row(name).dragTo(row('München'));
      await groupNow(idOf('München'));
      const level = (number: number) =>
        page.locator(`[role=treeitem][aria-level="${number}"]`, { hasText: name }).waitFor();
      await level(3);
      await row(name).dragTo(row('Without a group'));
      await groupNow(undefined);
      await level(2);
    });

    await t.test('its end and its parameters; what is faulty takes nothing away', async (t) => {
      await row(name).first().click();
      await page.getByRole('heading', { name }).waitFor();
      const parameters = page.getByLabel('Optional parameters');
      await parameters.fill('colour = red\nteam = FCB');
      await page.getByLabel('Expires', { exact: true }).fill('2031-05-01T20:30');
      const moved = await fetch(`${demo.baseUrl}/push-admin-api/v3/${demo.clientId}/tags/${tagId}`, {
        method: 'PATCH',
        headers: { Authorization: `Bearer ${demo.superUser.token}` },
        body: JSON.stringify({ groupId: idOf('Clubs') }),
      });
      t.equal(moved.status, 200, await moved.text());
      const own = new RegExp(`/tags/${tagId}$`);
      const next = await holdBack(page, own);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
      const saved = await tagNow();
      t.strictSame(saved.tagOptionalParameters, { colour: 'red', team: 'FCB' });
      t.equal(saved.expiration, new Date('2031-05-01T20:30').getTime());
      t.equal(saved.groupId, idOf('Clubs'), 'where somebody else has moved it meanwhile');

      await parameters.fill('colour red');
      await page.getByText('Each line needs a name, = and a value.').waitFor();
      const read = await next();
      await read.give();
      t.equal(await parameters.inputValue(), 'colour red', 'what is typed before it is read again');
      await page.unroute(own);
      await page.getByRole('button', { name: 'Save' }).click();
      t.strictSame((await tagNow()).tagOptionalParameters, { colour: 'red', team: 'FCB' });
      t.equal(await parameters.inputValue(), 'colour red', 'what was typed stays');
    });

    await t.test(
      'deleted: it says how many devices lose it, and asks for the number',
      async (t) => {
        await page.getByRole('button', { name: 'Delete…' }).click();
        await dialog.getByText(`${DEVICES} devices lose this tag.`).waitFor();
        const deed = dialog.getByRole('button', { name: 'Delete' });
        t.ok(await deed.isDisabled());
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        await page.getByRole('button', { name: 'Delete…' }).click();
        await dialog.getByLabel('Type the number of devices').fill(`${DEVICES}`);
        await deed.click();
        await dialog.waitFor({ state: 'detached' });
        await row(name).waitFor({ state: 'detached' });
        t.match(page.url(), /\/tags$/);
      },
    );

    await t.test('a group that is not empty says so', async () => {
      await row('Clubs').click();
      await page.getByRole('button', { name: 'Delete…' }).click();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
