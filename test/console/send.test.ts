/** Composed in a browser: to whom, what, when; what is wrong is said at its field. */

import t from 'tap';
import type { Locator } from '../support/browser.ts';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { post } from '../support/client.ts';
import { confirmAbove, makeConsoleClient, registerDevices } from '../support/console.ts';
import { until } from '../support/poll.ts';

t.setTimeout(240_000);

const IPHONES = 3;
const ANDROIDS = 2;
const HOUR_MS = 3_600_000;

/** The value of an input of date and time, in the zone of this machine, which is the browser's. */
function inputOf(atMs: number): string {
  const offsetMs = new Date(atMs).getTimezoneOffset() * 60_000;
  return new Date(atMs - offsetMs).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
}

t.test('composing', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const [tagId = 0, otherId = 0] = demo.tagIds;
    await registerDevices(demo, { platformId: 3, tagId, count: IPHONES });
    const androids = { platformId: 15, tagId: otherId, count: ANDROIDS };
    const tokens = await registerDevices(demo, androids);
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const send = room('send');
    await page.goto(send);
    const shows = (text: string | RegExp) => page.getByText(text).first().waitFor();
    const counted = (text: string) => page.getByRole('heading', { name: text }).waitFor();
    const button = page.getByRole('button', {
      name: /^(Send…|Send to \d|Send to about|Schedule for)/,
    });
    const dialog = page.getByRole('dialog');
    const names = await Promise.all(
      [tagId, otherId].map(async (id) => {
        const url = `${demo.baseUrl}/push-admin-api/v3/${demo.clientId}/tags/${id}`;
        const headers = { Authorization: `Bearer ${demo.superUser.token}` };
        const tag = (await (await fetch(url, { headers })).json()) as { readonly name: string };
        return tag.name;
      }),
    );
    const pick = async (field: Locator, name = '') => {
      await field.pressSequentially(name);
      await page.getByRole('option', { name, exact: false }).first().waitFor();
      await page.keyboard.press('Enter');
      // It picks what answers all that was typed; another key would call it off.
      await until('it is picked', async () => ((await field.inputValue()) === '' ? true : null));
    };
    const any = page.getByRole('combobox', { name: 'Send to people with any of these tags' });

    await t.test('by the keyboard: a tag, then all of, none of; counted by platform', async (t) => {
      for (const name of names) await pick(any, name);
      await counted(`${IPHONES + ANDROIDS} devices`);
      const figures = await page.locator('aside dl.figures').textContent();
      t.match(figures, /iOS\s*3\s*Android\s*2/);
      await page.keyboard.press('Tab');
      const focused = await page.evaluate('document.activeElement?.labels?.[0]?.textContent');
      t.equal(focused, 'Only if they also have all of');
      await pick(page.locator(':focus'), names[0]);
      await counted(`${IPHONES} devices`);
      await page.keyboard.press('Backspace');
      await pick(page.getByRole('combobox', { name: 'Exclude' }), names[0]);
      await counted(`${ANDROIDS} devices`);
      await page.keyboard.press('Escape');
    });

    await t.test('as an expression; a mistake is told with its place', async () => {
      await page.getByRole('button', { name: 'Advanced (expression)' }).click();
      const field = page.getByLabel('Expression', { exact: true });
      await field.fill('(breaking-news || ');
      await page.getByRole('alert').first().waitFor();
      await page.locator('textarea[aria-invalid="true"]').waitFor();
      await field.fill(`#${tagId} || #${otherId}`);
      await counted(`${IPHONES + ANDROIDS} devices`);
      await page.getByRole('button', { name: 'Choose tags' }).click();
      await counted(`${ANDROIDS} devices`);
    });

    await t.test('what they see: on each platform, as JSON, with its size', async (t) => {
      await page.getByLabel('Title', { exact: true }).fill('Goal!');
      await page.getByLabel('Message', { exact: true }).fill('1:0 <b>not bold</b>');
      await shows(/Android · \d+ of 4,0\d\d bytes/);
      await page.getByText('JSON for each provider').click();
      const json = page.getByRole('region', { name: 'fcm' });
      await json.filter({ hasText: '1:0 <b>not bold</b>' }).waitFor();
      await page.getByText('More options').click();
      await page.getByLabel('Subtitle').fill('Second half');
      await page.getByLabel('Interruption').selectOption('Passive: no sound, no lit screen');
      await json.getByText('PRIORITY_LOW').waitFor();
      t.match(await json.textContent(), /"Second half"/);
      await json.getByText('"tag"').waitFor();
      await page.getByLabel('Replaceable').selectOption('No: each copy shows by itself');
      await json.filter({ hasNotText: '"tag"' }).waitFor();
      await page.locator('.phone:not(.android)').getByText('Second half').waitFor();
      await page.getByLabel('Custom data').fill('{ "match": ');
      await shows('This is not a JSON object.');
      t.ok(await button.isDisabled());
      await page.getByLabel('Custom data').fill('{ "match": { "id": 1234567890123456789 } }');
      await shows('The digits of match.id would change in transit.');
      t.ok(await button.isDisabled());
      await page.getByLabel('Custom data').fill('{ "match": 7 }');
      await page.getByLabel('Title', { exact: true }).fill('x'.repeat(5_000));
      await page.getByRole('alert').first().waitFor();
      t.ok(await button.isDisabled());
      await page.getByLabel('Title', { exact: true }).fill('Goal!');
      await page.getByRole('alert').first().waitFor({ state: 'detached' });
    });

    await t.test('without a time, or with one that is over, nothing is planned', async (t) => {
      await page.getByText('Schedule', { exact: true }).click();
      await shows('Choose a time, or send now.');
      t.ok(await button.isDisabled());
      const time = page.getByLabel('Send at');
      await time.fill(inputOf(Date.now() - HOUR_MS));
      await shows('This time has passed.');
      t.ok(await button.isDisabled());
      await page.keyboard.press('Control+Enter');
      t.equal(await dialog.count(), 0);
      await page.getByLabel('Speed limit (devices per second)').fill('0');
      await time.fill(inputOf(Date.now() + HOUR_MS));
      await page.locator('input[type=number][aria-invalid="true"]').waitFor();
      await page.getByLabel('Speed limit (devices per second)').fill('1000');
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], `composed, ${look}`);
        await takePicture(page, `send-composed-${look}`);
      }
      await page.setViewportSize(LOOKS.light.viewport);
      await page.emulateMedia({ colorScheme: 'light' });
    });

    await t.test('one device gets it; what the provider says is shown', async (t) => {
      await button.and(page.locator(':enabled')).waitFor();
      await page.getByRole('button', { name: 'Send a test…' }).click();
      await dialog.getByLabel('Device token').fill('no token');
      await page.keyboard.press('Control+Enter');
      t.equal(await dialog.count(), 1, 'the shortcut of the page opens no other dialog over it');
      await dialog.getByRole('button', { name: 'Send test' }).click();
      await dialog
        .getByText(/The provider refused it|Device token/)
        .nth(1)
        .waitFor();
      await dialog.getByLabel('Device token').fill('ab'.repeat(32));
      await dialog.getByRole('button', { name: 'Send test' }).click();
      await dialog.getByText('The provider accepted it.').waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    });

    await t.test('saved test devices: one click, green or red', async (t) => {
      const path = `${demo.baseUrl}/push-api/v3/${demo.clientId}/test-devices`;
      const headers = { Authorization: `Bearer ${demo.superUser.token}` };
      await page.getByRole('button', { name: 'Send a test…' }).click();
      await dialog.getByLabel('Device token').fill('cd'.repeat(32));
      await dialog.getByLabel('Save as a test device').check();
      await dialog.getByLabel('Name', { exact: true }).fill('Phone of Ana');
      await dialog.getByRole('button', { name: 'Send test' }).click();
      const devices = dialog.getByRole('list', { name: 'Test devices' }).getByRole('listitem');
      await devices.filter({ hasText: 'The provider accepted it.' }).waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      const refused = { name: 'Old phone', appId: demo.appId, platformId: 3, deviceId: 'no token' };
      t.equal((await post(path, demo.superUser.token, refused)).status, 201);
      await page.reload();
      await page.getByRole('button', { name: 'Send test to 2 devices' }).click();
      await dialog.locator('.note.good').filter({ hasText: 'Phone of Ana' }).waitFor();
      const red = dialog.locator('.note.bad').filter({ hasText: 'Old phone' });
      await red.getByText(/^The provider refused it: /).waitFor();
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], `tested, ${look}`);
        await takePicture(page, `send-tested-${look}`);
      }
      await page.setViewportSize(LOOKS.light.viewport);
      await page.emulateMedia({ colorScheme: 'light' });
      await dialog.getByRole('button', { name: 'Delete the test device Old phone' }).click();
      await red.waitFor({ state: 'detached' });
      t.equal(((await (await fetch(path, { headers })).json()) as readonly unknown[]).length, 1);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    });

    await t.test('a large one asks for the number, is planned, found by its state', async (t) => {
      for (const token of tokens) {
        const url = `${demo.simulator.controlUrl}/received/fcm/${token}`;
        t.match(await (await fetch(url)).json(), { accepted: 0 });
      }
      await confirmAbove(demo, 1);
      await button.click();
      const deed = dialog.getByRole('button', { name: /^Schedule for / });
      await dialog.getByLabel(`Type the number of devices, ${ANDROIDS}`).waitFor();
      t.ok(await deed.isDisabled());
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], `confirming, ${look}`);
        await takePicture(page, `send-confirm-${look}`);
      }
      await page.setViewportSize(LOOKS.light.viewport);
      await page.emulateMedia({ colorScheme: 'light' });
      await dialog.getByLabel('Type the number of devices').fill(`${ANDROIDS}`);
      await deed.click();
      await page.getByRole('heading', { name: 'Goal!', level: 1 }).waitFor();
      await page.getByText('Scheduled', { exact: true }).first().waitFor();
      await page.getByText('Scheduled for this time').waitFor();
      await page.goto(room('notifications?state=FINISHED'));
      await shows('No notifications match these filters.');
      await page.getByLabel('Status').selectOption('Scheduled');
      await page.getByRole('link', { name: 'Goal!' }).click();
      await page.getByRole('button', { name: 'Cancel…' }).click();
      await dialog.getByRole('button', { name: 'Cancel notification' }).click();
      await page.getByText('Ended · Cancelled').waitFor();
      await page
        .locator('ol.timeline')
        .getByText(/^Cancelled/)
        .waitFor();
      await page.goBack();
      await page.getByRole('heading', { name: 'Notifications', level: 1 }).waitFor();
      t.match(page.url(), /state=SCHEDULED$/, 'a step back leads to the filter');
      await page.goto(send);
      t.equal(await page.getByLabel('Title', { exact: true }).inputValue(), '', 'it was sent');
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
