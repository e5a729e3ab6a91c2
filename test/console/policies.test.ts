/** Categories and their limits: made in the settings, chosen for a notification, shown of it. */

import t from 'tap';
import { lookAtRoom, openPage, withBrowser } from '../support/browser.ts';
import { appOf, finalStatus, push } from '../support/client.ts';
import { makeConsoleClient } from '../support/console.ts';

t.setTimeout(240_000);

const IOS = 3;

t.test('categories and limits', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    for (const digit of ['1', '2']) {
      const body = { appId: demo.appId, platformId: IOS, deviceId: `${digit}5`.repeat(32), tagId };
      await appOf(demo).request('POST', '/push-api/reg', { body });
    }
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const shows = (text: string | RegExp) => page.getByText(text).first().waitFor();
    const save = page.getByRole('button', { name: 'Save' }).last();

    await t.test('they are made; what is wrong is said at its field', async (t) => {
      await page.goto(room('settings'));
      await shows('No categories yet: every notification goes to its whole audience.');
      await page.getByRole('button', { name: 'Add category' }).click();
      await page.getByLabel('Name', { exact: true }).fill('News');
      await save.click();
      await shows(/small letter/);
      await page.getByLabel('Name', { exact: true }).fill('news');
      await page.getByRole('button', { name: 'Add limit' }).click();
      await page.getByLabel('Notifications at most').fill('1');
      await page.getByRole('button', { name: 'Add category' }).click();
      await page.getByLabel('Name', { exact: true }).nth(1).fill('breaking');
      await save.click();
      await shows('Saved. It applies to notifications from now on.');
      await lookAtRoom(t, page, 'policies', room('settings'));
    });

    await t.test('one is chosen for a notification', async (t) => {
      await page.goto(room('send'));
      const category = page.getByLabel('Category');
      await category.waitFor();
      t.same(await category.locator('option').allInnerTexts(), ['news (default)', 'breaking']);
      await category.selectOption('breaking');
      await lookAtRoom(t, page, 'send-category', room('send'));
    });

    await t.test('a notification says whom a limit has held back', async (t) => {
      await finalStatus(demo.baseUrl, demo, await push(demo.baseUrl, demo, [tagId]));
      const job = await push(demo.baseUrl, demo, [tagId], { title: 'again' });
      await finalStatus(demo.baseUrl, demo, job);
      await page.goto(room(`notifications/${job}`));
      await page.getByText('held back by a limit').first().waitFor();
      await lookAtRoom(t, page, 'held-back', room(`notifications/${job}`));
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
