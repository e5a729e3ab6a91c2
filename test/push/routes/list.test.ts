/** The list of push jobs, over HTTP and on both stores. */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import type { JobsApi } from '../../support/jobs-api.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { makeKey } from '../../support/keys.ts';
import { makeTag } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { seedDevices } from '../../support/seed.ts';

const ESTIMATED_MAX = 20;

type Row = { readonly id: string };

const idsOf = (rows: readonly Row[]): readonly string[] => rows.map(({ id }) => id);

/** All pages, as Link leads through them; `between` happens after each. */
async function walk(
  api: JobsApi,
  query: string,
  between: (page: number) => Promise<unknown> = () => Promise.resolve(),
): Promise<readonly (readonly string[])[]> {
  const pages: (readonly string[])[] = [];
  let next: string | undefined = `/push-api/v3/${api.tenant.slug}/notifications?${query}`;
  while (next !== undefined) {
    const { status, headers, body } = await api.call('GET', next);
    if (status !== 200) throw new Error(JSON.stringify(body));
    pages.push(idsOf(body));
    next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
    await between(pages.length);
  }
  return pages;
}

async function pushMany(api: JobsApi, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push(await api.push());
  return ids.reverse();
}

await onEachStore(t, {
  async 'newest first, by pages, each job once'(t, store) {
    const api = await startJobsApi(t, store, 'paged');
    const newestFirst = await pushMany(api, 7);
    t.strictSame(await walk(api, 'limit=3'), [
      newestFirst.slice(0, 3),
      newestFirst.slice(3, 6),
      newestFirst.slice(6),
    ]);
    t.strictSame(await walk(api, 'limit=7'), [newestFirst], 'a full last page has no next one');
    t.strictSame(await walk(api, ''), [newestFirst]);
    const { body } = await api.call('GET', '?limit=1');
    t.match(body, [
      {
        id: newestFirst[0],
        state: 'QUEUED',
        userName: api.tenant.superUser.username,
        acceptedAt: Number,
        sendAt: Number,
        totalCount: 0,
        cancelledCount: 0,
      },
    ]);
    t.notOk('expiresAt' in body[0] || 'finishedAt' in body[0], 'what is not there is left out');
  },

  async 'by a fault that stopped it somewhere'(t, store) {
    const api = await startJobsApi(t, store, 'faulty');
    const [faulty, fine] = [await api.push(), await api.push()];
    await store.sql`
      update notification_scopes set fault = 'There is no key.'
      where notification_id = ${faulty} and platform_id = 3`;
    const { body } = await api.call('GET', '');
    const faults = [{ appId: api.tenant.appId, platformId: 3, fault: 'There is no key.' }];
    t.match(body, [{ id: fine }, { id: faulty, faults }]);
    t.notOk('faults' in body[0], 'what no fault has stopped has none');
    t.strictSame(await walk(api, 'hasFaults=true'), [[faulty]]);
    t.strictSame(await walk(api, 'hasFaults=false'), [[fine, faulty]]);
  },

  async 'by who has submitted it; nobody learns a name that is not shown to him'(t, store) {
    const { sql } = store;
    const api = await startJobsApi(t, store, 'publishers');
    const own = api.tenant.superUser.username;
    const first = await api.push();
    const [byKey, byMember] = [await api.push(), await api.push()];
    const token = await makeKey(sql, api.tenant, { scopes: ['read'] });
    const limited = await makeKey(sql, api.tenant, {
      ...{ scopes: ['read'], appIds: [api.tenant.appId] },
    });
    const keys = await sql<{ username: string }[]>`select username from client_keys order by id`;
    const [reading, limitedName] = keys.map(({ username }) => username);
    await sql`update notifications set user_name = ${limitedName ?? ''} where id = ${byKey}`;
    await sql`update notifications set user_name = 'jo@example.com' where id = ${byMember}`;
    const idsOf = async (publisher: string, by?: string) => {
      const query = `?publisher=${encodeURIComponent(publisher)}`;
      const { status, body } = await api.call('GET', query, undefined, by);
      t.equal(status, 200);
      return body.map(({ id }: { readonly id: string }) => id);
    };
    t.same(await idsOf(own), [first]);
    t.same(await idsOf(limitedName ?? ''), [byKey]);
    t.same(await idsOf('jo@example.com'), [byMember]);
    t.same(await idsOf('nobody'), []);
    t.same(await idsOf(own, token), [first]);
    t.same(await idsOf('jo@example.com', token), [], 'which it is not told');
    t.same(await idsOf(limitedName ?? '', limited), [byKey]);
    for (const other of [own, reading ?? '', 'jo@example.com']) {
      t.same(await idsOf(other, limited), [], 'its own only');
    }
  },

  async 'each tells what it shows: the title, else the message'(t, store) {
    const api = await startJobsApi(t, store, 'titled');
    for (const payload of [
      { title: 'goal!', message: '1:0' },
      { message: 'x'.repeat(300) },
      { silent: true },
      { title: '\u{1f600}<b>' },
    ]) {
      await api.push({ payload });
    }
    const { body } = await api.call('GET', '');
    t.strictSame(
      (body as { title?: string }[]).map(({ title }) => title),
      ['\u{1f600}<b>', undefined, 'x'.repeat(200), 'goal!'],
    );
  },

  async 'each tells its audience, the beginning of a long one, and its platforms'(t, store) {
    const api = await startJobsApi(t, store, 'audiences');
    const { clientId, tagId } = api.tenant;
    const more: number[] = [];
    for (let n = 0; n < 11; n += 1) {
      more.push(await makeTag(store.sql, clientId, { sourceId: `more-${n}` }));
    }
    const [filter = 0, exclude = 0] = more;
    await api.push({ filterTagIds: [filter], excludeTagIds: [exclude] });
    await api.push({ tagIds: more });
    await api.push({ tagIds: undefined, audience: 'more-0 && !more-1' });
    const { body } = await api.call('GET', '');
    t.match(body, [
      {
        audience: {
          tagIds: [filter],
          excludeTagIds: [exclude],
          tagCount: 2,
          expression: 'more-0 && !more-1',
        },
      },
      { audience: { tagIds: more.slice(0, 10), tagCount: 11 } },
      {
        audience: { tagIds: [tagId], filterTagIds: [filter], excludeTagIds: [exclude] },
        platformIds: [3, 15],
      },
    ]);
    t.notOk('expression' in body[1].audience);
  },

  async 'by words of the title'(t, store) {
    const api = await startJobsApi(t, store, 'searched');
    const other = await startJobsApi(t, store, 'searched-too');
    const pushed = async (payload: object) => api.push({ payload });
    const goal = await pushed({ title: 'GOAL! Real Madrid–Bayern 1:0', message: 'In the 118th' });
    const untitled = await pushed({ message: "It's goalless (0:0)" });
    const far = await pushed({ title: '速報、東京 – “Überraschung” 100% \\ a' });
    await other.push({ payload: { title: 'Goal elsewhere' } });
    const found = async (q: string) => (await walk(api, `q=${encodeURIComponent(q)}`)).flat();
    t.strictSame(await found('goal'), [untitled, goal], 'the beginning of a word, whichever case');
    t.strictSame(await found('bay REAL'), [goal], 'all of them, in any order');
    t.strictSame(await found('goal 1'), [goal]);
    t.strictSame(await found('adrid'), [], 'not the end of a word');
    t.strictSame(await found('118th'), [], 'the title only');
    t.strictSame(await found("it's"), [untitled], 'the message where there is no title');
    t.strictSame(await found('東京'), [far]);
    t.strictSame(await found('Übe'), [far]);
    for (const nothing of ['!', "' | :*", '\\', '100% b']) t.strictSame(await found(nothing), []);
    t.strictSame(await found('goal'.repeat(50)), []);
    t.strictSame(await found('100%'), [far]);
    await store.sql`update notifications set state = 'FINISHED', finished_at = now() where id = ${goal}`;
    t.strictSame((await walk(api, 'q=goal&state=FINISHED')).flat(), [goal]);
    t.strictSame(await walk(api, 'q=goal&limit=1'), [[untitled], [goal]]);
  },

  'pages stay right while jobs come, change and go': async (t, store) => changing(t, store),

  async 'by state, app, tag and time, and all of them together'(t, store) {
    const api = await startJobsApi(t, store, 'filtered');
    const { sql } = store;
    const { clientId, appId, tagId } = api.tenant;
    const other = await makeTag(sql, clientId, { sourceId: 'other' });
    const [second] = await sql<{ id: number }[]>`
      with app as (insert into apps (client_id, name) values (${clientId}, 'Second') returning id)
      insert into app_platforms (app_id, platform_id) select id, 3 from app returning app_id as id`;
    const secondApp = second?.id ?? 0;
    const plain = await api.push({ appIds: [appId] });
    const later = await api.push({ sendAt: Date.now() + 3_600_000, appIds: [appId] });
    const toOther = await api.push({ tagIds: [other], appIds: [secondApp] });
    const old = await api.push({ tagIds: [other, tagId], appIds: [appId, secondApp] });
    await sql`
      update notifications set state = 'FINISHED', finished_at = now() where id = ${plain}::uuid`;
    const found = async (query: string) => (await walk(api, query)).flat();

    t.strictSame(await found('state=SCHEDULED'), [later]);
    t.strictSame(await found('state=QUEUED'), [old, toOther]);
    t.strictSame(await found('state=FINISHED'), [plain]);
    t.strictSame(await found('state=PAUSED'), []);
    t.strictSame(await found(`appId=${secondApp}`), [old, toOther]);
    t.strictSame(await found(`appId=${appId}&tagId=${other}`), [old]);
    t.strictSame(await found(`tagId=${tagId}`), [old, later, plain]);
    t.strictSame(await found('tagId=999999'), []);
    t.strictSame(await found(`tagId=${tagId}&state=SCHEDULED&limit=1`), [later]);

    const { body } = await api.call('GET', '');
    const times = new Map(
      (body as { id: string; acceptedAt: number }[]).map((row) => [row.id, row.acceptedAt]),
    );
    const at = (id: string): number => times.get(id) ?? 0;
    await sql`
      update notifications set accepted_at = to_timestamp(${at(plain) - 60_000}::float8 / 1000) where id = ${plain}::uuid`;
    t.strictSame(await found(`to=${at(plain) - 59_999}`), [plain], 'before its end');
    t.strictSame(await found(`from=${at(plain) - 59_999}`), [old, toOther, later]);
    t.ok((await found(`from=${at(old)}`)).includes(old), 'from its own time on');
    t.strictSame(await found(`from=${new Date(at(old) + 60_000).toISOString()}`), []);
    t.strictSame(await found(`from=${at(plain) - 60_000}&to=${at(plain) - 59_000}`), [plain]);
  },

  async 'what is wrong with the parameters is told'(t, store) {
    const api = await startJobsApi(t, store, 'wrong');
    const faults = async (query: string) => {
      const { status, body } = await api.call('GET', `?${query}`);
      t.equal(status, 400, query);
      return body.errors;
    };
    t.match(await faults('limit=0'), [{ path: 'limit', message: /1–1000/ }]);
    t.match(await faults('limit=1001'), [{ path: 'limit' }]);
    t.match(await faults('cursor=17'), [{ path: 'cursor' }]);
    t.match(await faults('state=running'), [{ path: 'state', message: /RUNNING/ }]);
    t.match(await faults('appId=x&tagId=-1'), [{ path: 'appId' }, { path: 'tagId' }]);
    t.match(await faults('from=yesterday&to=1700000000'), [
      { path: 'from' },
      { path: 'to', message: /seconds/ },
    ]);
    t.match(await faults('stat=RUNNING'), [{ path: 'stat', message: /nearest is state/ }]);
  },

  async 'a limited key sees its own jobs, another client none of them'(t, store) {
    const api = await startJobsApi(t, store, 'owners');
    const other = await startJobsApi(t, store, 'others');
    const limited = await api.key({ scopes: ['send', 'read'], tagIds: [api.tenant.tagId] });
    const reader = await api.key({ scopes: ['read'] });
    const its = await api.push({}, limited);
    const everybodys = await api.push();
    const listed = async (token?: string) =>
      idsOf((await api.call('GET', '', undefined, token)).body);
    t.strictSame(await listed(), [everybodys, its]);
    t.strictSame(await listed(reader), [everybodys, its], 'a key without limits sees all');
    t.strictSame(await listed(limited), [its]);
    t.equal((await api.call('GET', `/${its}`, undefined, limited)).status, 200);
    t.equal((await api.call('GET', `/${everybodys}`, undefined, limited)).status, 404);
    t.strictSame((await other.call('GET', '')).body, []);
    t.equal((await other.call('GET', `/${its}`)).status, 404);
  },

  async 'running ones have an estimate, the newest twenty of a page'(t, store) {
    const api = await startJobsApi(t, store, 'estimated');
    const { appId, tagId } = api.tenant;
    await seedDevices(store.sql, { appId, platformId: 3, tagIds: [tagId], count: 1 });
    const newestFirst = await pushMany(api, ESTIMATED_MAX + 1);
    const waiting = await api.push({ sendAt: Date.now() + 3_600_000 });
    await planDue(store.sql);
    await store.sql`
      update chunks set open_devices = 7 where notification_id = any (${newestFirst}::uuid[])`;
    const { body } = await api.call('GET', '');
    const estimates = new Map(
      (body as readonly (Row & { estimatedTotalCount?: number })[]).map((row) => [
        row.id,
        row.estimatedTotalCount,
      ]),
    );
    t.equal(estimates.get(waiting), undefined, 'one that waits has none');
    t.strictSame(
      newestFirst.map((id) => estimates.get(id)),
      [...Array(ESTIMATED_MAX).fill(7), undefined],
    );
    const [newest = ''] = newestFirst;
    await store.sql`
      update notifications set state = 'FINISHED', finished_at = now() where id = ${newest}::uuid`;
    const ended = (await api.call('GET', '')).body.find(({ id }: Row) => id === newest);
    t.notOk('estimatedTotalCount' in ended, 'the count is known');
  },
});

async function changing(t: Test, store: Store): Promise<void> {
  const api = await startJobsApi(t, store, 'changing');
  const newestFirst = await pushMany(api, 9);
  const [first = '', , third = '', fourth = '', , , seventh = ''] = newestFirst;
  const pages = await walk(api, 'limit=3', async (page) => {
    if (page !== 1) return;
    await api.push();
    // One of the page before ends, the last one of it goes, and so does one that is to come.
    await store.sql`
      update notifications set state = 'FINISHED', finished_at = now() where id = ${first}::uuid`;
    await store.sql`delete from notifications where id in (${third}::uuid, ${seventh}::uuid)`;
    await store.sql`update notifications set first_send_at = now() where id = ${fourth}::uuid`;
  });
  const seen = pages.flat();
  t.strictSame(
    seen,
    newestFirst.filter((id) => id !== seventh),
    'all that were there all the time, each once',
  );
}
