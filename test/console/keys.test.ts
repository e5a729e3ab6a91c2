/** One further key on a page: its limits by names, who made it; renewed and revoked. */

import t from 'tap';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { makeConsoleClient } from '../support/console.ts';

t.setTimeout(240_000);

t.test('a key in detail', (t) =>
  withBrowser(t, async (t, browser) => {
    const { room, signIn, ownerEmail } = await makeConsoleClient();
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const dialog = page.getByRole('dialog');
    const shows = (text: string | RegExp) => page.getByText(text).first().waitFor();
    const factOf = async (name: string) =>
      page.locator('dl.facts div', { hasText: name }).locator('dd').first().textContent();

    await t.test('what it may do and reach, and who made it', async (t) => {
      await page.goto(room('keys'));
      await page.getByRole('button', { name: 'New key' }).first().click();
      await dialog.getByLabel('Name').fill('Sports desk');
      await dialog.getByLabel('Only these tags').fill('breaking-news');
      await dialog.getByLabel('Maximum devices per send').fill('5000');
      await dialog.getByRole('button', { name: 'Create' }).click();
      await shows(/^tck_/);
      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('link', { name: 'Sports desk' }).click();
      await page.getByRole('heading', { name: 'Details' }).waitFor();
      t.equal(await factOf('Permissions'), 'Send, Read');
      t.equal(await factOf('Tags'), 'Breaking news');
      t.equal(await factOf('Maximum devices'), '5,000');
      t.equal(await factOf('Expires'), 'Never');
      t.equal(await factOf('Last used'), 'Never');
      t.match(await factOf('Created'), new RegExp(`by ${ownerEmail}$`));
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], look);
        await takePicture(page, `key-${look}`);
      }
      await page.setViewportSize(LOOKS.light.viewport);
    });

    await t.test('renewed: another one with the same limits, then the old one goes', async (t) => {
      const old = page.url();
      await page.getByRole('button', { name: 'Renew…' }).click();
      await dialog.getByText('The same access: Send, Read · 1 tag.').waitFor();
      t.equal(await dialog.getByLabel('Maximum devices per send').inputValue(), '5000');
      await dialog.getByLabel('Name').fill('Sports desk 2027');
      await dialog.getByRole('button', { name: 'Create' }).click();
      await shows(/^tck_/);
      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('link', { name: 'Sports desk 2027' }).click();
      await page.getByRole('heading', { name: 'Sports desk 2027' }).waitFor();
      t.equal(await factOf('Tags'), 'Breaking news');
      await page.goto(old);
      await page.getByRole('heading', { name: 'Sports desk', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Revoke…' }).click();
      await dialog.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('rowheader', { name: 'Sports desk 2027' }).waitFor();
      // The list shows what it had until it is read again.
      const gone = page.getByRole('rowheader', { name: 'Sports desk', exact: true });
      await gone.waitFor({ state: 'detached' });
      t.equal(await page.getByRole('rowheader').count(), 1);
      await page.goto(old);
      await shows('This key does not exist.');
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
