/** A notification that goes out slowly, watched and controlled in the browser. */

import t from 'tap';
import { axeFaults, LOOKS, openPage, takePicture, withBrowser } from '../support/browser.ts';
import { push, status, sumCloses } from '../support/client.ts';
import { makeConsoleClient, registerDevices } from '../support/console.ts';
import { until } from '../support/poll.ts';

t.setTimeout(180_000);

const DEVICES = 1_500;
const PLATFORM = 3;
/** Outcomes of a fast send are recorded by so many. */
const BLOCK = 128;
/** Slow enough to be under way for 50 s. */
const RATE_PER_SECOND = 30;
const SLOWER_PER_SECOND = 20;
const SECONDS_WATCHED = 8;

t.test('paused, resumed, slowed down and cancelled while it is sent', (t) =>
  withBrowser(t, async (t, browser) => {
    const { demo, room, signIn } = await makeConsoleClient();
    const [tagId = 0] = demo.tagIds;
    await registerDevices(demo, { platformId: PLATFORM, tagId, count: DEVICES });
    const { page, complaints } = await openPage(t, browser);
    await signIn(page);
    const more = { ratePerSecond: RATE_PER_SECOND };
    const job = await push(demo.baseUrl, demo, [tagId], { title: 'Goal!' }, more);
    await page.goto(room(`notifications/${job}`));
    // The rail shows a running send, too.
    const main = page.getByRole('main');
    const stands = (word: string) => main.getByText(word, { exact: true }).first().waitFor();
    const figures = async (): Promise<string> =>
      (await page.locator('dl.figures dd').first().textContent()) ?? '';
    /** "17% 255 of about 1,500" */
    const done = async (): Promise<number> =>
      Number(/([\d,]+) of /.exec(await figures())?.[1]?.replace(',', ''));
    /** Wherever one is: beside the way to the notifications. */
    const sendingMark = page.locator('.rail nav .sending');
    const row = async () => {
      const [first] = (await status(demo.baseUrl, demo, job)).filter(
        ({ totalCount }) => totalCount > 0,
      );
      if (first === undefined) throw new Error('no row has devices');
      return first;
    };

    await t.test('what is done grows, without a reload', async (t) => {
      await stands('Sending');
      const seen = await until('something is done', async () => (await done()) || null);
      await until('more is done', async () => ((await done()) > seen ? true : null));
      t.match(await figures(), /of about 1,500$/, 'though most were not sent to yet');
      await page.getByRole('row', { name: /iOS.*%.*1,500/ }).waitFor();
      await page.getByText(`limited to ${RATE_PER_SECOND} per second`).waitFor();
      await page.getByRole('img', { name: /^Devices per second, now / }).waitFor();
      await sendingMark.waitFor();
      await page.goto(room('notifications'));
      await main.getByRole('row', { name: 'Goal!' }).getByText('of about 1,500').waitFor();
      await page.goBack();
      await stands('Sending');
    });

    await t.test('paused, nothing is sent any more', async (t) => {
      await page.getByRole('button', { name: 'Pause' }).click();
      await stands('Paused');
      let before = await row();
      const rested = await until('two looks see the same', async () => {
        const now = await row();
        const isSame = now.successCount === before.successCount;
        before = now;
        return isSame ? now : null;
      });
      t.equal(rested.state, 'PAUSED');
      t.ok(rested.successCount < DEVICES, `${rested.successCount}`);
    });

    await t.test('resumed by its key, and limited to another speed', async (t) => {
      await page.keyboard.press('p');
      await stands('Sending');
      await page.getByRole('button', { name: 'Speed limit…' }).click();
      const dialog = page.getByRole('dialog');
      const field = dialog.getByLabel('Devices per second');
      t.equal(await field.inputValue(), `${RATE_PER_SECOND}`, 'the speed that it has');
      await field.fill(`${SLOWER_PER_SECOND}`);
      await dialog.getByRole('button', { name: 'Apply' }).click();
      await page.getByText(`limited to ${SLOWER_PER_SECOND} per second`).waitFor();
    });

    await t.test('a slow send has a rate, the mean of ten seconds', async (t) => {
      const now = page.locator('dl.figures div').filter({ hasText: 'per second' }).locator('dd');
      const rate = async () => Number(/^[\d.]+/.exec((await now.textContent()) ?? '')?.[0]);
      for (let seen = await done(), seconds = 0; seconds < SECONDS_WATCHED; seconds += 1) {
        await page.waitForTimeout(1_500);
        const before = seen;
        const after = await until('it grows', async () => {
          const now = await done();
          return now > before ? now : null;
        });
        t.ok(after - before < BLOCK, `by less than a block: ${before}, ${after}`);
        seen = after;
      }
      const mean = await rate();
      t.ok(mean > SLOWER_PER_SECOND / 2 && mean < SLOWER_PER_SECOND * 1.5, `${mean} a second`);
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], look);
        await takePicture(page, `live-slow-${look}`);
      }
      await page.setViewportSize(LOOKS.light.viewport);
      await page.emulateMedia({ colorScheme: 'light' });
    });

    await t.test('cancelled: the rest does not get it, and every device is counted', async (t) => {
      await page.getByRole('button', { name: 'Cancel…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Cancel this notification?' });
      await dialog.getByRole('button', { name: 'Stop sending' }).click();
      await stands('Cancelled');
      await page.getByRole('button', { name: 'Duplicate' }).waitFor();
      const ended = await until('all are counted', async () => {
        const now = await row();
        return now.totalCount === DEVICES && sumCloses(now) ? now : null;
      });
      t.equal(ended.state, 'CANCELLED');
      t.ok(ended.successCount > 0 && ended.cancelledCount > 0);
      const chart = page.getByRole('table', { name: /^Devices per second/ });
      const rates = [...((await chart.textContent()) ?? '').matchAll(/devices ([\d,.]+)/g)];
      const last = Number(rates.at(-1)?.[1]?.replaceAll(',', ''));
      // Over ten seconds. The first rates of a page are over one: two blocks may be recorded in it.
      t.ok(last > 0 && last < 2 * RATE_PER_SECOND, `${last} a second: none that was left out`);
      await page.goto(room('devices'));
      await sendingMark.waitFor({ state: 'detached' });
    });

    await t.test('as long as the whole is not known, no bar is full', async (t) => {
      const later = { sendAt: Date.now() + 3_600_000 };
      const id = await push(demo.baseUrl, demo, [tagId], { title: 'Waiting' }, later);
      await page.goto(room(`notifications/${id}`));
      await page.getByRole('button', { name: 'Pause' }).click();
      await stands('Paused');
      t.match(await figures(), /^0 so far$/);
      const bar = page.getByRole('img', { name: '0 accepted, 0 failed, so far' }).first();
      t.equal(await bar.locator('i').count(), 0);
      await page.goto(room('notifications'));
      const row = main.getByRole('row', { name: 'Waiting' });
      await row.getByText('so far').waitFor();
      await row.getByRole('img', { name: '0 accepted, 0 failed, so far' }).waitFor();
      for (const [look, options] of Object.entries(LOOKS)) {
        await page.emulateMedia({ colorScheme: options.colorScheme });
        await page.setViewportSize(options.viewport);
        t.strictSame(await axeFaults(page), [], look);
        await takePicture(page, `so-far-${look}`);
      }
      await page.setViewportSize(LOOKS.light.viewport);
      await page.emulateMedia({ colorScheme: 'light' });
    });

    await t.test('what a draft cannot hold is no draft', async () => {
      const payload = { title: 'Goal!', apns: { aps: { 'thread-id': 'goals' } } };
      const id = await push(demo.baseUrl, demo, demo.tagIds.slice(1, 2), payload);
      await page.goto(room(`notifications/${id}`));
      await page.getByText('A draft cannot hold this payload.').waitFor();
    });

    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
