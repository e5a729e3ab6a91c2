/** The search over everything, the addresses that it leads to, and drafts that are forgotten. */

import t from 'tap';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { makeConsoleClient, registerDevices } from '../support/console.ts';
import { holdBack } from '../support/held-answers.ts';
import { until } from '../support/poll.ts';

t.setTimeout(180_000);

t.test('found by a key, opened by a key', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    await registerDevices(demo, { platformId: 3, tagId, count: 1 });
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const dialog = page.getByRole('dialog', { name: 'Search' });
    const field = dialog.getByRole('combobox');
    const heading = (name: string | RegExp) =>
      page.getByRole('heading', { name }).first().waitFor();

    await t.test('a page, by the keyboard alone', async (t) => {
      await page.keyboard.press('Control+k');
      await field.fill('a');
      await dialog.getByRole('option', { name: 'Apps' }).waitFor();
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], look);
        await takePicture(page, `search-${look}`);
      }
      await page.setViewportSize(LOOKS.light.viewport);
      await field.fill('audit');
      await page.keyboard.press('Enter');
      await heading('Audit log');
      await dialog.waitFor({ state: 'detached' });
    });

    await t.test('left by Escape; opened by its button', async (t) => {
      await page.getByRole('button', { name: 'Search' }).click();
      await field.fill('nothing has such a name');
      await dialog.getByText('No results.').waitFor();
      await page.keyboard.press('Enter');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      t.match(page.url(), /\/audit$/, 'nothing was opened');
    });

    await t.test('a tag, an app and what can be made', async (t) => {
      await page.keyboard.press('Control+k');
      await field.fill('new');
      const options = dialog.getByRole('option');
      await options.filter({ hasText: 'New tag' }).click();
      const form = page.getByRole('dialog', { name: 'New tag' });
      await form.waitFor();
      t.match(page.url(), /\/tags\?new=tag$/);
      await form.getByLabel('Name', { exact: true }).fill('Goals of the day');
      await form.getByRole('button', { name: 'New tag' }).click();
      await heading('Goals of the day');
      t.notMatch(page.url(), /new=/, 'a reload makes no second one');

      await page.keyboard.press('Control+k');
      await field.fill('OF THE DAY');
      await options.filter({ hasText: 'Goals of the day' }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      await heading('Goals of the day');
    });

    await t.test('what was walked to stays marked when others come before it', async () => {
      const apps = /\/apps$/;
      const next = await holdBack(page, apps);
      await page.keyboard.press('Control+k');
      const late = await next();
      await field.fill('e');
      const marked = dialog.getByRole('option', { selected: true });
      const tennis = dialog.getByRole('option', { name: 'Tennis' });
      await tennis.waitFor();
      await until('it is walked to', async () => {
        if ((await marked.textContent())?.includes('Tennis')) return true;
        await page.keyboard.press('ArrowDown');
        return null;
      });
      await late.give();
      await dialog.getByRole('option', { name: 'Demo' }).waitFor();
      await page.keyboard.press('Enter');
      await heading('Tennis');
      await page.unroute(apps);
    });

    await t.test('a device by its token, which is in no address', async (t) => {
      await page.keyboard.press('Control+k');
      await field.fill('cd'.repeat(32));
      await dialog.getByRole('option', { name: 'Find this device' }).click();
      const token = page.getByLabel('Device token');
      await token.waitFor();
      t.equal(await token.inputValue(), 'cd'.repeat(32));
      t.notMatch(page.url(), /cdcd/);
    });

    await t.test('signing out forgets the draft, a session that ends does not', async (t) => {
      const send = room('send');
      const draft = () => page.evaluate(`localStorage.getItem('tagcast-draft-${demo.clientId}')`);
      await page.goto(send);
      await page.getByLabel('Title', { exact: true }).fill('Not for the next one');
      t.match(await draft(), /Not for the next one/);
      await page.goto(`${demo.baseUrl}/console/#/account`);
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByLabel('E-mail').waitFor();
      t.equal(await draft(), null);
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
