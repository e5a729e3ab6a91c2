/** Previews of a phone while somebody composes: cut, counted, with the picture; faulty links. */

import t from 'tap';
import type { Locator } from '../support/browser.ts';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { makeConsoleClient } from '../support/console.ts';

t.setTimeout(240_000);

const IMAGE = 'https://pictures.example/goal.svg';
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><rect width="90" height="60" fill="green"/></svg>';
const LONG = 'Extra time, and the winner came in the 118th minute. '.repeat(8);

t.test('previews', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const { page, complaints } = await openPage(t, browser);
    const pictures: string[] = [];
    await page.route(/^https:/, (asked) => {
      pictures.push(asked.request().url());
      return asked.request().url() === IMAGE
        ? asked.fulfill({ contentType: 'image/svg+xml', body: SVG })
        : asked.fulfill({ status: 404, body: '' });
    });
    await signIn(page);
    await page.goto(room('send'));
    await page.getByRole('button', { name: 'Advanced (expression)' }).click();
    await page.getByLabel('Expression', { exact: true }).fill(`#${demo.tagIds[0]}`);
    const [iphone, android] = [page.locator('.phone').nth(0), page.locator('.phone').nth(1)];
    const linesOf = async (phone: Locator): Promise<number> =>
      Number(
        await phone.locator('p').evaluate((text) => {
          const { getComputedStyle } = text.ownerDocument.defaultView ?? {};
          const lineHeight = Number.parseFloat(getComputedStyle?.(text).lineHeight ?? '');
          return Math.round(text.clientHeight / lineHeight);
        }),
      );

    await t.test('characters are counted as people count them', async () => {
      await page.getByLabel('Title', { exact: true }).fill('Goal! 👩‍👩‍👧');
      await page.getByText('7 characters').waitFor();
      await page.getByLabel('Message', { exact: true }).fill(LONG);
      await page.getByText(`${LONG.length} characters`).waitFor();
    });

    await t.test('cut as phones cut it', async (t) => {
      t.equal(await linesOf(iphone), 4);
      t.equal(await linesOf(android), 1);
      await page.getByLabel('Title', { exact: true }).fill(LONG);
      for (const phone of [iphone, android]) {
        const isCut = await phone
          .locator('b span')
          .evaluate((title) => title.scrollWidth > title.clientWidth);
        t.ok(isCut);
      }
    });

    await t.test('a link that no phone opens has a fault, an image too', async (t) => {
      const link = page.getByLabel('Link (opens when tapped)');
      const fault = page.getByText('This link will not open');
      for (const url of ['www.kurier.example', 'kurier.example:8080/a', '/goal', 'kurier']) {
        await link.fill(url);
        await fault.waitFor();
        t.equal(await link.getAttribute('aria-invalid'), 'true', url);
      }
      for (const url of ['https://kurier.example', 'kurier://goal/1', 'tel:110', '']) {
        await link.fill(url);
        await fault.waitFor({ state: 'detached' });
        t.equal(await link.getAttribute('aria-invalid'), null, url);
      }
      await link.fill('kurier://goal/1');
      await page.getByText('Opens in the app only').waitFor();
      const image = page.getByLabel('Image URL');
      await image.fill('http://pictures.example/goal.svg');
      await page.getByText('This address does not begin with https://.').waitFor();
    });

    await t.test('the picture is shown, once its address is typed', async (t) => {
      const image = page.getByLabel('Image URL');
      await image.fill('');
      // The pause of somebody who has typed it passes on the page's clock, and in no other pause.
      await page.clock.install();
      await page.clock.pauseAt(Date.now() + 1_000);
      await image.pressSequentially(IMAGE);
      await page.clock.resume();
      for (const phone of [iphone, android]) await phone.getByRole('img').waitFor();
      t.strictSame([...new Set(pictures)], [IMAGE], 'no part of the address was asked for');
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], look);
        await takePicture(page, `previews-${look}`);
      }
      await image.fill('https://pictures.example/none.svg');
      await iphone.getByText('The image could not be loaded.').waitFor();
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
