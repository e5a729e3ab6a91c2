/** The tag endpoints of the Admin API, sentence by sentence, over real HTTP on every store. */

import type { Test } from 'tap';
import t from 'tap';
import { tagRoutes } from '../../../src/catalogue/routes/tags.ts';
import type { Sql } from '../../../src/database/sql.ts';
import type { Store } from '../../../src/database/store.ts';
import { addTenant, basic, bearer, startApiOn } from '../../support/api.ts';
import { withStores } from '../../support/store.ts';

interface Answer {
  readonly status: number;
  // Whatever came back: the assertions say what it is to be.
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every form.
  readonly body: any;
}

interface Admin {
  readonly clientId: number;
  readonly sql: Sql;
  add(body: unknown): Promise<Answer>;
  /** Posts the text unchanged, under a Content-Type. */
  addAs(contentType: string, body: string): Promise<Answer>;
  update(body: unknown): Promise<Answer>;
  remove(body: unknown): Promise<Answer>;
  /** `tag/<path>/<its own slug>` */
  get(path: string): Promise<Answer>;
  /** Any path of the Admin API. */
  ask(path: string): Promise<Answer>;
  version(): Promise<number>;
}

async function open(t: Test, store: Store, slug: string): Promise<Admin> {
  const demo = await addTenant(store.sql, slug);
  const { baseUrl } = await startApiOn(t, store, tagRoutes(store.sql));
  const headers = { Authorization: bearer(demo.superUser) };
  const read = async (response: Response): Promise<Answer> => ({
    status: response.status,
    body: await response.json(),
  });
  const post =
    (verb: string, more: object = {}) =>
    async (body: unknown) =>
      read(
        await fetch(`${baseUrl}/push-admin-api/tag/${verb}/${slug}`, {
          method: 'POST',
          headers: { ...headers, ...more },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      );
  return {
    clientId: demo.clientId,
    sql: store.sql,
    add: post('add'),
    addAs: (contentType, body) => post('add', { 'Content-Type': contentType })(body),
    update: post('update'),
    remove: post('delete'),
    get: async (path) =>
      read(await fetch(`${baseUrl}/push-admin-api/tag/${path}/${slug}`, { headers })),
    ask: async (path) => read(await fetch(`${baseUrl}/push-admin-api/${path}`, { headers })),
    async version() {
      const [row] = await store.sql<{ version: number }[]>`
        select catalogue_version as version from clients where id = ${demo.clientId}`;
      return row?.version ?? -1;
    },
  };
}

type Scene = (t: Test, admin: Admin, store: Store) => Promise<void>;

/** Played on every store at the end of this file, each with a client of its own. */
const scenes: { readonly name: string; readonly play: Scene }[] = [];
const scene = (name: string, play: Scene): number => scenes.push({ name, play });

/** The paths of the faults that a 400 lists. */
const pathsOf = ({ body }: Answer): readonly string[] =>
  (body.errors ?? []).map(({ path }: { path: string }) => path);

scene('add, get, update, delete', async (t, admin) => {
  const given = {
    name: 'Goals',
    sourceId: 'goals',
    expiration: 4_102_444_800_000,
    tagOptionalParameters: { 'auto-subscribe': 'true', visible: 'false' },
  };
  const added = await admin.add({ tags: [given, { name: 'No source' }] });
  t.equal(added.status, 200);
  const [goals, plain] = added.body.tags;
  t.match(added.body, { tags: [given, { name: 'No source' }] });
  t.ok(Number.isInteger(goals.id) && Number.isInteger(plain.id) && goals.id !== plain.id);
  t.notOk('groups' in added.body);

  t.same((await admin.get('sourceId/goals')).body, { ...given, id: goals.id });
  t.same((await admin.get(`id/${plain.id}`)).body, { id: plain.id, name: 'No source' });

  const version = await admin.version();
  const iso = { sourceId: 'goals', expiration: '2100-01-01T01:00:00+01:00' };
  t.match((await admin.update({ tags: [iso] })).body.tags, [{ expiration: 4_102_444_800_000 }]);
  const updated = await admin.update({ tags: [{ sourceId: 'goals', expiration: null }] });
  t.same(updated.body, { tags: [{ sourceId: 'goals', expiration: null, id: goals.id }] });
  t.ok((await admin.version()) > version);
  const { expiration: _, ...kept } = given;
  t.same((await admin.get('sourceId/goals')).body, { ...kept, id: goals.id });
  // PHP writes an empty object like this.
  await admin.update({ tags: [{ id: goals.id, tagOptionalParameters: [] }] });
  await admin.update({ tags: [{ id: goals.id, tagOptionalParameters: null, name: 'Tore' }] });
  t.same((await admin.get('sourceId/goals')).body, {
    id: goals.id,
    name: 'Tore',
    sourceId: 'goals',
  });
  await admin.update({ tags: [{ id: String(goals.id), sourceId: 'tore' }] });
  t.equal((await admin.get('sourceId/goals')).status, 404);
  t.equal((await admin.get('sourceId/tore')).body.id, goals.id);
  t.equal((await admin.update({ tags: [{ id: plain.id, sourceId: 'tore' }] })).status, 409);

  const removed = await admin.remove({ tags: [{ sourceId: 'tore' }] });
  t.same(removed.body, { tags: [{ sourceId: 'tore', id: goals.id }] });
  for (const answer of [
    await admin.get('sourceId/tore'),
    await admin.get(`id/${goals.id}`),
    await admin.remove({ tags: [{ id: goals.id }] }),
    await admin.update({ tags: [{ sourceId: 'tore', name: 'x' }] }),
  ]) {
    t.equal(answer.status, 404);
    t.match(answer.body, { status: 404, requestId: String });
  }
  const again = await admin.add({ tags: [{ name: 'Goals', sourceId: 'tore' }] });
  t.not(again.body.tags[0].id, goals.id, 'the sourceId is free again, the tag is another');
});

scene(
  'add makes sure: known sourceIds are kept, what is given is changed, nothing is raised for nothing',
  async (t, admin) => {
    const entry = {
      name: 'A',
      sourceId: 'a',
      expiration: '4102444800000',
      tagOptionalParameters: { b: '2', a: '1' },
    };
    const [first] = (await admin.add({ tags: [entry] })).body.tags;
    const version = await admin.version();
    const [same] = (await admin.add({ tags: [entry] })).body.tags;
    t.equal(same.id, first.id);
    t.equal(await admin.version(), version, 'no change, no new version');

    const [renamed] = (await admin.add({ tags: [{ name: 'B', sourceId: 'a' }] })).body.tags;
    t.equal(renamed.id, first.id);
    t.ok((await admin.version()) > version);
    t.same((await admin.get('sourceId/a')).body, {
      ...entry,
      id: first.id,
      name: 'B',
      expiration: 4_102_444_800_000,
    });
    const twice = await admin.add({
      tags: [
        { name: 'C', sourceId: 'twice' },
        { name: 'D', sourceId: 'twice', expiration: 1e11 },
      ],
    });
    t.equal(twice.body.tags[0].id, twice.body.tags[1].id);
    t.match((await admin.get('sourceId/twice')).body, { name: 'D', expiration: 1e11 });
  },
);

scene(
  'groups: before tags, in any order, moved, never in a circle, deleted when empty',
  async (t, admin) => {
    const added = await admin.add({
      tags: [{ name: 'Bayern', sourceId: 'bayern', groupSourceId: 'clubs' }],
      groups: [
        { name: 'Clubs', sourceId: 'clubs', parentGroupSourceId: 'football' },
        { name: 'Football', sourceId: 'football' },
        { name: 'Nameless' },
      ],
    });
    t.equal(added.status, 200);
    const [clubs, football] = added.body.groups;
    t.match(added.body, {
      groups: [{ name: 'Clubs', parentGroupSourceId: 'football' }, { name: 'Football' }, {}],
      tags: [{ sourceId: 'bayern', groupSourceId: 'clubs' }],
    });
    t.equal((await admin.get('sourceId/bayern')).body.groupSourceId, 'clubs');
    const parentOf = async (id: number) => {
      const [row] = await admin.sql`select parent_id from tag_groups where id = ${id}`;
      return row?.['parent_id'];
    };
    t.equal(await parentOf(clubs.id), football.id);

    const circle = await admin.update({
      groups: [{ sourceId: 'football', parentGroupSourceId: 'clubs' }],
    });
    t.equal(circle.status, 400);
    t.same(pathsOf(circle), ['groups.0.parentGroupSourceId']);
    const addedCircle = await admin.add({
      groups: [{ name: 'Football', sourceId: 'football', parentGroupSourceId: 'clubs' }],
    });
    t.same(pathsOf(addedCircle), ['groups.0.parentGroupSourceId']);
    t.equal(await parentOf(football.id), null, 'nothing was written');

    t.equal(
      (await admin.update({ groups: [{ sourceId: 'clubs', parentGroupSourceId: null }] })).status,
      200,
    );
    t.equal(await parentOf(clubs.id), null);
    await admin.update({ tags: [{ sourceId: 'bayern', groupSourceId: 'football' }] });
    t.equal((await admin.get('sourceId/bayern')).body.groupSourceId, 'football');
    t.equal((await admin.update({ groups: [{ id: clubs.id, sourceId: 'football' }] })).status, 409);

    t.equal(
      (await admin.remove({ groups: [{ sourceId: 'football' }] })).status,
      409,
      'a tag is in it',
    );
    await admin.update({ tags: [{ sourceId: 'bayern', groupSourceId: null }] });
    await admin.update({ groups: [{ sourceId: 'clubs', parentGroupSourceId: 'football' }] });
    t.equal(
      (await admin.remove({ groups: [{ id: football.id }] })).status,
      409,
      'a group is in it',
    );
    await admin.update({ tags: [{ sourceId: 'bayern', groupSourceId: 'clubs' }] });
    await admin.remove({ tags: [{ sourceId: 'bayern' }] });
    t.equal((await admin.remove({ groups: [{ sourceId: 'clubs' }] })).status, 200);
    t.same((await admin.remove({ groups: [{ id: football.id }] })).body, {
      groups: [{ id: football.id }],
    });
    t.equal((await admin.remove({ groups: [{ id: football.id }] })).status, 404);
  },
);

scene('groups nest 32 deep', async (t, admin) => {
  const groups = Array.from({ length: 33 }, (_, index) => ({
    name: `g${index}`,
    sourceId: `g${index}`,
    ...(index === 0 ? {} : { parentGroupSourceId: `g${index - 1}` }),
  }));
  const tooDeep = await admin.add({ groups });
  t.equal(tooDeep.status, 400);
  t.equal((await admin.add({ groups: groups.slice(0, 32) })).status, 200);
  t.same(pathsOf(await admin.add({ groups: groups.slice(32) })), ['groups.0.parentGroupSourceId']);
});

scene('what is not valid is said, and nothing of the request happens', async (t, admin) => {
  const good = { name: 'good', sourceId: 'good' };
  const cases: readonly (readonly [entry: unknown, path: string])[] = [
    [{}, 'tags.1.name'],
    [{ name: null }, 'tags.1.name'],
    [{ name: '' }, 'tags.1.name'],
    [{ name: 'x'.repeat(256) }, 'tags.1.name'],
    [{ name: 'a\0b' }, 'tags.1.name'],
    [{ name: '\ud800' }, 'tags.1.name'],
    [{ ...good, sourceId: 'x'.repeat(256) }, 'tags.1.sourceId'],
    [{ ...good, sourceId: 7 }, 'tags.1.sourceId'],
    [{ ...good, groupSourceId: 'unknown' }, 'tags.1.groupSourceId'],
    [{ ...good, expiration: -1 }, 'tags.1.expiration'],
    [{ ...good, expiration: 1.5 }, 'tags.1.expiration'],
    [{ ...good, expiration: 'soon' }, 'tags.1.expiration'],
    [{ ...good, expiration: 1_800_000_000 }, 'tags.1.expiration'],
    [{ ...good, expiration: '99999999999' }, 'tags.1.expiration'],
    [{ ...good, expiration: '2100-01-01T00:00:00' }, 'tags.1.expiration'],
    [{ ...good, expiration: '2100-13-01T00:00:00Z' }, 'tags.1.expiration'],
    [{ ...good, expires: 4_102_444_800_000 }, 'tags.1.expires'],
    [{ ...good, tagOptionalParameters: { a: 1 } }, 'tags.1.tagOptionalParameters.a'],
    [{ ...good, tagOptionalParameters: { a: 'x'.repeat(256) } }, 'tags.1.tagOptionalParameters.a'],
    [{ ...good, tagOptionalParameters: ['a'] }, 'tags.1.tagOptionalParameters'],
    [
      {
        ...good,
        tagOptionalParameters: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [n, ''])),
      },
      'tags.1.tagOptionalParameters',
    ],
    ['text', 'tags.1'],
  ];
  for (const [entry, path] of cases) {
    const answer = await admin.add({ tags: [good, entry] });
    t.equal(answer.status, 400, path);
    t.same(pathsOf(answer), [path], JSON.stringify(entry).slice(0, 60));
  }
  const misspelled = [{ ...good, group_source_id: 'x', colour: 1 }];
  for (const send of [admin.add, admin.update, admin.remove]) {
    const answer = await send({ tags: misspelled });
    t.match(answer, {
      status: 400,
      body: {
        errors: [
          { path: 'tags.0.group_source_id', message: /nearest is groupSourceId/ },
          { path: 'tags.0.colour' },
        ],
      },
    });
  }
  for (const send of [admin.add, admin.update, admin.remove]) {
    const answer = await send({ tags: [good], group: [{ name: 'g' }], dryrun: true });
    t.match(answer, {
      status: 400,
      body: { errors: [{ path: 'group', message: /nearest is groups/ }, { path: 'dryrun' }] },
    });
  }
  t.equal(
    (await admin.add({ tags: [{ sourceId: 'x' }] })).body.errors[0].message,
    'is missing; it must be a string',
  );
  t.equal(
    (await admin.add('{"tags":[{"name":"x",}]}')).body.errors[0].message,
    'The body must be a JSON object; it is not valid JSON from line 1, column 22.',
  );
  t.same(pathsOf(await admin.add({ groups: [{ name: 'g', parentGroupSourceId: 'unknown' }] })), [
    'groups.0.parentGroupSourceId',
  ]);
  t.same(pathsOf(await admin.add({ tags: Array.from({ length: 1_001 }, () => good) })), ['tags']);
  const wrong = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`p${n}`, 0]));
  for (const body of [
    { tags: new Array(400_000).fill(0) },
    { tags: [{ ...good, tagOptionalParameters: wrong }] },
  ]) {
    for (const send of [admin.add, admin.update, admin.remove]) {
      t.ok(pathsOf(await send(body)).length <= 100, 'not every fault of a large body is told');
    }
  }
  for (const body of ['{"tags":[', '', '[]', '"x"', 'null', '{}', '\xff']) {
    t.equal((await admin.add(body)).status, 400, body);
  }
  for (const body of [{ tags: [] }, { tags: [good, good] }, { tags: [good], groups: [good] }, {}]) {
    t.equal((await admin.update(body)).status, 400);
    t.equal((await admin.remove(body)).status, 400);
  }
  for (const entry of [{ name: 'x' }, { sourceId: null }]) {
    t.same(pathsOf(await admin.update({ tags: [entry] })), ['tags.0'], 'which tag?');
    t.same(pathsOf(await admin.remove({ tags: [entry] })), ['tags.0']);
    t.same(pathsOf(await admin.remove({ groups: [entry] })), ['groups.0']);
  }
  t.same(pathsOf(await admin.update({ tags: [{ sourceId: 'good', name: null }] })), [
    'tags.0.name',
  ]);
  t.equal((await admin.get('sourceId/good')).status, 404, 'nothing was made');
});

scene('as the connectors of the public service send it', async (t, admin) => {
  // Before each change of a channel: its tag, in a multipart body as Symfony writes it.
  const boundary = '_=_symfony_1650000000_0a1b2c3d_=_';
  const tag = {
    name: 'push-connector-tag-general-demo',
    sourceId: 'push-connector-tag-general-demo',
  };
  const ensure = () =>
    admin.addAs(
      `multipart/form-data; boundary="${boundary}"`,
      `--${boundary}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Disposition: form-data; name="data"\r\n\r\n` +
        `${JSON.stringify({ tags: [tag] })}\r\n--${boundary}--\r\n`,
    );
  const first = await ensure();
  t.equal(first.status, 200);
  const [{ id }] = first.body.tags;
  t.same((await ensure()).body, { tags: [{ ...tag, id }] }, 'the same one');
  t.equal((await admin.get(`sourceId/${tag.sourceId}`)).body.id, id);
  // Without a name, by sourceId or by an id in a string; and what was answered is sent back.
  const group = { name: 'Clubs', sourceId: 'clubs' };
  const grouped = await admin.addAs('text/plain', JSON.stringify({ groups: [group] }));
  t.equal(grouped.status, 200, 'whatever the Content-Type says');
  const moved = { sourceId: tag.sourceId, groupSourceId: 'clubs', expiration: '4102444800000' };
  t.equal((await admin.update({ tags: [moved] })).status, 200);
  t.equal((await admin.update({ tags: [{ id: `${id}`, name: 'General' }] })).status, 200);
  const shown = {
    ...tag,
    id,
    name: 'General',
    groupSourceId: 'clubs',
    expiration: 4_102_444_800_000,
  };
  t.same((await admin.get(`id/${id}`)).body, shown);
  const version = await admin.version();
  t.same((await admin.add({ tags: [shown] })).body, { tags: [shown] });
  t.equal((await admin.add(grouped.body)).body.groups[0].id, grouped.body.groups[0].id);
  t.equal(await admin.version(), version, 'nothing was changed by that');
  t.equal((await admin.update({ tags: [shown] })).status, 200);
  t.equal((await admin.remove({ groups: [{ id: `${grouped.body.groups[0].id}` }] })).status, 409);
  t.equal((await admin.remove({ tags: [shown] })).status, 200);
  t.equal((await admin.remove(grouped.body)).status, 200);

  const wrong = await admin.addAs('multipart/form-data; boundary=b0', '{"tags":[]}');
  t.match(wrong, {
    status: 400,
    body: { errors: [{ path: '', message: /multipart\/form-data/ }] },
  });
  const unknown = await admin.addAs(
    'multipart/form-data; boundary=b0',
    '--b0\r\nContent-Disposition: form-data; name="data"\r\n\r\n{"tags":[{"nam":"x"}]}\r\n--b0--',
  );
  t.match(unknown.body.errors, [
    { path: 'tags.0.name' },
    { path: 'tags.0', message: /nearest is name/ },
  ]);
});

scene('what names no tag is 404; what is percent-encoded is decoded', async (t, admin) => {
  const sourceId = 'a/b ü%"\'\\';
  const added = await admin.add({ tags: [{ name: 'odd', sourceId, expiration: 1e11 }] });
  const found = await admin.get(`sourceId/${encodeURIComponent(sourceId)}`);
  t.same(
    found.body,
    { id: added.body.tags[0].id, name: 'odd', sourceId, expiration: 1e11 },
    'expired ones too',
  );
  for (const path of [
    'sourceId/unknown',
    'sourceId/%00',
    'id/0',
    'id/x',
    'id/99999999999',
    'id/2147483647',
    'id/-1',
  ]) {
    t.equal((await admin.get(`${path}`)).status, 404, path);
  }
  t.equal((await admin.get('sourceId/%zz')).status, 400);
  t.equal((await admin.ask('tag/sourceId/odd/other')).status, 403);
  t.same((await admin.ask('endpoints/get')).body, { ok: true });
});

scene('the tags and groups of another client do not exist', async (t, admin, store) => {
  const other = await addTenant(store.sql, 'other');
  const { baseUrl } = await startApiOn(t, store, tagRoutes(store.sql));
  const added = await admin.add({
    groups: [{ name: 'g', sourceId: 'g' }],
    tags: [{ name: 'a', sourceId: 'a' }],
  });
  const post = (verb: string, body: unknown) =>
    fetch(`${baseUrl}/push-admin-api/tag/${verb}/other`, {
      method: 'POST',
      headers: { Authorization: basic(other.superUser) },
      body: JSON.stringify(body),
    });
  const [{ id: tagId }] = added.body.tags;
  const [{ id: groupId }] = added.body.groups;
  t.equal((await post('update', { tags: [{ id: tagId, name: 'mine' }] })).status, 404);
  t.equal((await post('delete', { tags: [{ id: tagId }] })).status, 404);
  t.equal((await post('delete', { groups: [{ id: groupId }] })).status, 404);
  t.equal((await post('add', { tags: [{ name: 'x', groupSourceId: 'g' }] })).status, 400);
  const own = (await (await post('add', { tags: [{ name: 'mine', sourceId: 'a' }] })).json()) as {
    tags: { id: number }[];
  };
  t.not(own.tags[0]?.id, tagId, 'the same sourceId is another tag there');
  t.match((await admin.get('sourceId/a')).body, { name: 'a' });
});

scene('many requests at once for one sourceId make one tag and one group', async (t, admin) => {
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, index) =>
      admin.add({
        groups: [{ name: `g${index}`, sourceId: 'g' }],
        tags: [
          { name: `a${index}`, sourceId: index % 2 === 0 ? 'a' : 'b', groupSourceId: 'g' },
          { name: `b${index}`, sourceId: index % 2 === 0 ? 'b' : 'a' },
        ],
      }),
    ),
  );
  t.ok(answers.every(({ status }) => status === 200));
  const idsOf = (field: string, sourceId: string) =>
    new Set(
      answers.flatMap(({ body }) =>
        body[field]
          .filter((entry: { sourceId: string }) => entry.sourceId === sourceId)
          .map(({ id }: { id: number }) => id),
      ),
    );
  t.equal(idsOf('tags', 'a').size, 1);
  t.equal(idsOf('tags', 'b').size, 1);
  t.equal(idsOf('groups', 'g').size, 1);
  const [counts] = await admin.sql`
    select (select count(*) from tags where client_id = ${admin.clientId}) as tags,
      (select count(*) from tag_groups where client_id = ${admin.clientId}) as groups`;
  t.same(counts, { tags: 2, groups: 1 });
});

scene('100,000 tags a client', async (t, admin) => {
  await admin.sql`
    insert into tags (client_id, name, source_id)
    select ${admin.clientId}, 'n', 's' || n from generate_series(1, 99999) as n`;
  const two = [{ name: 'x' }, { name: 'y' }];
  t.match(await admin.add({ tags: two }), {
    status: 403,
    body: { detail: /100000 tags.*it has 99999.*Delete some/ },
  });
  t.equal((await admin.add({ tags: two.slice(1) })).status, 200);
  t.equal(
    (await admin.add({ tags: [{ name: 'n', sourceId: 's1' }] })).status,
    200,
    'one that is there',
  );
  t.equal((await admin.add({ tags: two.slice(1) })).status, 403);
});

const lastId = async (sql: Sql): Promise<unknown> =>
  (await sql`select last_value as last from object_ids`)[0]?.['last'];

scene('what is refused draws no ids', async (t, admin) => {
  const before = await lastId(admin.sql);
  const tags = Array.from({ length: 999 }, (_, n) => ({ name: 'n', sourceId: `s${n}` }));
  const refused = await admin.add({ tags: [...tags, { name: 'x', groupSourceId: 'nowhere' }] });
  t.same(pathsOf(refused), ['tags.999.groupSourceId']);
  t.same(pathsOf(await admin.add({ groups: [{ name: 'g', parentGroupSourceId: 'nowhere' }] })), [
    'groups.0.parentGroupSourceId',
  ]);
  t.equal(await lastId(admin.sql), before);
  const made = await admin.add({ groups: [{ name: 'g', sourceId: 'g' }], tags: tags.slice(0, 2) });
  t.equal(made.status, 200);
  t.equal(await lastId(admin.sql), Number(before) + 3, 'as many as there are new ones');
  await admin.add({ groups: [{ name: 'g', sourceId: 'g' }], tags: tags.slice(0, 2) });
  t.equal(await lastId(admin.sql), Number(before) + 3, 'none for what is there');
});

scene('a client has so many ids in its life, deleted tags included', async (t, admin) => {
  await admin.sql`update clients set object_ids_drawn = 9999998 where id = ${admin.clientId}`;
  const before = await lastId(admin.sql);
  const three = [{ name: 'x' }, { name: 'y' }, { name: 'z' }];
  const refused = await admin.add({ tags: three });
  t.equal(refused.status, 400);
  t.match(refused.body.errors, [{ message: /10000000 tags, groups and apps .* in its life/ }]);
  t.equal(await lastId(admin.sql), before);
  t.equal((await admin.add({ tags: three.slice(1) })).status, 200);
  t.equal((await admin.add({ tags: three.slice(2) })).status, 400);
  t.equal((await admin.add({ tags: [{ name: 'w', sourceId: 'w' }] })).status, 400);
});

scene('optional parameters of all tags of a client have a bound together', async (t, admin) => {
  const text = 'x'.repeat(255);
  const large = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}`, text]));
  const fill = (from: number, to: number) => admin.sql`
    insert into tags (client_id, name, source_id, optional_parameters)
    select ${admin.clientId}, 'n', 's' || n, ${JSON.stringify(large)}::text::jsonb
    from generate_series(${from}::int, ${to}::int) as n`;
  // Objects of 13 kB each: 2,500 are below it, and 2,600 above.
  await fill(1, 2_500);
  const more = Array.from({ length: 100 }, (_, n) => ({
    name: 'n',
    sourceId: `more${n}`,
    tagOptionalParameters: large,
  }));
  const refused = await admin.add({ tags: more.slice(0, 70) });
  t.equal(refused.status, 400);
  t.match(refused.body.errors, [{ path: 'tags', message: /tagOptionalParameters of all tags/ }]);
  t.equal((await admin.add({ tags: more.slice(0, 10) })).status, 200);
  t.equal((await admin.add({ tags: [{ name: 'none', sourceId: 'none' }] })).status, 200);
  const update = (sourceId: string, tagOptionalParameters: object | null) =>
    admin.update({ tags: [{ sourceId, tagOptionalParameters }] });
  t.equal((await update('none', large)).status, 200);
  t.equal((await update('none', null)).status, 200);
  await fill(2_501, 2_600);
  t.same(pathsOf(await update('none', large)), ['tags.0.tagOptionalParameters']);
  t.equal((await update('s1', { a: 'b' })).status, 200, 'fewer than before');
  t.equal(
    (await admin.add({ tags: [{ name: 'n', sourceId: 's2', tagOptionalParameters: large }] }))
      .status,
    200,
  );
  t.equal((await admin.add({ tags: [{ name: 'bare', sourceId: 'bare' }] })).status, 200);
});

t.test('on every store', async (t) => {
  await withStores(t, async (t, store) => {
    for (const [index, { name, play }] of scenes.entries()) {
      await t.test(name, async (t) => play(t, await open(t, store, `demo-${index}`), store));
    }
  });
});
