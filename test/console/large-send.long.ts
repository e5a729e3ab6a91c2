/** A send to many devices, watched in a browser: the page stays usable to its exact end. */

import t from 'tap';
import { openEmbedded } from '../../src/database/store.ts';
import { openPage, withBrowser } from '../support/browser.ts';
import { push, status, sumCloses } from '../support/client.ts';
import { signInToDemo } from '../support/console.ts';
import { until } from '../support/poll.ts';
import { startEngine } from '../support/processes.ts';
import { seedDevices } from '../support/seed.ts';
import { seedEmbedded } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

t.setTimeout(1_000_000);

const DEVICES = 300_000;
const IOS = 3;
/** A page that does nothing for so long hangs. */
const HANG_MS = 10_000;
/** At this speed the send would not end within the test. */
const HELD_PER_SECOND = 1_000;
const END_MS = 600_000;

t.test('paused, resumed, held, freed and seen to the end', (t) =>
  withBrowser(t, async (t, browser) => {
    const dataDir = temporaryDirectory(t);
    seedEmbedded(dataDir);
    const first = await startEngine(t, dataDir);
    const { appId, tagIds } = first.demo();
    const [tagId = 0, otherTag = 0] = tagIds;
    await first.end('SIGTERM');
    const store = await openEmbedded(dataDir, { fsync: false });
    await seedDevices(store.sql, {
      appId,
      platformId: IOS,
      tagIds: [tagId, otherTag],
      count: DEVICES,
    });
    await store.close();
    const engine = await startEngine(t, dataDir);
    const demo = engine.demo();
    const { page, complaints } = await openPage(t, browser);
    await page.addInitScript(`
      globalThis.longestMs = 0;
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) longestMs = Math.max(longestMs, duration);
      }).observe({ type: 'longtask', buffered: true });
    `);
    await signInToDemo(page, demo);
    // Else a page that never reports one would pass.
    await page.evaluate(
      'setTimeout(() => { for (const end = performance.now() + 200; performance.now() < end; ); })',
    );
    await until('a long task is seen', async () =>
      Number(await page.evaluate('longestMs')) >= 200 ? true : null,
    );
    await page.evaluate('longestMs = 0');
    // The rail shows a running send, too.
    const main = page.getByRole('main');
    const stands = (word: string) => main.getByText(word, { exact: true }).first().waitFor();
    /** Paused at once, it has found no device yet. */
    const rowOf = async (job: string) => {
      const rows = await status(engine.baseUrl, demo, job);
      const row = rows.find(({ key }) => key.platformId === IOS);
      if (row === undefined) throw new Error('there is no row for iOS');
      return row;
    };
    const ended = (job: string) =>
      until(
        'it has ended',
        async () => {
          const row = await rowOf(job);
          return row.totalCount === DEVICES && sumCloses(row) ? row : null;
        },
        END_MS,
      );
    const speed = async (rate: string) => {
      await page.getByRole('button', { name: 'Speed limit…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Devices per second').fill(rate);
      await dialog.getByRole('button', { name: 'Apply' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    const open = async (tag: number) => {
      const job = await push(engine.baseUrl, demo, [tag], { title: 'Goal!' });
      await page.goto(`${engine.baseUrl}/console/#/client/demo/notifications/${job}`);
      await stands('Sending');
      return job;
    };

    await t.test('to the end', async (t) => {
      const startedMs = performance.now();
      const job = await open(tagId);
      await page.getByRole('button', { name: 'Pause' }).click();
      await stands('Paused');
      t.equal((await rowOf(job)).state, 'PAUSED');
      await page.keyboard.press('p');
      await stands('Sending');
      await speed(`${HELD_PER_SECOND}`);
      await page.getByText('limited to 1,000 per second').waitFor();
      await speed('');
      await page.getByText('limited to 1,000 per second').waitFor({ state: 'detached' });
      const row = await ended(job);
      t.equal(row.successCount, DEVICES, 'every device was accepted');
      await stands('Sent');
      await page.getByText('300,000 of 300,000').waitFor();
      t.comment(`watched for ${Math.round(performance.now() - startedMs)} ms`);
    });

    await t.test('cancelled', async (t) => {
      const job = await open(otherTag);
      await page.getByRole('button', { name: 'Cancel…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Stop sending' }).click();
      await stands('Cancelled');
      const { cancelledCount } = await ended(job);
      t.ok(cancelledCount > 0, `${cancelledCount} did not get it`);
    });

    const longestMs = Number(await page.evaluate('longestMs'));
    t.comment(`the longest task of the page: ${Math.round(longestMs)} ms`);
    t.ok(longestMs < HANG_MS, 'the page never hung');
    t.strictSame(complaints, [], 'the page complains of nothing');
  }),
);
