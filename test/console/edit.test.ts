/** A scheduled notification is edited: another time, another text, too late. */

import t from 'tap';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { finalStatus, push } from '../support/client.ts';
import { makeConsoleClient, registerDevices } from '../support/console.ts';

t.setTimeout(240_000);

const HOUR_MS = 3_600_000;

/** The value of a field for a time, in the zone of this process and of its browser. */
function localTime(atMs: number): string {
  const shifted = atMs - new Date(atMs).getTimezoneOffset() * 60_000;
  return new Date(shifted).toISOString().slice(0, 16);
}

t.test('a scheduled notification', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    await registerDevices(demo, { platformId: 3, tagId, count: 3 });
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const dialog = page.getByRole('dialog');
    const title = page.getByLabel('Title', { exact: true });
    const jobs = `${demo.baseUrl}/push-api/v3/${demo.clientId}/notifications`;
    const headers = { Authorization: `Bearer ${demo.superUser.token}` };
    const jobOf = async (id: string) => (await fetch(`${jobs}/${id}`, { headers })).json();
    const idNow = () => page.url().split('/').at(-1) ?? '';
    const schedule = (name: string, more: object = {}) =>
      push(demo.baseUrl, demo, [tagId], { title: name }, { sendAt: Date.now() + HOUR_MS, ...more });
    const open = async (id: string) => {
      await page.goto(room(`notifications/${id}`));
      await page.getByRole('button', { name: 'Send now…' }).waitFor();
    };
    const looks = async (name: string) => {
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], `${name}, ${look}`);
        await takePicture(page, `${name}-${look}`);
      }
      await page.setViewportSize(LOOKS.light.viewport);
      await page.emulateMedia({ colorScheme: 'light' });
    };

    await t.test('gets another time, and expires as long after it', async (t) => {
      const before = Date.now() + HOUR_MS;
      const id = await schedule('Kick-off', { sendAt: before, expiresAt: before + HOUR_MS });
      await open(id);
      await looks('scheduled');
      await page.getByRole('button', { name: 'Change time…' }).click();
      const later = Math.floor((Date.now() + 2 * HOUR_MS) / 60_000) * 60_000;
      await dialog.getByLabel('Send at').fill(localTime(later));
      await dialog.getByRole('button', { name: 'Change time' }).click();
      await dialog.waitFor({ state: 'detached' });
      t.match(await jobOf(id), { state: 'SCHEDULED', sendAt: later, expiresAt: later + HOUR_MS });
      await page.getByRole('button', { name: 'Change time…' }).click();
      await dialog.getByLabel('Send at').fill('2020-01-01T12:00');
      await dialog.getByRole('button', { name: 'Change time' }).click();
      await dialog.getByText('This time has passed.').waitFor();
      await page.keyboard.press('Escape');
    });

    await t.test('another text: one takes the place of the other', async (t) => {
      const id = await schedule('Golden goal', { ratePerSecond: 500, delivery: 'at-most-once' });
      await open(id);
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page.getByRole('heading', { name: 'Edit notification' }).waitFor();
      await page.getByText('Change something first.').waitFor();
      t.equal(await title.inputValue(), 'Golden goal');
      await title.fill('Golden goal 2:1');
      const save = page.getByRole('button', { name: /^Save changes…/ });
      await save.and(page.locator(':enabled')).waitFor();
      await looks('edit');
      await save.click();
      await dialog.getByText('Nobody gets both.').waitFor();
      t.equal(await dialog.getByText('The same text').count(), 0, 'it is no repetition of itself');
      await dialog.getByRole('button', { name: /^Save for / }).click();
      await page.getByRole('heading', { name: 'Golden goal 2:1' }).waitFor();
      t.not(idNow(), id);
      t.match(await jobOf(id), { state: 'CANCELLED', totalCount: 0 });
      t.match(await jobOf(idNow()), {
        state: 'SCHEDULED',
        payload: { title: 'Golden goal 2:1' },
        ratePerSecond: 500,
        delivery: 'at-most-once',
      });
      await page.goto(room('send'));
      await page.getByRole('heading', { name: 'New notification' }).waitFor();
    });

    await t.test('only another schedule: the same notification', async (t) => {
      const id = await schedule('Half-time');
      await open(id);
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page.getByLabel('Urgent: jump the queue').check();
      await page.getByRole('button', { name: /^Save changes…/ }).click();
      await dialog.getByText('Only the schedule changes.').waitFor();
      await dialog.getByRole('button', { name: /^Save for / }).click();
      await page.getByRole('heading', { name: 'Half-time' }).waitFor();
      t.equal(idNow(), id);
      t.match(await jobOf(id), { state: 'SCHEDULED', priority: 'urgent' });
    });

    await t.test('what somebody else changed meanwhile is not taken back', async (t) => {
      const id = await schedule('Derby', { pauseAfter: 2 });
      await open(id);
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await title.fill('Derby day');
      await page.getByRole('button', { name: /^Save changes…/ }).click();
      const sendAt = Date.now() + 2 * HOUR_MS;
      await fetch(`${jobs}/${id}`, { method: 'PATCH', headers, body: JSON.stringify({ sendAt }) });
      await dialog.getByRole('button', { name: /^Save for / }).click();
      await dialog.getByText('Somebody changed its time').waitFor();
      t.match(await jobOf(id), { state: 'SCHEDULED', sendAt });
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Discard changes' }).click();
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await title.fill('Derby day');
      await page.getByRole('button', { name: /^Save changes…/ }).click();
      await dialog.getByRole('button', { name: /^Save for / }).click();
      await page.getByRole('heading', { name: 'Derby day' }).waitFor();
      t.match(await jobOf(idNow()), { state: 'SCHEDULED', sendAt, pauseAfter: 2 }, 'to the digit');
    });

    await t.test('too late, nothing is changed and nothing is lost', async (t) => {
      const id = await schedule('Kick-off soon');
      await open(id);
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await title.fill('Kick-off delayed');
      await page.getByRole('button', { name: /^Save changes…/ }).click();
      const now = await fetch(`${jobs}/${id}`, {
        method: 'PATCH',
        headers,
        body: JSON.stringify({ sendAt: Date.now() - HOUR_MS }),
      });
      t.ok(now.ok);
      await finalStatus(demo.baseUrl, demo, id);
      await dialog.getByRole('button', { name: /^Save for / }).click();
      await dialog.getByText('It was sent, cancelled or replaced meanwhile.').waitFor();
      await page.keyboard.press('Escape');
      t.equal(await title.inputValue(), 'Kick-off delayed');
      await page.getByRole('button', { name: 'Discard changes' }).click();
      await page.getByRole('heading', { name: 'Kick-off soon' }).waitFor();
      t.match(await jobOf(id), { successCount: 3 });
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
