/** The page Webhooks: made, failing in words, replayed, rotated, changed, deleted. */

import t from 'tap';
import { lookAtRoom, openPage, withBrowser } from '../support/browser.ts';
import { push } from '../support/client.ts';
import { makeConsoleClient, registerDevices } from '../support/console.ts';
import { until } from '../support/poll.ts';
import { isSigned, startReceiver } from '../support/webhook-receiver.ts';

t.setTimeout(240_000);

const ERROR = 500;

t.test('webhooks', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    await registerDevices(demo, { platformId: 3, tagId, count: 1 });
    const receiver = await startReceiver(t);
    const { host } = new URL(receiver.url);
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const dialog = page.getByRole('dialog');
    const shows = (text: string | RegExp) => page.getByText(text).first().waitFor();
    let secret = '';

    await t.test('made; the secret is shown once', async (t) => {
      await page.goto(room('webhooks'));
      await shows('No webhooks yet');
      await page.getByRole('button', { name: 'New webhook' }).click();
      await dialog.getByLabel('Address').fill('https://');
      await dialog.getByRole('checkbox', { name: /job\.finished/ }).uncheck();
      for (const type of [
        /token\.removed/,
        /token\.replaced/,
        /credential\.trouble/,
        /notification\.withheld/,
      ]) {
        await dialog.getByRole('checkbox', { name: type }).uncheck();
      }
      await dialog.getByText('Choose at least one.').waitFor();
      await dialog.getByRole('checkbox', { name: /job\.finished/ }).check();
      await dialog.getByLabel('Address').fill(`${receiver.url}#part`);
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.getByRole('alert').getByText('Address:').waitFor();
      await dialog.getByLabel('Address').fill(receiver.url);
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.getByRole('button', { name: 'Copy Secret' }).waitFor();
      secret = (await dialog.locator('p.mono').textContent()) ?? '';
      t.match(secret, /^whsec_/);
      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('link', { name: receiver.url }).click();
      await shows('No request failed lately.');
      t.notMatch(await page.content(), secret);
    });

    await t.test('it fails: the page says since when, with what, and where', async (t) => {
      receiver.answer = () => ERROR;
      await push(demo.baseUrl, demo, [tagId]);
      await shows(new RegExp(`^Since .* the last .*requests failed: 500 from ${host}\\.$`));
      const row = page.getByRole('row').filter({ hasText: 'Retrying' });
      await row.getByText('answered 500').waitFor();
      t.equal(await row.getByRole('button').count(), 0, 'it is tried again by itself');
      const id = page.url().split('/').at(-1) ?? '';
      await page.goto(room('webhooks'));
      await shows(/The last .*request.* failed\./);
      await lookAtRoom(t, page, 'webhooks', room('webhooks'));
      await lookAtRoom(t, page, 'webhook-failing', room(`webhooks/${id}`));
    });

    await t.test('a delivery is replayed, with its id', async (t) => {
      receiver.answer = () => 204;
      const row = page.getByRole('row').filter({ hasText: 'Delivered' });
      await row.waitFor();
      const { id } = receiver.heard.at(-1) ?? { id: '' };
      await page.getByRole('button', { name: `Replay ${id}` }).click();
      await shows('1 delivery is sent again.');
      await until('it comes again', () =>
        receiver.heard.filter((one) => one.id === id && isSigned(one, secret)).length > 2
          ? true
          : null,
      );
      t.equal(new Set(receiver.heard.map((one) => one.id)).size, 1);
      await page.getByLabel('Status').selectOption('Given up');
      await shows('No deliveries in this state.');
      await page.getByRole('button', { name: 'Replay all given up…' }).click();
      await dialog.getByRole('button', { name: 'Replay' }).click();
      await shows('0 deliveries are sent again.');
    });

    await t.test('another secret, other terms, its end', async (t) => {
      await page.getByRole('button', { name: 'Rotate secret…' }).click();
      await dialog.getByLabel('Hours that the old secret stays valid').fill('0');
      await dialog.getByRole('button', { name: 'Generate' }).click();
      await dialog.getByRole('button', { name: 'Copy Secret' }).waitFor();
      const other = (await dialog.locator('p.mono').textContent()) ?? '';
      t.not(other, secret);
      await dialog.getByRole('button', { name: 'Close' }).click();
      const before = receiver.heard.length;
      await push(demo.baseUrl, demo, [tagId]);
      await until('a request comes', () => (receiver.heard.length > before ? true : null));
      const last = receiver.heard.at(-1);
      t.ok(last && isSigned(last, other));
      await page.getByRole('checkbox', { name: 'Enabled' }).uncheck();
      await page.getByRole('button', { name: 'Save' }).click();
      await shows('It is turned off. Events are not kept for it.');
      await page.getByRole('button', { name: 'Delete…' }).click();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await shows('No webhooks yet');
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
