/** The dialog between the button and the send: no notification is sent by accident. */

import t from 'tap';
import { openPage, withBrowser } from '../support/browser.ts';
import { confirmAbove, makeConsoleClient, registerDevices } from '../support/console.ts';

t.setTimeout(180_000);

const IPHONES = 3;

t.test('confirming a send', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    await registerDevices(demo, { platformId: 3, tagId, count: IPHONES });
    const headers = { Authorization: `Bearer ${demo.superUser.token}` };
    const read = async (path: string): Promise<unknown> =>
      (await fetch(`${demo.baseUrl}/${path}`, { headers })).json();
    const countSent = async (): Promise<number> =>
      ((await read(`push-api/v3/${demo.clientId}/notifications`)) as readonly unknown[]).length;
    const readSettings = () => read(`push-admin-api/v3/${demo.clientId}/settings`);
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const dialog = page.getByRole('dialog');
    const typed = dialog.getByLabel(`Type the number of devices, ${IPHONES}`);
    const deed = dialog.getByRole('button', { name: `Send to ${IPHONES} devices` });
    const focused = () => page.evaluate('document.activeElement?.textContent');
    const gone = () => dialog.waitFor({ state: 'detached' });
    const compose = async (title: string): Promise<void> => {
      await page.goto(room('send'));
      await page.getByRole('button', { name: 'Advanced (expression)' }).click();
      await page.getByLabel('Expression', { exact: true }).fill(`#${tagId}`);
      await page.getByLabel('Title', { exact: true }).fill(title);
      await page.getByRole('button', { name: `Send to about ${IPHONES} devices…` }).waitFor();
    };

    await t.test('two Enters send nothing: the first is on Cancel', async (t) => {
      await compose('By accident');
      await page.keyboard.press('Control+Enter');
      await deed.and(page.locator(':enabled')).waitFor();
      t.equal(await focused(), 'Cancel');
      await page.keyboard.press('Enter');
      await gone();
      t.equal(await countSent(), 0);
    });

    await t.test('above the limit the count is typed, which changes no limit', async (t) => {
      await confirmAbove(demo, IPHONES - 1);
      await page.keyboard.press('Control+Enter');
      await typed.waitFor();
      t.ok(await typed.evaluate((field) => field === field.ownerDocument.activeElement));
      t.equal(await dialog.locator('input').count(), 1, 'the limit is no field of the dialog');
      for (const wrong of ['', `${IPHONES}0`]) {
        await typed.fill(wrong);
        await page.keyboard.press('Enter');
        t.ok(await deed.isDisabled(), `"${wrong}"`);
      }
      t.equal(await countSent(), 0);
      await typed.fill(`${IPHONES}`);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'By accident', level: 1 }).waitFor();
      t.equal(await countSent(), 1);
      t.strictSame(await readSettings(), { confirmAboveDevices: IPHONES - 1 });
      await compose('Again');
      await page.keyboard.press('Control+Enter');
      await typed.waitFor();
      await page.keyboard.press('Escape');
      await gone();
    });

    await t.test('an owner changes the limit on the page Settings', async (t) => {
      await page.goto(room('settings'));
      const limit = page.getByLabel('Require typing the count above');
      t.equal(await limit.inputValue(), `${IPHONES - 1}`);
      await limit.fill(`${IPHONES}`);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
      t.strictSame(await readSettings(), { confirmAboveDevices: IPHONES });
      await limit.fill('3000000000');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('input[aria-invalid="true"]').waitFor();
      await page.goto(room('send'));
      await page.getByRole('button', { name: `Send to about ${IPHONES} devices…` }).click();
      await deed.and(page.locator(':enabled')).waitFor();
      t.equal(await typed.count(), 0);
      await page.keyboard.press('Escape');
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
