import { pino } from 'pino';
import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { openPostgres } from '../../../src/database/store.ts';
import { Heartbeat } from '../../../src/push/dispatch/heartbeat.ts';
import { Presence } from '../../../src/push/protocol/presence.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { until } from '../../support/poll.ts';
import { withPostgres, withPostgresStore } from '../../support/store.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

interface Node {
  readonly presence: Presence;
  readonly heartbeat: Heartbeat;
  readonly id: () => number;
  readonly log: readonly string[];
}

async function startNode(t: Test, store: Store): Promise<Node> {
  const log: string[] = [];
  const presence = new Presence(systemClock);
  const heartbeat = new Heartbeat({
    store,
    presence,
    clock: systemClock,
    log: pino({ level: 'info' }, { write: (line: string) => void log.push(line) }),
  });
  await heartbeat.start();
  t.teardown(() => heartbeat.stop());
  return { presence, heartbeat, id: () => presence.nodeId ?? 0, log };
}

/** Ages a node: it has been silent, or at it, for so long. */
const age = ({ sql }: Store, node: Node, { silentS = 0, beatingS = 0 }) => sql`
  update nodes set seen_at = seen_at - ${silentS}::float8 * interval '1 second',
    beating_since = beating_since - ${beatingS}::float8 * interval '1 second'
  where id = ${node.id()}`;

/** Resolves when it has beaten once more. */
async function beaten({ sql }: Store, id: number): Promise<void> {
  const [before] = await sql`select seen_at::text as at from nodes where id = ${id}`;
  await until('it beats', async () => {
    const [now] = await sql`select seen_at::text as at from nodes where id = ${id}`;
    return now?.['at'] === before?.['at'] ? null : true;
  });
}

/** Its answer comes after the beat; on a busy machine the one before may be over by then. */
const covered = ({ presence }: Node, id: number, what = 'it is present'): Promise<true> =>
  until(what, () => (presence.covers(id) ? true : null));

const isDead = async ({ sql }: Store, id: number): Promise<boolean> =>
  (await sql`select from nodes where id = ${id} and died_at is not null`).length > 0;

await withPostgresStore(t, async (t, store) => {
  await t.test('a node is present from its start, and goes on by its beats', async (t) => {
    const node = await startNode(t, store);
    const id = node.id();
    t.ok(node.presence.covers(id));
    await beaten(store, id);
    await covered(node, id);
    await store.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    await beaten(store, id);
    await covered(node, id, 'a connection that was lost is made anew');
    t.equal(node.id(), id);
    await node.heartbeat.stop();
    t.ok(await isDead(store, id), 'and it ends in order');
  });

  await t.test('a silent one is called dead, and goes on under another id', async (t) => {
    const judge = await startNode(t, store);
    const hung = await startNode(t, store);
    const id = hung.id();
    await age(store, judge, { beatingS: 60 });
    await hung.heartbeat.stop();
    await store.sql`update nodes set died_at = null where id = ${id}`;
    await age(store, hung, { silentS: 6 });
    await until('it is called dead', () => (judge.log.length > 0 ? true : null));
    t.match(JSON.parse(judge.log[0] ?? ''), { level: 40, node: { id, pid: process.pid } });
    await hung.heartbeat.beat();
    t.match(JSON.parse(hung.log[0] ?? ''), { level: 40, nodeId: id });
    t.not(hung.id(), id);
    t.ok(hung.presence.covers(hung.id()));
    t.notOk(hung.presence.covers(id), 'what it had claimed is not sent any more');
  });
});

t.test('while the database says nothing the node is not present', async (t) => {
  await withPostgres(t, async (t, url) => {
    const proxy = await startTcpProxy(t, Number(new URL(url).port));
    const through = new URL(url);
    through.port = String(proxy.port);
    const store = await openPostgres(through.href);
    t.teardown(() => store.close());
    const node = await startNode(t, store);
    const id = node.id();
    proxy.silenceAll();
    await until('its presence has ended', () => (node.presence.covers(id) ? null : true));
    proxy.speak();
    await until('it is back', () => (node.presence.covers(id) ? true : null));
    await node.heartbeat.stop();
  });
});
