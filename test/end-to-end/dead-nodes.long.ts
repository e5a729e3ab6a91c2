/**
 * The losses of a send when one of its two nodes dies, hangs or cannot reach the database, with
 * leases that are far too long to matter: the heartbeat shows it.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import type { ProviderState } from '../../packages/simulator/src/record/record.ts';
import type { SqlPool } from '../../src/database/sql.ts';
import { connect } from '../../src/database/sql.ts';
import { finalStatus, push } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import { withPostgres } from '../support/store.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { reached, settled, settledAtMostOnce, sum, total } from './aftermath.ts';
import type { Scene } from './scene.ts';
import { DEVICES, setScene } from './scene.ts';

/** The time that a dead node's parts may wait for another one. */
const TAKEN_OVER_MS = 8_000;
/** Half of it is longer than a node is frozen here. */
const ENVIRONMENT = { WORKERS: '1', CHUNK_LEASE_MS: '60000' };
/**
 * The most that a frozen process may have given to its connections: one worker's streams to APNs
 * and to FCM.
 */
const IN_HAND_MAX = 1_100;
/** A send of some seconds, if the machine has nothing else to do. */
const SEND_LIMIT_MS = 120_000;
const SIMULATOR_FLAGS = ['--latency-ms=200'];

t.setTimeout(580_000);

interface Play {
  readonly scene: Scene;
  readonly sql: SqlPool;
  readonly victim: EngineProcess;
  readonly other: EngineProcess;
  readonly job: string;
}

/**
 * Two nodes in the middle of a send; the victim is the one that holds more of it. `databaseUrl`:
 * where they find the database, if not at `url`.
 */
async function play(
  t: Test,
  url: string,
  { databaseUrl = url, delivery = 'at-least-once' } = {},
): Promise<Play> {
  const scene = await setScene(t, url, { simulatorFlags: SIMULATOR_FLAGS });
  const environment = { ...ENVIRONMENT, DATABASE_URL: databaseUrl };
  const first = await scene.start(environment, temporaryDirectory(t));
  const second = await scene.start(environment, temporaryDirectory(t));
  const sql = connect({ kind: 'postgres', url }, 2);
  t.teardown(() => sql.end());
  const job = await push(first.baseUrl, scene.demo, [scene.tagId], undefined, { delivery });
  await reached(scene, 10_000);
  const [ofFirst, ofSecond] = await Promise.all([heldBy(sql, first), heldBy(sql, second)]);
  const [victim, other] = ofFirst.length >= ofSecond.length ? [first, second] : [second, first];
  return { scene, sql, victim, other, job };
}

interface HeldPart {
  readonly platformId: number;
  readonly groupNumber: number;
  readonly epoch: number;
}

const heldBy = (sql: SqlPool, { child }: EngineProcess) => sql<HeldPart[]>`
  select platform_id as "platformId", group_number as "groupNumber", epoch
  from chunks join nodes on nodes.id = node_id
  where node_epoch = epoch and lease_until > now() and pid = ${child.pid ?? 0}`;

/** Waits until another node has begun with one of these parts: it has claimed it. */
const takenOver = (sql: SqlPool, parts: readonly HeldPart[], limitMs: number): Promise<true> =>
  until(
    'another node has begun with its parts',
    async () => {
      const [row] = await sql`
        select from chunks
        join unnest(
          ${parts.map(({ platformId }) => platformId)}::smallint[],
          ${parts.map(({ groupNumber }) => groupNumber)}::integer[],
          ${parts.map(({ epoch }) => epoch)}::integer[]
        ) as held(platform_id, group_number, epoch) using (platform_id, group_number)
        where chunks.epoch > held.epoch and lease_until > now() limit 1`;
      return row === undefined ? null : true;
    },
    limitMs,
  );

const deadNodes = async (sql: SqlPool): Promise<readonly number[]> =>
  (await sql<{ pid: number }[]>`select pid from nodes where died_at is not null order by id`)
    // The one that has set the scene has ended in order.
    .slice(1)
    .map(({ pid }) => pid);

/** Resolves right after the node's next beat, so that how long it is silent is known. */
async function afterBeat(sql: SqlPool, { child }: EngineProcess): Promise<void> {
  const seenAt = async (): Promise<unknown> =>
    (await sql`select max(seen_at)::text as at from nodes where pid = ${child.pid ?? 0}`)[0]?.[
      'at'
    ];
  const before = await seenAt();
  await until('it beats', async () => ((await seenAt()) === before ? null : true));
}

/** A wire to the database that can be cut, and the database's URL through it. */
async function proxyTo(t: Test, url: string) {
  const proxy = await startTcpProxy(t, Number(new URL(url).port));
  const through = new URL(url);
  through.port = String(proxy.port);
  return { proxy, through: through.href };
}

async function unexplainedDuplicates({ simulator }: Scene): Promise<number> {
  const books = await (await fetch(`${simulator.controlUrl}/state`)).json();
  const { apns, fcm } = books as Readonly<Record<'apns' | 'fcm', ProviderState>>;
  return apns.unexplainedDuplicates + fcm.unexplainedDuplicates;
}

t.test('kill -9: another node goes on with its parts within eight seconds', async (t) => {
  await withPostgres(t, async (t, url) => {
    const { scene, sql, victim, other, job } = await play(t, url);
    await victim.end('SIGKILL');
    const parts = await heldBy(sql, victim);
    t.ok(parts.length > 0, 'it died in the middle');
    await takenOver(sql, parts, TAKEN_OVER_MS);
    await settled(t, scene, other, job);
    t.same(await deadNodes(sql), [victim.child.pid]);
    t.match(other.output(), /"msg":"a node is silent and counts as dead: others claim its work"/);
  });
});

t.test('kill -9, at most once: another goes on, and nobody has it twice', async (t) => {
  await withPostgres(t, async (t, url) => {
    const { scene, sql, victim, other, job } = await play(t, url, { delivery: 'at-most-once' });
    await victim.end('SIGKILL');
    const parts = await heldBy(sql, victim);
    t.ok(parts.length > 0, 'it died in the middle');
    await takenOver(sql, parts, TAKEN_OVER_MS);
    await settledAtMostOnce(t, scene, other, job);
  });
});

t.test('frozen for three seconds: nobody is called dead, and nobody has it twice', async (t) => {
  await withPostgres(t, async (t, url) => {
    const { scene, sql, victim, other, job } = await play(t, url);
    await afterBeat(sql, victim);
    victim.child.kill('SIGSTOP');
    t.ok((await total(scene)) < DEVICES, 'in the middle');
    await sleep(3_000);
    victim.child.kill('SIGCONT');
    const rows = await finalStatus(other.baseUrl, scene.demo, job, SEND_LIMIT_MS);
    t.equal(sum(rows, 'successCount'), DEVICES);
    t.equal(await total(scene), DEVICES);
    t.same(await deadNodes(sql), []);
  });
});

t.test('frozen for fifteen seconds: another took over, and it sends nothing more', async (t) => {
  await withPostgres(t, async (t, url) => {
    const { scene, sql, victim, other, job } = await play(t, url);
    victim.child.kill('SIGSTOP');
    const frozenAtMs = performance.now();
    const parts = await heldBy(sql, victim);
    t.ok(parts.length > 0, 'in the middle');
    await takenOver(sql, parts, TAKEN_OVER_MS);
    await settled(t, scene, other, job);
    await sleep(Math.max(0, 15_000 - (performance.now() - frozenAtMs)));
    const before = await total(scene);
    victim.child.kill('SIGCONT');
    await until('it has another id', async () => {
      const [row] = await sql`
        select from nodes where pid = ${victim.child.pid ?? 0} and died_at is null`;
      return row === undefined ? null : true;
    });
    // Awake when it has sent something of its own accord.
    await other.end('SIGTERM');
    const [, tagId = 0] = scene.demo.tagIds;
    await finalStatus(victim.baseUrl, scene.demo, await push(victim.baseUrl, scene.demo, [tagId]));
    const sentOn = (await total(scene)) - before;
    t.ok(sentOn <= IN_HAND_MAX, `${sentOn} that its connections had in hand went out, no more`);
    t.match(victim.output(), /this node was silent and counted as dead/);
  });
});

/** A thousand a second, of which no worker has its budget used up before its node is dead. */
const SLOW_FLAGS = ['--latency-ms=1000'];
const ONE_CONNECTION = { ...ENVIRONMENT, PROVIDER_CONNECTIONS_MAX: '1' };
const SLOW_DEVICES = { apnsDevices: 20_000, fcmDevices: 100 };
/** So many chunks, which one node can hold. */
const SLOW_PARTS = 4;

t.test('cut off from the database alone: it has stopped before another begins', async (t) => {
  await withPostgres(t, async (t, url) => {
    const { proxy, through } = await proxyTo(t, url);
    const scene = await setScene(t, url, { simulatorFlags: SLOW_FLAGS, ...SLOW_DEVICES });
    const cutOff = { ...ONE_CONNECTION, DATABASE_URL: through };
    const victim = await scene.start(cutOff, temporaryDirectory(t));
    const sql = connect({ kind: 'postgres', url }, 2);
    t.teardown(() => sql.end());
    const job = await push(victim.baseUrl, scene.demo, [scene.tagId]);
    await until('it holds all of it', async () =>
      (await heldBy(sql, victim)).length === SLOW_PARTS ? true : null,
    );
    const other = await scene.start(ONE_CONNECTION, temporaryDirectory(t));
    await reached(scene, 1_000);
    proxy.silenceAll();
    // Each before a look that has found it alive.
    const samples: { readonly atMs: number; readonly sent: number }[] = [];
    await until('it is called dead', async () => {
      const sample = { atMs: performance.now(), sent: await total(scene) };
      if ((await deadNodes(sql)).length > 0) return true;
      samples.push(sample);
      return null;
    });
    const last = samples.at(-1);
    const second = samples.findLast(({ atMs }) => atMs <= (last?.atMs ?? 0) - 1_000);
    t.ok((last?.sent ?? 0) < SLOW_DEVICES.apnsDevices, 'in the middle');
    t.equal(last?.sent, second?.sent, 'nothing was sent in the last second of its life');
    proxy.speak();
    const rows = await finalStatus(other.baseUrl, scene.demo, job, SEND_LIMIT_MS);
    t.equal(sum(rows, 'successCount'), SLOW_DEVICES.apnsDevices + SLOW_DEVICES.fcmDevices);
  });
});

t.test(
  'the database is silent for ten seconds: nobody is dead, and nobody has it twice',
  async (t) => {
    await withPostgres(t, async (t, url) => {
      const { proxy, through } = await proxyTo(t, url);
      const { scene, sql, other, job } = await play(t, url, { databaseUrl: through });
      proxy.silenceAll();
      await sleep(10_000);
      proxy.speak();
      await settled(t, scene, other, job);
      t.same(await deadNodes(sql), []);
      t.equal(await unexplainedDuplicates(scene), 0);
    });
  },
);
