/** A newcomer's way through the product, with real processes and nothing configured. */

import { once } from 'node:events';
import { statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { appOf, deliveries, finalStatus, hear, push, sumCloses } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { Demo, EngineProcess } from '../support/processes.ts';
import { runCommand, startEngine } from '../support/processes.ts';
import { seedEmbedded } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/**
 * FCM tokens are opaque: this one would break out of a JSON string that is put together by hand.
 */
const ODD_TOKEN = 'quote"backslash\\brace},"topic":"everybody';
/** A third of them has the one tag, a third the other, and a third both. */
const DEVICES_PER_PLATFORM = 60;
const PERMISSIONS = 0o777;
const MEBIBYTE = 2 ** 20;

t.setTimeout(300_000);

t.test('register, push, status; each device once; a restart keeps everything', async (t) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const engine = await startEngine(t, dataDir);
  const demo = engine.demo();
  const [tag = 0, otherTag = 0] = demo.tagIds;

  await t.test('demo.json is for its owner only, and says where everything is', async (t) => {
    t.equal(statSync(join(dataDir, 'demo.json')).mode & PERMISSIONS, 0o600);
    t.equal(demo.baseUrl, engine.baseUrl);
    t.same(demo.platformIds, [3, 15]);
    t.equal(demo.tagIds.length, demo.tagSourceIds.length);
    t.equal((await fetch(`${demo.simulator.controlUrl}/state`)).status, 200);
  });

  await t.test('a second process on the same directory is refused', async (t) => {
    const { code, output } = await runCommand(t, [], { DATA_DIR: dataDir, PORT: '0' });
    t.equal(code, 1);
    t.match(output, new RegExp(`already running, pid ${engine.child.pid}`));
  });

  await t.test('each thread tells of its memory', async (t) => {
    const heapOf = (metrics: string, thread: string): number =>
      Number(
        new RegExp(`^tagcast_thread_heap_used_bytes{thread="${thread}"} (\\d+)$`, 'm').exec(
          metrics,
        )?.[1],
      );
    const read = async (): Promise<string> => (await fetch(`${engine.baseUrl}/metrics`)).text();
    await until('every thread has told', async () => {
      const metrics = await read();
      const heaps = ['main', 'database', 'simulator', 'worker-1'].map((thread) =>
        heapOf(metrics, thread),
      );
      return heaps.every((octets) => octets > MEBIBYTE) && new Set(heaps).size === heaps.length
        ? true
        : null;
    });
    const external = /^tagcast_thread_external_bytes{thread="database"} (\d+)$/m.exec(await read());
    t.ok(Number(external?.[1]) > 100 * MEBIBYTE, "the database's own memory is there");
  });

  await t.test('devices of two tags, some of both', async (t) => {
    await forEach([...Array(DEVICES_PER_PLATFORM).keys()], async (i) => {
      const tagId = [[tag], [otherTag], [tag, otherTag]][i % 3];
      t.equal(await register(demo, 3, apnsToken(i), tagId), 'OK');
      t.equal(await register(demo, 15, `fcm-token-${i}`, tagId), 'OK');
    });
    t.equal(await register(demo, 15, ODD_TOKEN, [tag, otherTag]), 'OK');
  });

  await t.test('a push to both tags reaches each device exactly once', async (t) => {
    const job = await push(demo.baseUrl, demo, [tag, otherTag]);
    const all = 2 * DEVICES_PER_PLATFORM + 1;
    const heard = await hear(demo.baseUrl, demo, job);
    t.match(heard.at(-1), { id: job, state: 'FINISHED', totalCount: all, successCount: all });
    const rows = await finalStatus(demo.baseUrl, demo, job);
    t.match(rows, [
      {
        key: { platformId: 3 },
        state: 'FINISHED',
        totalCount: DEVICES_PER_PLATFORM,
        successCount: DEVICES_PER_PLATFORM,
        simulated: true,
      },
      {
        key: { platformId: 15 },
        state: 'FINISHED',
        totalCount: DEVICES_PER_PLATFORM + 1,
        successCount: DEVICES_PER_PLATFORM + 1,
        simulated: true,
      },
    ]);
    t.ok(rows.every(sumCloses));
    t.same(await deliveries(demo.simulator.controlUrl, 'apns'), onceEach(DEVICES_PER_PLATFORM));
    t.same(await deliveries(demo.simulator.controlUrl, 'fcm'), onceEach(DEVICES_PER_PLATFORM + 1));
  });

  await t.test('an FCM token with quotes and backslashes arrives as that token', async (t) => {
    const url = `${demo.simulator.controlUrl}/received/fcm/${encodeURIComponent(ODD_TOKEN)}`;
    const received = (await (await fetch(url)).json()) as { readonly accepted: number };
    t.equal(received.accepted, 1);
  });

  await t.test('SIGTERM drains and exits 0; the next start has everything', async (t) => {
    t.equal(await engine.end('SIGTERM'), 0);
    const again = await startEngine(t, dataDir);
    // The link of each start is another one.
    const { baseUrl: _, consoleUrl: __, simulator, ...kept } = again.demo();
    t.match(demo, kept, 'ids and credentials are the same');
    const rows = await finalStatus(
      again.baseUrl,
      demo,
      await push(again.baseUrl, demo, [tag, otherTag]),
    );
    t.match(rows, [
      { successCount: DEVICES_PER_PLATFORM },
      { successCount: DEVICES_PER_PLATFORM + 1 },
    ]);
    t.same(await deliveries(simulator.controlUrl, 'apns'), onceEach(DEVICES_PER_PLATFORM));
    t.equal(await again.end('SIGTERM'), 0);
  });
});

t.test('a registration that was answered OK survives kill -9', async (t) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const engine = await startEngine(t, dataDir);
  const demo = engine.demo();
  const [tag = 0] = demo.tagIds;
  const answered: string[] = [];
  const work = Promise.all(
    Array.from({ length: 32 }, (_, worker) =>
      registerUntilGone(demo, worker, tag, answered, engine),
    ),
  );
  await work;
  t.ok(answered.length >= KILL_AFTER, `${answered.length} were answered OK`);

  const again = await startEngine(t, dataDir);
  let missing = 0;
  await forEach(answered, async (deviceId) => {
    const body = { appId: demo.appId, platformId: 3, deviceId };
    const app = appOf({ ...demo, baseUrl: again.baseUrl });
    const { body: tags } = await app.request('POST', '/push-api/list', { body });
    if (!tags.some(({ id }) => id === tag)) missing += 1;
  });
  t.equal(missing, 0);
});

t.test('the command line', async (t) => {
  const help = await runCommand(t, ['--help']);
  t.equal(help.code, 0);
  for (const command of ['serve', 'simulate', 'client', 'app', 'credential'])
    t.match(help.output, command);

  const unknown = await runCommand(t, ['sing']);
  t.equal(unknown.code, 2);
  t.match(unknown.output, 'There is no command sing.');

  const wrong = await runCommand(t, [], { PORT: 'eighty' });
  t.equal(wrong.code, 1);
  t.match(wrong.output, /^PORT: /m);

  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const refused = await runCommand(t, [], { DATA_DIR: dataDir, PORT: String(port) });
  t.equal(refused.code, 1);
  t.match(refused.output, new RegExp(`^PORT: ${port} is in use on 127.0.0.1`, 'm'));

  const unreachable = await runCommand(t, [], {
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    SECRET_KEY: 'a secret of thirty-two characters',
  });
  t.equal(unreachable.code, 1);
  t.match(unreachable.output, /ECONNREFUSED/);

  const nobody = await runCommand(t, ['client', 'list'], { DATA_DIR: temporaryDirectory(t) });
  t.equal(nobody.code, 1);
  t.match(nobody.output, 'not running');
});

const KILL_AFTER = 200;
/**
 * Requests at once, as apps send them; one after the other each would have a transaction of its
 * own.
 */
const REQUESTS_AT_ONCE = 32;

async function forEach<T>(items: readonly T[], visit: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const visitLeft = async (): Promise<void> => {
    for (const item of left) await visit(item);
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, visitLeft));
}

/** The simulator's counts when each of so many got one. */
const onceEach = (tokens: number) => ({ tokens, times: { 1: tokens } });

const apnsToken = (i: number): string => i.toString(16).padStart(64, '0');

async function register(
  demo: Demo,
  platformId: number,
  deviceId: string,
  tagId: readonly number[] = [],
): Promise<string> {
  const body = { appId: demo.appId, platformId, deviceId, tagId };
  return (await appOf(demo).request('POST', '/push-api/reg', { body })).body;
}

/**
 * Registers one device after the other; the 200th OK kills the engine in the midst of the others.
 */
async function registerUntilGone(
  demo: Demo,
  worker: number,
  tag: number,
  answered: string[],
  engine: EngineProcess,
): Promise<void> {
  for (let i = 0; ; i += 1) {
    const deviceId = apnsToken(worker * 1_000_000 + i);
    try {
      if ((await register(demo, 3, deviceId, [tag])) === 'OK') answered.push(deviceId);
    } catch {
      // The connection broke: the engine has gone, and this one was not answered.
      return;
    }
    if (answered.length === KILL_AFTER) engine.child.kill('SIGKILL');
  }
}
