/** A scheduled notification is sent now, which can be undone; and duplicated without a tag. */

import t from 'tap';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { post, push } from '../support/client.ts';
import { changeSettings, makeConsoleClient, registerDevices } from '../support/console.ts';

t.setTimeout(240_000);

const HOUR_MS = 3_600_000;

t.test('a scheduled notification', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    await registerDevices(demo, { platformId: 3, tagId, count: 3 });
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const dialog = page.getByRole('dialog');
    const jobs = `${demo.baseUrl}/push-api/v3/${demo.clientId}/notifications`;
    const headers = { Authorization: `Bearer ${demo.superUser.token}` };
    const jobOf = async (id: string) => (await fetch(`${jobs}/${id}`, { headers })).json();
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

    await t.test('is sent now, which can be undone', async (t) => {
      await changeSettings(demo, { undoSeconds: 20, confirmAboveDevices: 2 });
      const sendAt = Math.floor((Date.now() + HOUR_MS) / 1_000) * 1_000;
      const id = await schedule('Full time', { sendAt });
      await open(id);
      await page.getByRole('button', { name: 'Send now…' }).click();
      await dialog.getByRole('heading', { name: 'Send to 3 devices?' }).waitFor();
      await looks('send-now');
      await page.keyboard.press('Enter');
      t.match(await jobOf(id), { state: 'SCHEDULED', sendAt }, 'Enter alone sends nothing');
      await dialog.getByLabel('Type the number of devices, 3').fill('3');
      await dialog.getByRole('button', { name: 'Send to 3 devices' }).click();
      await page.getByText(/^Sending in \d+ s…/).waitFor();
      await page.getByText(/Undo schedules it for/).waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('button', { name: 'Send now…' }).waitFor();
      t.match(await jobOf(id), { state: 'SCHEDULED', sendAt }, 'as it was scheduled');
      const later = sendAt + HOUR_MS;
      await fetch(`${jobs}/${id}`, {
        method: 'PATCH',
        headers,
        body: JSON.stringify({ sendAt: later }),
      });
      await page.reload();
      await page.getByRole('button', { name: 'Send now…' }).waitFor();
      t.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0, 'a time of its own');
      await changeSettings(demo, { undoSeconds: 0 });
      await page.reload();
      await page.getByRole('button', { name: 'Send now…' }).click();
      await dialog.getByLabel('Type the number of devices, 3').fill('3');
      await dialog.getByRole('button', { name: 'Send to 3 devices' }).click();
      await page.getByText('3 of 3').first().waitFor();
    });

    await t.test('duplicated, with a tag that is gone since: the sender decides', async (t) => {
      const admin = `${demo.baseUrl}/push-admin-api/v3/${demo.clientId}/tags`;
      const made = await post(admin, demo.superUser.token, { name: 'Muted' });
      const { id: muted } = (await made.json()) as { readonly id: number };
      const id = await schedule('Cup final', { filterTagIds: [muted] });
      await fetch(`${admin}/${muted}`, { method: 'DELETE', headers });
      await open(id);
      await page.getByRole('button', { name: 'Duplicate' }).click();
      await page.getByText(`Deleted since then: ${muted} (deleted).`).waitFor();
      await page.getByText('Decide about the deleted tags first.').waitFor();
      await looks('gone-tag');
      const send = page.getByRole('button', { name: /^Send (…|to)|^Send…/ });
      t.ok(await send.isDisabled());
      await page.reload();
      await page.getByText('Decide about the deleted tags first.').waitFor();
      await page.getByRole('button', { name: `Remove ${muted} (deleted)` }).click();
      await page.getByRole('button', { name: /^Send to 3 devices/ }).waitFor();
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
