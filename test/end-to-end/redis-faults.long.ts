/**
 * Redis is an accelerator, never the truth: whatever happens to it, no device is missed, and none
 * gets a push that is not for it.
 */

import type { Test } from 'tap';
import t from 'tap';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { startRedis, withRedis } from '../support/redis-server.ts';
import { withPostgres } from '../support/store.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { Field } from './redis-field.ts';

t.setTimeout(400_000);

/** Devices changed at a time, known and new each. */
const CHANGES = 60;

/** An engine, and its way to Redis. */
interface Node {
  readonly engine: EngineProcess;
  readonly wire: TcpProxy;
}

interface Stage {
  readonly redis: RedisServer;
  readonly field: Field;
  readonly one: Node;
  readonly other: Node;
  readonly engines: readonly EngineProcess[];
}

/**
 * In this order: the last but one ends an engine. Each begins with an index that is whole, and
 * leaves it so.
 */
const FAULTS: Readonly<Record<string, (t: Test, stage: Stage) => Promise<void>>> = {
  'an empty one is filled, and fed': async (t, { field, other, engines }) => {
    await field.watch.isRepaired(t, 'at first');
    await field.change(engines, CHANGES);
    await field.isWhole(t, other.engine, 'fed');
  },

  'changes come in the wrong order from two nodes': async (t, stage) => {
    const { field, one, other, engines } = stage;
    await field.watch.hold();
    const first = await overtake(stage);
    await field.sendsWhileBehind(t, other.engine, 'the first one is on its way');
    one.wire.speak();
    await first.isAnswered;
    await field.sendsExactly(t, other.engine, 'the first one has come');
    await field.watch.letRepair();
    await field.isWhole(t, other.engine, 'in the wrong order');

    const late = await overtake(stage);
    await field.watch.isRepaired(t, 'without it');
    await field.watch.hold();
    one.wire.speak();
    await late.isAnswered;
    t.same(await field.watch.stale(), [], 'what comes late takes nothing back');
    await field.watch.isRight(t, 'late');
    await field.watch.letRepair();

    await Promise.all([
      field.change([one.engine], CHANGES),
      field.change([other.engine], CHANGES),
      field.change(engines, CHANGES),
    ]);
    await field.isWhole(t, one.engine, 'both at once');
  },

  'killed, and started again empty': async (t, { redis, field, one, other, engines }) => {
    await Promise.all([field.change(engines, CHANGES), redis.kill()]);
    await field.isDurable(t, 'killed');
    await field.sendsExactly(t, other.engine, 'without Redis');
    t.equal(await metric(other.engine, 'tagcast_index_reachable'), 0);
    for (const { wire } of [one, other]) wire.silenceAll();
    await redis.start();
    t.equal(await redis.client.dbsize(), 0, 'it is empty');
    await field.watch.hold();
    for (const { wire } of [one, other]) wire.speak();
    await areReaching(engines);
    await field.change(engines, CHANGES);
    await field.sendsWhileBehind(t, other.engine, 'empty');
    await field.sendsWhileBehind(t, one.engine, 'empty still');
    await field.watch.letRepair();
    await field.isWhole(t, other.engine, 'filled again');
    const repaired = await Promise.all(
      engines.map((engine) => metric(engine, 'tagcast_index_groups_repaired_total')),
    );
    t.ok(Math.max(...repaired) > 0, `the engines have repaired ${repaired.join(' and ')} groups`);
  },

  'flushed in the middle of a send': async (t, { field, other, engines }) => {
    await field.watch.hold();
    await field.sendsExactly(t, other.engine, 'flushed', async () => {
      await field.watch.flushButHeld();
      const waiting = await field.sql`select from chunks where epoch = 0`;
      t.ok(waiting.length > 0, `${waiting.length} groups were not yet looked up`);
      await field.change(engines, CHANGES);
    });
    t.ok((await field.watch.stale()).length > 0, 'they were found in the database');
    await field.isDurable(t, 'flushed');
    await field.sendsWhileBehind(t, other.engine, 'after it');
    await field.watch.letRepair();
    await field.isWhole(t, other.engine, 'filled again');
  },

  'it hangs': async (t, { redis, field, other, engines }) => {
    redis.signal('SIGSTOP');
    await field.change(engines, CHANGES);
    await field.isDurable(t, 'while it hangs');
    await field.sendsExactly(t, other.engine, 'while it hangs');
    redis.signal('SIGCONT');
    await field.isWhole(t, other.engine, 'awake');
    await field.sendsExactly(t, other.engine, 'hangs in the middle', async () => {
      redis.signal('SIGSTOP');
      await field.change(engines, CHANGES);
    });
    redis.signal('SIGCONT');
    await field.isWhole(t, other.engine, 'awake again');
  },

  'started again with an older dump': async (t, { redis, field, other, engines }) => {
    await field.watch.hold();
    await redis.client.save();
    await field.change(engines, CHANGES);
    await Promise.all([field.change(engines, CHANGES), redis.kill()]);
    await redis.start();
    t.ok((await redis.client.dbsize()) > 0, 'the dump was loaded');
    await areReaching(engines);
    await field.change(engines, CHANGES);
    await field.sendsWhileBehind(t, other.engine, 'older');
    await field.sendsWhileBehind(t, other.engine, 'older still');
    await field.watch.letRepair();
    await field.isWhole(t, other.engine, 'brought up to date');
  },

  'an engine is killed between commit and apply': async (t, { field, one, other }) => {
    await field.watch.hold();
    one.wire.silenceAll();
    const token = field.freshToken();
    const answer = field.ask(one.engine, 'reg', token).catch(() => 'none');
    await until('it is committed', async () => ((await field.isSubscribed(token)) ? true : null));
    await one.engine.end('SIGKILL');
    t.equal(await answer, 'none', 'it was not answered');
    await field.sendsWhileBehind(t, other.engine, 'killed');
    await field.watch.letRepair();
    await field.isWhole(t, other.engine, 'the other one repairs it');
  },

  'an engine starts while it hangs': async (t, { redis, field }) => {
    redis.signal('SIGSTOP');
    const late = await field.start();
    await field.change([late], CHANGES);
    await field.sendsExactly(t, late, 'started without Redis');
    redis.signal('SIGCONT');
    await field.isWhole(t, late, 'with it');
  },
};

/**
 * Resolves when the engines have noticed that Redis is there: what is changed from now on, they try
 * to bring to it.
 */
async function areReaching(engines: readonly EngineProcess[]): Promise<void> {
  for (const engine of engines) {
    await until('Redis is reachable', async () =>
      (await metric(engine, 'tagcast_index_reachable')) === 1 ? true : null,
    );
  }
}

async function metric({ baseUrl }: EngineProcess, name: string): Promise<number> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

/**
 * A change of one engine is committed and stuck on its way to Redis; the other one's change of the
 * same group is committed after it, comes first and is answered.
 */
async function overtake({
  field,
  one,
  other,
}: Stage): Promise<{ readonly isAnswered: Promise<void> }> {
  const [first, second] = field.neighbours();
  const wasSubscribed = await field.isSubscribed(first);
  one.wire.silence();
  const isAnswered = field.toggle(one.engine, first);
  await until('it is committed', async () =>
    (await field.isSubscribed(first)) !== wasSubscribed ? true : null,
  );
  await field.toggle(other.engine, second);
  return { isAnswered };
}

await withRedis(t, (t) =>
  withPostgres(t, async (t, url) => {
    const redis = await startRedis(t);
    const field = await Field.open(t, url, { kind: 'single', url: redis.url });
    const startNode = async (): Promise<Node> => {
      const wire = await startTcpProxy(t, redis.port);
      const engine = await field.start({ REDIS_URL: `redis://127.0.0.1:${wire.port}` });
      return { engine, wire };
    };
    const other = await startNode();
    const one = await startNode();
    const stage = { redis, field, one, other, engines: [one.engine, other.engine] };
    for (const [name, body] of Object.entries(FAULTS)) await t.test(name, (t) => body(t, stage));
  }),
);
