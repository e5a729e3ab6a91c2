/** The page Segments: made while it is counted, used, changed, deleted unless another names it. */

import t from 'tap';
import { lookAtRoom, openPage, withBrowser } from '../support/browser.ts';
import { appOf } from '../support/client.ts';
import { makeConsoleClient } from '../support/console.ts';

t.setTimeout(240_000);

const IOS = 3;

t.test('segments', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const { appId } = demo;
    const [tagId = 0] = demo.tagIds;
    for (const [digit, language] of [
      ['1', 'de-CH'],
      ['2', 'fr'],
    ] as const) {
      const deviceId = `${digit}5`.repeat(32);
      await appOf(demo).request('POST', '/push-api/reg', {
        body: { appId, platformId: IOS, deviceId, tagId, attributes: { language } },
      });
    }
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const dialog = page.getByRole('dialog');
    const shows = (text: string | RegExp) => page.getByText(text).first().waitFor();
    const expression = page.getByRole('textbox', { name: 'Expression' });
    const counts = (text: string) => page.getByRole('heading', { name: text, exact: true });

    await t.test('one is made; it is counted while one types', async (t) => {
      await page.goto(room('segments'));
      await shows('No segments yet');
      await page.getByRole('button', { name: 'New segment' }).click();
      await shows('Enter a name first.');
      await page.getByLabel('Name', { exact: true }).fill('german');
      await shows('Write an expression first.');
      await expression.fill(`#${tagId}`);
      await counts('2 devices').waitFor();
      await expression.fill('@language = de');
      await counts('1 device').waitFor();
      await expression.fill('@language > de');
      await shows(/it takes = in and no >/);
      await expression.fill('@langage = de');
      await shows(/no attribute "langage"; the nearest is/);
      await page.getByRole('button', { name: 'Create segment' }).click();
      await page.getByRole('alert').getByText('Expression:').waitFor();
      await expression.fill('@language = de || @language = it');
      await shows('No device has this value of language: it.');
      await page.getByLabel('Description').fill('Read German');
      await page.getByRole('button', { name: 'Create segment' }).click();
      const row = page.getByRole('row', { name: /german/ });
      await row.getByText('@language = de || @language = it').waitFor();
      await row.getByText('Read German').waitFor();
      await lookAtRoom(t, page, 'segments', room('segments'));
    });

    await t.test('one that names it is made, too; both are changed', async (t) => {
      await page.goto(room('segments/new'));
      await page.getByLabel('Name', { exact: true }).fill('a/b ü');
      await expression.fill('!$german');
      await counts('1 device').waitFor();
      await page.getByRole('button', { name: 'Create segment' }).click();
      await page.getByRole('link', { name: 'a/b ü' }).click();
      await page.getByRole('heading', { name: 'a/b ü' }).waitFor();
      await shows('Nothing has changed.');
      await expression.fill(`#${tagId} && !$german`);
      await counts('1 device').waitFor();
      await page.getByRole('button', { name: 'Save' }).click();
      await shows('Saved. New notifications use it.');
      await lookAtRoom(t, page, 'segment', room('segments/one/german'));
    });

    await t.test('one that another names is not deleted; then it is', async () => {
      await page.getByRole('button', { name: 'Delete…' }).click();
      await dialog.getByRole('button', { name: 'Delete segment' }).click();
      await dialog.getByRole('alert').getByText('The segment "a/b ü" names this one.').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      for (const name of ['a/b ü', 'german']) {
        await page.goto(room('segments'));
        await page.getByRole('link', { name }).click();
        await page.getByRole('button', { name: 'Delete…' }).click();
        await dialog.getByRole('button', { name: 'Delete segment' }).click();
        await page.getByRole('heading', { name: 'Segments', level: 1 }).waitFor();
      }
      await shows('No segments yet');
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
