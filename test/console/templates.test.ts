/** The page Templates: written with a preview, faults with their place, used in a notification. */

import t from 'tap';
import { lookAtRoom, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { finalStatus } from '../support/client.ts';
import { makeConsoleClient, registerDevices } from '../support/console.ts';

t.setTimeout(240_000);

const IOS = 3;
const EXPRESSION = '{\n  "title": home & " – " & away,\n  "message": $string(score)\n}';

t.test('templates', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    await registerDevices(demo, { platformId: IOS, tagId, count: 1 });
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const dialog = page.getByRole('dialog');
    const shows = (text: string | RegExp) => page.getByText(text).first().waitFor();
    const expression = page.getByRole('textbox', { name: 'Template' });
    const sample = page.getByLabel('Sample');
    const save = page.getByRole('button', { name: 'Save template' });

    await t.test('faults are shown with their place', async (t) => {
      await page.goto(room('templates'));
      await page.getByRole('link', { name: 'Demo, iOS' }).click();
      await shows('Write a template first.');
      await expression.fill('{\n  "title": home & \n}');
      await page.getByRole('alert').getByText('is not a JSONata expression').waitFor();
      await shows(/^Line 3, column \d+/);
      t.ok(await save.isDisabled());
      await page.getByRole('button', { name: 'Show the place' }).click();
      t.ok(await expression.evaluate((element) => element === element.ownerDocument.activeElement));
      await expression.fill(EXPRESSION.replace('home &', '$sum(home) &'));
      await sample.fill('{"home": "FCB"}');
      await page
        .getByRole('alert')
        .getByText(/fails on this payload/)
        .waitFor();
      await shows(/^Line 2, column \d+/);
      await sample.fill('{"home": ');
      await shows('This is not JSON.');
      await shows('The sample has an error.');
    });

    await t.test('what it makes is shown while one types, and is saved', async (t) => {
      await expression.fill(EXPRESSION);
      await page.getByRole('button', { name: 'Fill with the fields of the template' }).click();
      t.strictSame(JSON.parse(await sample.inputValue()), {
        home: 'home',
        away: 'away',
        score: 'score',
      });
      await sample.fill('{"home": "FCB", "away": "BVB", "score": "1:0"}');
      const phone = page.locator('.phone');
      await phone.getByText('FCB – BVB').waitFor();
      await phone.getByText('1:0').waitFor();
      await shows(/^\d+ of 4,096 bytes$/);
      await save.click();
      await shows('Saved. New notifications use it.');
      await shows('Nothing has changed.');
      await lookAtRoom(t, page, 'template', room(`templates/${demo.appId}/${IOS}`));
      await lookAtRoom(t, page, 'templates', room('templates'));
    });

    await t.test('a notification is given its fields', async (t) => {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.goto(room('send'));
      await page.getByRole('button', { name: 'Advanced (expression)' }).click();
      await page.getByLabel('Expression', { exact: true }).fill(`#${tagId}`);
      await page.getByLabel('Fields for a template').selectOption('Demo, iOS');
      await page.getByLabel('Value of home').fill('FCB');
      await page.getByLabel('Value of away').fill('BVB');
      await page.getByLabel('Value of score').fill('2:0');
      await page.locator('.phone').getByText('FCB – BVB').waitFor();
      await shows('Goes to Demo, on iOS');
      await takePicture(page, 'send-template');
      await page.getByRole('button', { name: /^Send to 1 device…/ }).click();
      await dialog.getByRole('button', { name: 'Send to 1 device' }).click();
      await page.waitForURL(/notifications\/[0-9a-f-]{36}$/);
      const job = page.url().split('/').at(-1) ?? '';
      const [row] = await finalStatus(demo.baseUrl, demo, job);
      t.match(row, { successCount: 1 });
    });

    await t.test('it is deleted', async () => {
      await page.goto(room(`templates/${demo.appId}/${IOS}`));
      await page.getByRole('button', { name: 'Delete…' }).click();
      await dialog.getByRole('button', { name: 'Delete template' }).click();
      await shows('Write a template first.');
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
