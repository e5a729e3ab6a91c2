/** A notification at local time, composed in a browser, and while its waves come. */

import t from 'tap';
import type { Notification } from '../../packages/client/src/openapi.ts';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { post } from '../support/client.ts';
import { makeConsoleClient } from '../support/console.ts';

t.setTimeout(240_000);

const DAY_MS = 86_400_000;
const ZONES = ['Pacific/Auckland', 'Asia/Tokyo', 'Europe/Zurich', 'America/Lima'];

t.test('at local time', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    for (const [at, timezone] of ZONES.entries()) {
      const answer = await post(`${demo.baseUrl}/push-api/reg`, demo.apiUser.token, {
        appId: demo.appId,
        platformId: 3,
        deviceId: `${at}`.repeat(64),
        tagId,
        attributes: { timezone },
      });
      t.equal(answer.status, 200);
    }
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const jobs = `${demo.baseUrl}/push-api/v3/${demo.clientId}/notifications`;
    const headers = { Authorization: `Bearer ${demo.superUser.token}` };
    const jobOf = async (id: string) =>
      (await (await fetch(`${jobs}/${id}`, { headers })).json()) as Notification;
    const dialog = page.getByRole('dialog');
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
    const day = new Date(Date.now() + 3 * DAY_MS).toISOString().slice(0, 10);
    const idNow = () => page.url().split('/').at(-1) ?? '';

    await t.test('the waves are seen before it is sent', async (t) => {
      await page.goto(room('send'));
      await page.getByRole('button', { name: 'Advanced (expression)' }).click();
      await page.getByLabel('Expression', { exact: true }).fill(`#${tagId}`);
      await page.getByLabel('Title', { exact: true }).fill('Good morning');
      await page.getByText('At local time', { exact: true }).click();
      const time = page.getByLabel('Local time', { exact: true });
      await time.fill('2020-01-01T08:00');
      await page.getByText('This time has passed everywhere.').first().waitFor();
      await page.getByText('· has passed').first().waitFor();
      await time.fill(`${day}T08:00`);
      const waves = page.getByRole('region', { name: 'When it is sent' });
      await waves.getByText('Pacific/Auckland').waitFor();
      t.equal(await waves.getByRole('listitem').count(), ZONES.length);
      t.match(await waves.textContent(), /Auckland.*Tokyo.*Zurich.*Lima/s, 'in order');
      t.match(await waves.textContent(), /under 5 devices/);
      await looks('local-time');
      await page.getByLabel('Send at once where this time has passed').check();
      await page.getByLabel('Expires after').selectOption('1 hour');
      await page.getByRole('button', { name: /^Schedule for 4/ }).click();
      await dialog.getByText('local time').first().waitFor();
      await dialog.getByRole('button', { name: /^Schedule for .* local time/ }).click();
      await page.getByRole('heading', { name: 'By time zone' }).waitFor();
      const job = await jobOf(idNow());
      t.match(job, { sendAtLocal: `${day}T08:00`, late: 'send', state: 'SCHEDULED' });
      t.equal(job.expiresAt, Date.parse(`${day}T21:00Z`), 'an hour after the last zone');
    });

    await t.test('its waves, and another time', async (t) => {
      const id = idNow();
      await page
        .getByRole('row')
        .filter({ hasText: 'Europe/Zurich' })
        .getByText('Scheduled')
        .waitFor();
      await looks('waves');
      t.equal(await page.getByRole('button', { name: 'Change time…' }).count(), 0);
      t.equal(await page.getByRole('button', { name: 'Send now…' }).count(), 0);
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      const time = page.getByLabel('Local time', { exact: true });
      await time.waitFor();
      t.equal(await time.inputValue(), `${day}T08:00`);
      t.ok(await page.getByLabel('Send at once where this time has passed').isChecked());
      await time.fill(`${day}T07:30`);
      await page.getByRole('button', { name: /^Save changes…/ }).click();
      await dialog.getByText('Nobody gets both.').waitFor();
      await dialog.getByRole('button', { name: /^Save for / }).click();
      await page.getByRole('heading', { name: 'By time zone' }).waitFor();
      t.not(idNow(), id);
      t.match(await jobOf(idNow()), { sendAtLocal: `${day}T07:30`, late: 'send' });
      t.match(await jobOf(id), { state: 'CANCELLED' });
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
