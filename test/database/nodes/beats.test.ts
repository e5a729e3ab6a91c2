import type { Test } from 'tap';
import t from 'tap';
import type { Beat } from '../../../src/database/nodes/beats.ts';
import { beat, joinNodes, leaveNodes } from '../../../src/database/nodes/beats.ts';
import type { Sql } from '../../../src/database/sql.ts';
import { until } from '../../support/poll.ts';
import { withPostgresStore } from '../../support/store.ts';

const TERMS = { deadAfterMs: 5_000, gapMsMax: 2_000 };

await withPostgresStore(t, async (t, { sql }) => {
  const join = (pid: number): Promise<number> => joinNodes(sql, 'host', pid);
  /** Each test has the nodes that it makes, and no others. */
  const alone = (name: string, body: (t: Test) => Promise<void>) =>
    t.test(name, async (t) => {
      await sql`delete from nodes`;
      await body(t);
    });
  const beatOf = (id: number, tx: Sql = sql): Promise<Beat> => beat(tx, id, TERMS);
  const diedOf = async (id: number): Promise<readonly number[]> =>
    (await beatOf(id)).died.map((node) => node.id);
  /** Ages a node: it has beaten for so long, and for the last time so long ago. */
  const set = (id: number, { beatingS, silentS }: { beatingS: number; silentS: number }) => sql`
    update nodes set seen_at = now() - ${silentS}::float8 * interval '1 second',
      beating_since = now() - ${beatingS}::float8 * interval '1 second'
    where id = ${id}`;
  const LONG = { beatingS: 60, silentS: 1 };
  const SILENT = { beatingS: 60, silentS: 5.5 };

  await alone('who is silent for too long is dead for ever, and told once', async (t) => {
    const judge = await join(1);
    const silent = await join(2);
    await set(judge, LONG);
    await set(silent, { beatingS: 60, silentS: 4 });
    t.same(await beatOf(judge), { isAlive: true, died: [] }, 'not before its time');
    await set(silent, SILENT);
    t.same(await beatOf(judge), {
      isAlive: true,
      died: [{ id: silent, host: 'host', pid: 2 }],
    });
    t.same(await diedOf(judge), []);
    t.same(await beatOf(silent), { isAlive: false, died: [] });
    t.same(await beatOf(silent), { isAlive: false, died: [] }, 'no beat brings it back');
  });

  await alone('a node that has not beaten for as long calls nobody dead', async (t) => {
    const judge = await join(1);
    const silent = await join(2);
    await set(silent, SILENT);
    t.same(await diedOf(judge), [], 'it has just begun');
    await set(judge, { beatingS: 4.5, silentS: 1 });
    t.same(await diedOf(judge), []);
    await set(judge, { beatingS: 5.5, silentS: 1 });
    t.same(await diedOf(judge), [silent]);
  });

  await alone('after an outage of the database everybody comes back', async (t) => {
    const nodes = [await join(1), await join(2), await join(3)];
    for (const node of nodes) await set(node, { beatingS: 60, silentS: 10 });
    for (const node of nodes) t.same(await beatOf(node), { isAlive: true, died: [] });
    for (const node of nodes) t.same(await beatOf(node), { isAlive: true, died: [] });
    const [first = 0, gone = 0] = nodes;
    await set(first, { beatingS: 60, silentS: 2.5 });
    await set(gone, SILENT);
    t.same(await diedOf(first), [], 'a missed beat is a break as well');
  });

  await alone('a beat on its way keeps a node from being called dead', async (t) => {
    const judge = await join(1);
    const late = await join(2);
    await set(judge, LONG);
    await set(late, SILENT);
    await sql.begin(async (tx) => {
      t.match(await beatOf(late, tx), { isAlive: true });
      t.same(await diedOf(judge), [], 'and he who judges does not wait for it');
    });
    t.same(await diedOf(judge), []);
  });

  await alone('called dead first: the beat that waited for that does not count', async (t) => {
    const judge = await join(1);
    const late = await join(2);
    await set(judge, LONG);
    await set(late, SILENT);
    let beaten: Promise<Beat> | null = null;
    await sql.begin(async (tx) => {
      t.match(await beatOf(judge, tx), { died: [{ id: late }] });
      beaten = beatOf(late);
      await until('the beat waits', async () => {
        const [waiting] = await tx`select from pg_locks where not granted`;
        return waiting === undefined ? null : true;
      });
    });
    t.same(await beaten, { isAlive: false, died: [] });
  });

  await alone('who ends in order is dead, and nobody is told', async (t) => {
    const judge = await join(1);
    const ended = await join(2);
    await set(judge, LONG);
    await leaveNodes(sql, ended);
    await set(ended, SILENT);
    t.same(await diedOf(judge), []);
    t.same(await beatOf(ended), { isAlive: false, died: [] });
  });

  await alone('a node whose row was lost is not alive', async (t) => {
    const lost = await join(1);
    await sql`delete from nodes where id = ${lost}`;
    t.same(await beatOf(lost), { isAlive: false, died: [] });
    t.ok((await join(1)) > lost, 'an id is given once');
  });
});
