/**
 * Webhooks of two nodes on one PostgreSQL: each event is delivered once, one request at a time,
 * also when a node dies with a request under way.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openPostgres } from '../../src/database/store.ts';
import { post, push } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import { startEngine } from '../support/processes.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { isSigned, startReceiver } from '../support/webhook-receiver.ts';

/** A request takes so long that the other node looks for work meanwhile: it does every second. */
const ANSWER_AFTER_MS = 1_200;
const ROUNDS = 3;

t.test('two nodes tell one receiver', async (t) => {
  await withPostgres(t, async (t, url) => {
    const start = (): Promise<EngineProcess> =>
      startEngine(t, dataDir, {
        DATABASE_URL: url,
        SECRET_KEY: 'a secret of the webhook tests, long enough',
        DEMO: '1',
        WORKERS: '1',
        WEBHOOK_PRIVATE_ADDRESSES: '1',
      });
    const dataDir = temporaryDirectory(t);
    const nodes = [await start(), await start()] as const;
    const demo = nodes[0].demo();
    const receiver = await startReceiver(t);
    const made = await post(
      `${nodes[0].baseUrl}/push-admin-api/v3/demo/webhooks`,
      demo.superUser.token,
      { url: receiver.url, eventTypes: ['job.finished'] },
    );
    const { secret } = (await made.json()) as { readonly secret: string };
    const toldOf = (jobs: readonly string[]) =>
      until('every job is told', () => {
        const told = receiver.events().map(({ data }) => String(data.jobId));
        return jobs.every((job) => told.includes(job)) ? told : null;
      });
    const sendOf = ({ baseUrl }: EngineProcess) => push(baseUrl, demo, demo.tagIds.slice(0, 1));

    await t.test('each event once, and never two requests at a time', async (t) => {
      let underWay = 0;
      let underWayMost = 0;
      receiver.answer = (_heard, response) => {
        underWay += 1;
        underWayMost = Math.max(underWayMost, underWay);
        setTimeout(() => {
          underWay -= 1;
          response.writeHead(204).end();
        }, ANSWER_AFTER_MS);
        return null;
      };
      const jobs: string[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const heard = receiver.heard.length;
        jobs.push(await sendOf(nodes[0]), await sendOf(nodes[1]));
        await until('a request is under way', () => (receiver.heard.length > heard ? true : null));
      }
      t.same([...(await toldOf(jobs))].sort(), [...jobs].sort());
      t.equal(underWayMost, 1);
      t.ok(receiver.heard.every((heard) => isSigned(heard, secret)));
    });

    await t.test('a node dies with a request under way', async (t) => {
      const store = await openPostgres(url);
      t.teardown(() => store.close());
      const { sql } = store;
      const lease = (minutes: number) => sql`
        update webhooks set not_before = now() + make_interval(mins => ${minutes})`;
      const delivered = async () => {
        const [row] = await sql<{ count: number }[]>`
          select count(*) from webhook_deliveries where state = 'delivered'`;
        return row?.count ?? 0;
      };
      const before = receiver.heard.length;
      await until('all is recorded', async () => ((await delivered()) === before ? true : null));
      t.equal(await nodes[1].end('SIGTERM'), 0);
      receiver.answer = () => null;
      const job = await sendOf(nodes[0]);
      await until('it is told', () => (receiver.heard.length > before ? true : null));
      await nodes[0].end('SIGKILL');
      // The time that the other one takes to start here; and then it has ended.
      await lease(10);
      receiver.answer = () => 204;
      await start();
      await sleep(ANSWER_AFTER_MS);
      t.equal(receiver.heard.length, before + 1, 'not while it is leased');
      await lease(0);
      await until('another node tells it', () =>
        receiver.heard.length > before + 1 ? true : null,
      );
      const [first, second] = receiver.heard.slice(before);
      t.match(first?.events, [{ data: { jobId: job } }]);
      t.same([second?.id, second?.body], [first?.id, first?.body]);
      await until('it is recorded', async () => ((await delivered()) === before + 1 ? true : null));
    });
  });
});
