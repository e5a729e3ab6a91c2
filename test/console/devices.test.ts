/** The page Devices: what became of a device, why one is gone, and one that is erased. */

import t from 'tap';
import type { Page } from '../support/browser.ts';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { appOf, finalStatus, post, push } from '../support/client.ts';
import { makeConsoleClient } from '../support/console.ts';
import { until } from '../support/poll.ts';

t.setTimeout(180_000);

/** Used by this test alone: all tests share the simulator, which refuses one of them. */
const [REPLACED = '', REFUSED = '', KEPT = '', ERASED = ''] = ['a', 'b', 'c', 'd'].map((digit) =>
  `${digit}e`.repeat(32),
);
const PLATFORM = 3;
const NOT_FOUND = 404;

t.test('looked up, and erased', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const { appId } = demo;
    const [tagId = 0, otherTag = 0] = demo.tagIds;
    const register = (deviceId: string, tags: readonly number[]) =>
      appOf(demo).request('POST', '/push-api/reg', {
        body: { appId, platformId: PLATFORM, deviceId, tagId: [...tags], appVersion: '1.2' },
      });
    for (const deviceId of [REPLACED, REFUSED]) await register(deviceId, [tagId]);
    for (const deviceId of [KEPT, ERASED]) await register(deviceId, [tagId, otherTag]);
    await appOf(demo).request('POST', '/push-api/v3/{client}/devices/replace', {
      path: { client: demo.clientId },
      body: { appId, platformId: PLATFORM, deviceId: REPLACED, newDeviceId: 'e'.repeat(64) },
    });
    const answer = await fetch(`${demo.simulator.controlUrl}/tokens/apns/${REFUSED}`, {
      method: 'PUT',
      body: JSON.stringify({ status: 400, reason: 'BadDeviceToken' }),
    });
    if (!answer.ok) throw new Error(`The simulator answers ${answer.status}.`);
    const job = await push(demo.baseUrl, demo, [tagId], { title: 'Goal!' });
    await finalStatus(demo.baseUrl, demo, job);
    const lookedUp = (deviceId: string): Promise<Response> => {
      const url = `${demo.baseUrl}/push-admin-api/v3/${demo.clientId}/apps/${appId}/devices/lookup`;
      return post(url, demo.superUser.token, { platformId: PLATFORM, deviceId });
    };
    // The page does not look again by itself, and refusals are counted some time after the send.
    await until('the refusal is counted', async () => {
      const device = (await (await lookedUp(REFUSED)).json()) as { readonly refusals: number };
      return device.refusals === 1 ? true : null;
    });

    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    await page.goto(room('devices'));
    const lookUp = async (deviceId: string): Promise<void> => {
      await page.getByLabel('Device token').fill(deviceId);
      await page.getByRole('button', { name: 'Find device' }).click();
    };
    const shows = (text: string) => page.getByText(text).first().waitFor();

    await t.test('one that has everything: its tags, its registration, its outcome', async (t) => {
      await lookUp(KEPT);
      await shows('This device can be reached. It has 2 tags.');
      t.strictSame(await rowHeads(page, 'Tags'), ['Breaking news', 'Tennis']);
      const facts = await page.locator('dl.facts').first().textContent();
      t.match(facts, new RegExp(`Registered\\s*.*${new Date().getFullYear()}`));
      t.match(facts, /App version\s*1\.2/);
      const outcomes = page.getByRole('region', { name: 'Recent notifications' });
      await outcomes.getByRole('row', { name: /Goal!.*Accepted by the provider/ }).waitFor();
      await outcomes.getByRole('link', { name: 'Goal!' }).click();
      await page.getByRole('heading', { name: 'Goal!' }).waitFor();
      await page.goBack();
    });

    await t.test('one that was refused: by which notification, and why', async () => {
      await lookUp(REFUSED);
      await shows('The provider refused its token once');
      const events = page.getByRole('region', { name: 'Activity' });
      await events
        .getByRole('row', { name: /Token is for the other APNs environment.*BadDeviceToken/ })
        .waitFor();
    });

    await t.test('why it got a notification, and why not', async (t) => {
      await lookUp(KEPT);
      const about = page.getByLabel('About', { exact: true });
      const explain = page.getByRole('button', { name: 'Explain' });
      const rows = page.getByRole('region', { name: 'Conditions', exact: true }).getByRole('row');
      await about.getByRole('option', { name: /^Goal!, / }).waitFor({ state: 'attached' });
      await explain.click();
      await shows('The provider accepted this notification for the device, or may have.');
      await shows('This device is in the audience.');
      t.strictSame(await rows.nth(1).allInnerTexts(), ['Has tag breaking-news\tHas it\tYes']);

      await about.selectOption({ label: 'An audience…' });
      const expression = page.getByLabel('Audience (expression)');
      await expression.fill('tennis && !breaking-news && @country = CH');
      await explain.click();
      await shows('This device is not in the audience.');
      t.strictSame((await rows.allInnerTexts()).slice(1), [
        'Has tag tennis\tHas it\tYes',
        'Does not have tag breaking-news\tHas it\tNo',
        '@country = CH\tNo value\tNo',
      ]);
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], look);
        await takePicture(page, `explain-${look}`);
      }
      await page.setViewportSize(LOOKS.light.viewport);
      await expression.fill('tennis && ');
      await explain.click();
      await page.getByText('Here must stand a tag').first().waitFor();

      await about.selectOption({ label: 'Another notification…' });
      await page.getByLabel('Notification ID').fill(job.toUpperCase());
      await explain.click();
      await shows('This device is in the audience.');
      await page.getByLabel('Notification ID').fill('x');
      await explain.click();
      await shows('must be the id of a push job');
    });

    await t.test('one that is gone: the first line says why', async () => {
      await lookUp(REPLACED);
      await shows('This device was removed: its token was replaced by another');
      await page.getByRole('button', { name: 'Explain' }).click();
      await shows('It is not known whether this notification has reached the device.');
      await shows('This device is not registered any more, so it is in no audience.');
    });

    const subscribers = async (tag: number): Promise<number> => {
      const url = `${demo.baseUrl}/push-admin-api/v3/${demo.clientId}/stats/tag/${tag}`;
      const headers = { authorization: `Bearer ${demo.superUser.token}` };
      const answer = await fetch(url, { headers });
      return ((await answer.json()) as { readonly subscribers: number }).subscribers;
    };

    await t.test('erased: after it was asked, and not the one that is typed by then', async (t) => {
      t.equal(await subscribers(otherTag), 2);
      await lookUp(ERASED);
      await shows('This device can be reached');
      await page.getByLabel('Device token').fill(KEPT);
      const erase = page.getByRole('button', { name: 'Erase device…' });
      await erase.click();
      const dialog = page.getByRole('dialog', { name: 'Erase this device?' });
      await dialog.getByText('its 2 subscriptions').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      const status = async (deviceId: string): Promise<number> => (await lookedUp(deviceId)).status;
      t.equal(await status(ERASED), 200, 'who leaves the dialog erases nothing');
      await erase.click();
      await dialog.getByRole('button', { name: 'Erase device' }).click();
      await shows('Erased: the device, registered');
      t.equal(await status(ERASED), NOT_FOUND, 'it is gone');
      t.equal(await status(KEPT), 200, 'the other is there');
      await until('the tag counts it no more', async () =>
        (await subscribers(otherTag)) === 1 ? true : null,
      );
      await lookUp(ERASED);
      await shows('No such device is registered');
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);

/** The heads of a table's rows. */
const rowHeads = (page: Page, label: string): Promise<readonly string[]> =>
  page.getByRole('region', { name: label, exact: true }).getByRole('rowheader').allTextContents();
