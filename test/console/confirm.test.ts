/** The dialog between the button and the send: no notification is sent by accident. */

import t from 'tap';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { finalStatus, post, push } from '../support/client.ts';
import { confirmAbove, makeConsoleClient, registerDevices } from '../support/console.ts';
import { holdBack } from '../support/held-answers.ts';

t.setTimeout(180_000);

const IPHONES = 3;
const ANDROIDS = 2;
const DAY_MS = 86_400_000;
const IMAGE = 'https://pictures.example/goal.png';
/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

t.test('confirming a send', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, service, signIn } = await makeConsoleClient();
    const [tagId = 0, otherId = 0, allId = 0, noneId = 0] = demo.tagIds;
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
    /** The names of the tags, and a way to register a device for some of them. */
    const audience = async () => {
      const all = (await read(`push-admin-api/v3/${demo.clientId}/tags`)) as readonly {
        readonly id: number;
        readonly name: string;
      }[];
      const register = async (platformId: number, deviceId: string, tagIds: readonly number[]) => {
        const device = { appId: demo.appId, platformId, deviceId, tagId: tagIds };
        const answer = await post(`${demo.baseUrl}/push-api/reg`, demo.apiUser.token, device);
        t.equal(await answer.text(), 'OK');
      };
      return { tags: Object.fromEntries(all.map(({ id, name }) => [id, name])), register };
    };
    const compose = async (title: string): Promise<void> => {
      await page.goto(room('send'));
      await page.getByLabel('Title', { exact: true }).waitFor();
      // The draft of before is an expression.
      const advanced = page.getByRole('button', { name: 'Advanced (expression)' });
      if (await advanced.isVisible()) await advanced.click();
      await page.getByLabel('Expression', { exact: true }).fill(`#${tagId}`);
      await page.getByLabel('Title', { exact: true }).fill(title);
      await page.getByRole('button', { name: `Send to ${IPHONES} devices…` }).waitFor();
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
      t.strictSame(await readSettings(), { confirmAboveDevices: IPHONES - 1, undoSeconds: 0 });
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
      const saved = page.getByText('Saved.');
      // The policies have one of their own.
      const form = page.locator('form').filter({ has: limit });
      const save = form.getByRole('button', { name: 'Save' });
      await save.click();
      await saved.waitFor();
      await limit.fill(`${IPHONES}`);
      await saved.waitFor({ state: 'detached' });
      await save.click();
      await saved.waitFor();
      t.strictSame(await readSettings(), { confirmAboveDevices: IPHONES, undoSeconds: 0 });
      await limit.fill('3000000000');
      await save.click();
      await page.locator('input[aria-invalid="true"]').waitFor();
      await page.goto(room('send'));
      await page.getByRole('button', { name: `Send to ${IPHONES} devices…` }).click();
      await deed.and(page.locator(':enabled')).waitFor();
      t.equal(await typed.count(), 0);
      await page.keyboard.press('Escape');
    });

    const open = async (): Promise<void> => {
      const button = page.getByRole('button', { name: `Send to ${IPHONES} devices…` });
      await button.and(page.locator(':enabled')).click();
    };
    const close = async (): Promise<void> => {
      await page.keyboard.press('Escape');
      await gone();
    };

    await t.test(
      'what repeats another: one for later, one sent late, none without text',
      async (t) => {
        const { sql } = service.store;
        const sendAt = Date.now() + DAY_MS;
        const later = await push(demo.baseUrl, demo, [noneId], { title: 'Kick-off' }, { sendAt });
        await compose('Kick-off');
        await open();
        await dialog.getByText('The same text is scheduled for').waitFor();
        await close();
        await page.goto(room('overview'));
        await page.getByText('“Kick-off” is scheduled for').waitFor();
        const jobs = `${demo.baseUrl}/push-api/v3/${demo.clientId}/notifications`;
        await post(`${jobs}/${later}/cancel`, demo.superUser.token, {});
        await page.getByText('“Kick-off” was cancelled before it was sent.').waitFor();
        const late = await push(demo.baseUrl, demo, [noneId], { title: 'Half-time' });
        await finalStatus(demo.baseUrl, demo, late);
        // It was scheduled yesterday, and went out five minutes ago.
        await sql`
        update notifications set accepted_at = now() - interval '1 day', first_send_at = now() - interval '5 minutes'
        where id = ${late}::uuid`;
        await compose('Half-time');
        await open();
        await dialog.getByText('The same text was sent 5 minutes ago.').waitFor();
        await close();
        await push(demo.baseUrl, demo, [noneId], { silent: true });
        await compose('');
        await page.getByText('More options').click();
        await page.getByLabel('Silent').check();
        await open();
        await deed.and(page.locator(':enabled')).waitFor();
        t.equal(await dialog.getByText('The same text').count(), 0);
        await close();
      },
    );

    await t.test('what cannot be read is taken for the worst', async (t) => {
      const unknown = dialog.getByText('Could not check recent notifications');
      const failing = { status: 500 };
      for (const url of [/\/settings$/, /\/estimate$/]) {
        await compose('Not counted');
        await page.route(url, (asked) => asked.fulfill(failing));
        await open();
        await typed.waitFor();
        t.ok(await dialog.getByRole('button', { name: /^Send to/ }).isDisabled(), `${url}`);
        await close();
        await page.unroute(url);
      }
      const list = /\/notifications\?limit=\d+&from=/;
      await page.route(list, (asked) => asked.fulfill(failing));
      await open();
      await unknown.waitFor();
      await deed.and(page.locator(':enabled')).waitFor();
      await close();
      await page.unroute(list);
      await open();
      await deed.and(page.locator(':enabled')).waitFor();
      t.equal(await unknown.count(), 0);
      await close();
      // A list that ends within half an hour.
      await page.route(list, async (asked) => {
        const response = await asked.fetch();
        const [row] = (await response.json()) as readonly unknown[];
        await asked.fulfill({ response, json: Array.from({ length: 100 }, () => row) });
      });
      await open();
      await unknown.waitFor();
      await close();
      await page.unroute(list);
    });

    await t.test('what people will not get is named: an image, tags that are unknown', async () => {
      const image = 'http://pictures.example/goal.png';
      await compose('Without its picture');
      await page.getByLabel('Expression', { exact: true }).fill(`#${tagId} || nobody-has-it`);
      await page.getByLabel('Image URL').fill(image);
      await page.getByText('Unknown tags: nobody-has-it.').waitFor();
      await open();
      await dialog.getByText('Unknown tags: nobody-has-it.').waitFor();
      await dialog.getByText(image).waitFor();
      await dialog.getByText('This address does not begin with https://.').waitFor();
      await close();
    });

    let sent = '';
    await t.test('all of it stands in the dialog, in every look', async (t) => {
      const { tags, register } = await audience();
      for (let n = 0; n < ANDROIDS; n += 1) await register(15, `${n}`.repeat(64), [otherId, allId]);
      await register(3, 'ab'.repeat(32), [tagId, allId]);
      await register(3, 'cd'.repeat(32), [tagId, allId, noneId]);
      const payload = {
        title: 'Goal! 2:1',
        message: 'Extra time.',
        url: 'www.kurier.example/goal',
        image: IMAGE,
      };
      sent = await push(demo.baseUrl, demo, [tagId, otherId], payload, {
        filterTagIds: [allId],
        excludeTagIds: [noneId],
      });
      await finalStatus(demo.baseUrl, demo, sent);
      await page.route(IMAGE, (asked) => asked.fulfill({ contentType: 'image/png', body: PNG }));
      await page.goto(room(`notifications/${sent}`));
      const excluded = new RegExp(`/tags\\?ids=${noneId}&`);
      await page
        .getByText(tags[noneId] ?? '')
        .first()
        .waitFor();
      await page.route(excluded, (asked) => asked.fulfill({ status: 500 }));
      await page.getByRole('button', { name: 'Duplicate' }).click();
      await page.getByRole('alert').first().waitFor();
      t.match(page.url(), sent, 'no draft that lacks what was excluded');
      await page.unroute(excluded);
      await page.getByRole('button', { name: 'Duplicate' }).click();
      await page.getByLabel('Urgent').check();
      await page.getByLabel('Expires after').selectOption('1 hour');
      await page.getByText('Schedule', { exact: true }).click();
      await page.getByLabel('Send at').fill('2031-05-01T20:30');
      await page.getByRole('button', { name: 'Schedule for 3 devices…' }).click();
      await dialog.getByText('The same text was sent').waitFor();
      await dialog.getByText('“Goal! 2:1” went to the same tags').waitFor();
      await dialog.getByText('Goal! 2:1', { exact: true }).waitFor();
      await dialog.getByText('Extra time.', { exact: true }).waitFor();
      await dialog.getByText('Urgent: jump the queue').waitFor();
      await dialog.getByText('This link will not open').waitFor();
      await dialog.getByText('iOS 1 · Android 2').waitFor();
      const rows = await dialog.locator('dl.facts div').allInnerTexts();
      const facts = rows.map((row) => row.replaceAll(/\s+/g, ' ')).join('; ');
      const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
      for (const fact of [
        'Link www.kurier.example/goal',
        `Any of ${tags[tagId]}, ${tags[otherId]}`,
        `All of ${tags[allId]}`,
        `Excluded ${tags[noneId]}`,
        'Devices iOS 1 · Android 2',
        'Expires after 1 hour',
      ]) {
        t.match(facts, fact);
      }
      t.match(facts, new RegExp(`When .*2031.*8:30.*\\(${zone}\\)`));
      const picture = dialog.getByRole('img', { name: 'The image of the notification' });
      await picture.waitFor();
      await page.evaluate("document.querySelector('dialog img.picture').decode()");
      t.equal(await picture.evaluate((image) => 'naturalWidth' in image && image.naturalWidth), 1);
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page, 'dialog'), [], look);
        await takePicture(page, `confirm-${look}`);
      }
    });

    await t.test('a time that passes while the dialog is open leads to no send', async (t) => {
      const sentBefore = await countSent();
      await page.setViewportSize(LOOKS.light.viewport);
      await page.clock.setFixedTime(new Date('2031-05-01T20:31'));
      await dialog.getByRole('button', { name: /^Schedule for / }).click();
      await dialog.getByRole('alert').getByText('This time has passed.').waitFor();
      t.equal(await countSent(), sentBefore);
      await page.clock.setSystemTime(new Date());
    });

    await t.test('what is no repetition is not called one', async (t) => {
      await page.keyboard.press('Escape');
      await gone();
      await page.getByLabel('Title', { exact: true }).fill('Goal! 3:1');
      await page.getByRole('button', { name: 'Remove' }).first().click();
      const list = /\/notifications\?limit=\d+&from=/;
      const next = await holdBack(page, list);
      const others = [/\/settings$/, /\/estimate$/].map((url) => page.waitForResponse(url));
      const compared = page.waitForResponse((answer) => answer.url().endsWith(`/${sent}`));
      await page.getByRole('button', { name: /^Schedule for 2 / }).click();
      await dialog.getByText('Goal! 3:1', { exact: true }).waitFor();
      await Promise.all(others);
      await dialog.getByText('Android 2').waitFor();
      const schedule = dialog.getByRole('button', { name: /^Schedule for / });
      for (const _ of ['of the client', 'of the tag']) {
        const answer = await next();
        t.ok(await schedule.isDisabled(), 'it waits for the look at what was sent before');
        await answer.give();
      }
      await compared;
      await schedule.and(page.locator(':enabled')).waitFor();
      await page.unroute(list);
      t.equal(await dialog.getByText(/the same/i).count(), 0);
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
