/** Groups as resources of the Admin API, over real HTTP on every store. */

import type { Test } from 'tap';
import t from 'tap';
import { tagGroupResourceRoutes } from '../../../src/catalogue/routes/tag-group-resources.ts';
import { tagResourceRoutes } from '../../../src/catalogue/routes/tag-resources.ts';
import type { Store } from '../../../src/database/store.ts';
import type { Resources } from '../../support/resources.ts';
import { openResources, pathsOf } from '../../support/resources.ts';
import { withStores } from '../../support/store.ts';

interface Scene extends Resources {
  readonly store: Store;
  make(fields: object): Promise<number>;
}

async function open(t: Test, store: Store, slug: string): Promise<Scene> {
  const { patientReads, sql } = store;
  const resources = await openResources(t, store, slug, [
    ...tagGroupResourceRoutes({ sql, patientReads }),
    ...tagResourceRoutes({
      sql,
      patientReads,
      onDisconnected: () => undefined,
      takeOff: async () => undefined,
    }),
  ]);
  const make = async (fields: object): Promise<number> => {
    const made = await resources.ask('POST', 'groups', fields);
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return made.body.id;
  };
  return { ...resources, store, make };
}

const scenes: Record<string, (t: Test, scene: Scene) => Promise<void>> = {
  'made, read, moved, deleted when empty': async (t, { ask, make }) => {
    const sport = await make({ name: 'Sport', sourceId: 'sport' });
    const made = await ask('POST', 'groups', { name: 'Football', parentGroupSourceId: 'sport' });
    t.equal(made.status, 201);
    const { id } = made.body;
    t.same(made.body, { id, name: 'Football', parentId: sport, parentGroupSourceId: 'sport' });
    const path = `groups/${id}`;
    t.same((await ask('GET', path)).body, made.body);
    t.same((await ask('GET', 'groups')).body, [
      { id: sport, name: 'Sport', sourceId: 'sport' },
      made.body,
    ]);
    t.same((await ask('PATCH', path, made.body)).body, made.body, 'what was answered, sent back');
    t.same((await ask('PATCH', path, { parentId: null, sourceId: 'football' })).body, {
      id,
      name: 'Football',
      sourceId: 'football',
    });
    t.equal((await ask('PATCH', path, { sourceId: 'sport' })).status, 409);
    t.equal((await ask('POST', 'groups', { name: 'x', sourceId: 'sport' })).status, 409);

    await ask('PATCH', path, { parentId: sport });
    t.match(await ask('DELETE', `groups/${sport}`), { status: 409, body: { detail: /not empty/ } });
    const tag = (await ask('POST', 'tags', { name: 'Cup', groupId: id })).body.id;
    t.equal((await ask('DELETE', path)).status, 409, 'a tag is in it');
    t.equal((await ask('DELETE', `tags/${tag}`)).status, 204);
    t.equal((await ask('DELETE', path)).status, 204);
    t.equal((await ask('DELETE', `groups/${sport}`)).status, 204);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const { status } = await ask(method, path, method === 'PATCH' ? {} : undefined);
      t.equal(status, 404, method);
    }
  },

  'no cycle, and 32 deep at most': async (t, { ask, make }) => {
    const chain = [await make({ name: 'g0' })];
    for (let n = 1; n < 32; n += 1) {
      chain.push(await make({ name: `g${n}`, parentId: chain[n - 1] }));
    }
    const [top, second] = chain;
    const tooDeep = await ask('POST', 'groups', { name: 'g32', parentId: chain.at(-1) });
    t.match(tooDeep, { status: 400, body: { errors: [{ path: 'parentId', message: /32/ }] } });
    const other = await make({ name: 'other' });
    t.equal((await ask('PATCH', `groups/${top}`, { parentId: other })).status, 400);
    for (const parentId of [top, second, chain.at(-1)]) {
      const circle = await ask('PATCH', `groups/${top}`, { parentId });
      t.match(circle, {
        status: 400,
        body: { errors: [{ path: 'parentId', message: /cycle/ }] },
      });
    }
    t.notOk('parentId' in (await ask('GET', `groups/${top}`)).body, 'it is where it was');
    t.equal((await ask('PATCH', `groups/${second}`, { parentId: other })).status, 200);
  },

  'two moves at once make no cycle': async (t, { ask, make, store, tenant }) => {
    for (let round = 0; round < 10; round += 1) {
      const [one, other] = [await make({ name: 'one' }), await make({ name: 'other' })];
      const answers = await Promise.all([
        ask('PATCH', `groups/${one}`, { parentId: other }),
        ask('PATCH', `groups/${other}`, { parentId: one }),
      ]);
      t.same(answers.map(({ status }) => status).sort(), [200, 400], 'one of them is too late');
      const late = answers.find(({ status }) => status === 400);
      t.match(late?.body.errors, [{ path: 'parentId', message: /cycle/ }]);
    }
    // Three in a ring, of which two may move.
    const ring = [await make({ name: 'a' }), await make({ name: 'b' }), await make({ name: 'c' })];
    const moves = await Promise.all(
      ring.map((id, at) => ask('PATCH', `groups/${id}`, { parentId: ring[(at + 1) % 3] })),
    );
    t.same(moves.map(({ status }) => status).sort(), [200, 200, 400]);
    const [left] = await store.sql<{ count: number }[]>`
      with recursive below as (
        select id from tag_groups where client_id = ${tenant.clientId} and parent_id is null
        union all
        select g.id from tag_groups g join below on g.parent_id = below.id
      )
      select (select count(*) from tag_groups where client_id = ${tenant.clientId}) - (select count(*) from below) as count`;
    t.equal(left?.count, 0, 'every group is reached from the top');
  },

  'what is not valid is said': async (t, { ask, make }) => {
    const id = await make({ name: 'g', sourceId: 'g' });
    const other = await make({ name: 'h', sourceId: 'h' });
    const faults: readonly (readonly [fields: object, path: string])[] = [
      [{ name: '' }, 'name'],
      [{ name: null }, 'name'],
      [{ parentId: 99_999 }, 'parentId'],
      [{ parentGroupSourceId: 'nowhere' }, 'parentGroupSourceId'],
      [{ parentId: other, parentGroupSourceId: 'g' }, 'parentGroupSourceId'],
      [{ parent: other }, 'parent'],
    ];
    for (const [fields, path] of faults) {
      for (const [method, to] of [
        ['POST', 'groups'],
        ['PATCH', `groups/${id}`],
      ] as const) {
        const answer = await ask(method, to, { name: 'x', ...fields });
        t.equal(answer.status, 400);
        t.same(pathsOf(answer), [path], `${method} ${JSON.stringify(fields)}`);
      }
    }
    t.match((await ask('POST', 'groups', { name: 'x', parent: 1 })).body.errors, [
      { path: 'parent', message: /nearest is parentId/ },
    ]);
    t.same(pathsOf(await ask('PATCH', `groups/${id}`, { id: other })), ['id']);
    t.same(pathsOf(await ask('GET', 'groups?q=x')), ['q']);
    for (const path of ['groups/0', 'groups/x', 'groups/99999999999', 'groups/2147483647']) {
      t.equal((await ask('GET', path)).status, 404, path);
    }
  },

  'pages stay right while rows come and go': async (t, { ask, walk, make }) => {
    const ids: number[] = [];
    for (let n = 0; n < 30; n += 1) ids.push(await make({ name: `g${n}` }));
    const goes = ids.filter((_, at) => at % 5 === 0);
    const stays = ids.filter((_, at) => at % 5 !== 0);
    let made = 0;
    const seen = (await walk('groups', 4, async () => {
      for (const id of [goes.shift(), goes.pop()]) {
        if (id !== undefined) t.equal((await ask('DELETE', `groups/${id}`)).status, 204);
      }
      made += 1;
      if (made <= 10) await make({ name: 'new' });
    })) as readonly { id: number }[];
    const told = seen.map(({ id }) => id);
    t.equal(new Set(told).size, told.length, 'none twice');
    t.same(
      told.filter((id) => stays.includes(id)),
      stays,
    );
    t.equal((await ask('GET', 'groups')).body.length, (await walk('groups', 1_000)).length);
  },
};

t.test('on every store', async (t) => {
  await withStores(t, async (t, store) => {
    for (const [index, [name, play]] of Object.entries(scenes).entries()) {
      await t.test(name, async (t) => play(t, await open(t, store, `demo-${index}`)));
    }
  });
});
