import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { DrawnPace } from '../../../../src/push/sql/notifications/draw-pace.ts';
import {
  DRAWN_AHEAD_MS,
  drawPace,
  PIECE_MS,
  shortenPace,
} from '../../../../src/push/sql/notifications/draw-pace.ts';
import { makeNotification, makeTenant } from '../../../support/notifications.ts';
import { withStores } from '../../../support/store.ts';

const sum = (drawn: readonly (DrawnPace | null)[]): number =>
  drawn.reduce((total, piece) => total + (piece?.sends ?? 0), 0);

await withStores(t, async (t, { sql }) => {
  const tenant = await makeTenant(sql, 'paced');
  const begin = (ratePerSecond: number) => makeNotification(sql, tenant, { ratePerSecond });

  await t.test('each draw gets the next piece, until enough is drawn', async (t) => {
    const id = await begin(1_000);
    const first = await drawPace(sql, id);
    t.match(first, { sends: PIECE_MS, lengthMs: PIECE_MS });
    t.ok((first?.startsInMs ?? 0) <= 1, 'it begins at once');
    const drawn: (DrawnPace | null)[] = [];
    while (drawn.at(-1)?.sends !== 0) drawn.push(await drawPace(sql, id));
    const [row] = await sql`
      select extract(epoch from drawn_until - clock_timestamp()) * 1000 as ms from notification_paces
      where notification_id = ${id}`;
    t.ok(Number(row?.['ms']) <= DRAWN_AHEAD_MS + PIECE_MS, `${row?.['ms']} ms are drawn`);
    const last = drawn.at(-1);
    t.ok(
      last && last.startsInMs > 0 && last.startsInMs <= PIECE_MS,
      `again in ${last?.startsInMs}`,
    );
  });

  await t.test('draws at the same time never get more than the rate', async (t) => {
    const id = await begin(2_000);
    const beganMs = performance.now();
    const all = Array.from({ length: 8 }, async () => {
      const drawn: (DrawnPace | null)[] = [];
      while (performance.now() - beganMs < 1_000) {
        drawn.push(await drawPace(sql, id));
        await sleep(10);
      }
      return sum(drawn);
    });
    const sends = (await Promise.all(all)).reduce((total, some) => total + some, 0);
    const seconds = (performance.now() - beganMs + DRAWN_AHEAD_MS + PIECE_MS) / 1_000;
    t.ok(sends <= 2_000 * seconds, `${sends} in ${seconds} s`);
    // A machine that rests for a moment loses what was not drawn in it.
    t.ok(sends >= 1_000, `${sends} in ${seconds} s`);
  });

  await t.test('nothing is saved up', async (t) => {
    const id = await begin(1_000);
    await drawPace(sql, id);
    await sql`
      update notification_paces set drawn_until = now() - interval '1 hour' where notification_id = ${id}`;
    const drawn: (DrawnPace | null)[] = [];
    while (drawn.at(-1)?.sends !== 0) drawn.push(await drawPace(sql, id));
    // A machine that is busy for a second while these are drawn may have drawn for that second.
    t.ok(sum(drawn) < 2_000, `${sum(drawn)}`);
  });

  await t.test('of the slowest and the fastest', async (t) => {
    t.match(await drawPace(sql, await begin(1)), { sends: 1, lengthMs: 1_000 });
    t.match(await drawPace(sql, await begin(1_000_000)), { sends: 100_000, lengthMs: PIECE_MS });
    const odd = await drawPace(sql, await begin(15));
    t.equal(odd?.sends, 1);
    t.equal(Math.round(odd?.lengthMs ?? 0), 67, 'as long as its sends take');
  });

  await t.test('another rate counts from the next draw on, and soon', async (t) => {
    const id = await begin(1);
    t.match(await drawPace(sql, id), { sends: 1, startsInMs: Number });
    t.match(await drawPace(sql, id), { sends: 0 });
    await sql`update notifications set rate_per_second = 1000 where id = ${id}`;
    await shortenPace(sql, id);
    const drawn = await drawPace(sql, id);
    t.ok((drawn?.startsInMs ?? 1_000) <= DRAWN_AHEAD_MS + PIECE_MS, `in ${drawn?.startsInMs} ms`);
    await sql`update notifications set rate_per_second = null where id = ${id}`;
    t.equal(await drawPace(sql, id), null, 'it is held to none');
    t.equal(await drawPace(sql, await makeNotification(sql, tenant)), null, 'and never was');
  });
});
