/** The drafts that the members of a client share: kept as they are, changed by one at a time. */

import t from 'tap';
import { insertDraft } from '../../../src/push/sql/drafts.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';

const CONTENT = { title: 'Goal!', when: 'now', tags: [{ id: 2, name: 'Goals' }] };

await onEachStore(t, {
  async 'saved, listed by age, opened, changed and discarded'(t, store) {
    const api = await startJobsApi(t, store, 'drafts');
    const path = '/push-api/v3/drafts/drafts';
    const { username } = api.tenant.superUser;
    const saved = await api.call('POST', path, { name: 'Final', content: CONTENT });
    t.match(saved, { status: 201, body: { name: 'Final', revision: 1, userName: username } });
    t.same(saved.body.content, CONTENT);
    const second = await api.call('POST', path, { name: 'Final', content: {} });
    t.equal(second.status, 201, 'two may have one name');
    const one = `${path}/${saved.body.id}`;
    const changed = await api.call('PATCH', one, { content: { title: '2:1' }, revision: 1 });
    t.match(changed, { status: 200, body: { name: 'Final', revision: 2 } });
    t.same(changed.body.content, { title: '2:1' });
    const listed = await api.call('GET', path);
    t.match(listed.body, [{ id: saved.body.id, revision: 2 }, { id: second.body.id }]);
    t.notOk('content' in listed.body[0]);
    t.same((await api.call('GET', one)).body, changed.body);

    const late = await api.call('PATCH', one, { name: 'Mine', revision: 1 });
    t.match(late, {
      status: 409,
      body: { detail: `${username} has changed this draft meanwhile. Read it again.` },
    });
    t.match((await api.call('GET', one)).body, { name: 'Final', revision: 2 });
    t.match((await api.call('PATCH', one, { revision: 2 })).body, { revision: 2 });
    t.equal((await api.call('DELETE', one)).status, 204);
    t.equal((await api.call('DELETE', one)).status, 404);
    t.equal((await api.call('PATCH', one, { name: 'Mine', revision: 2 })).status, 404);
    t.equal((await api.call('GET', one)).status, 404);
    t.equal((await api.call('GET', path)).body.length, 1);
  },

  async 'what is refused, and to whom'(t, store) {
    const api = await startJobsApi(t, store, 'refused-drafts');
    const path = '/push-api/v3/refused-drafts/drafts';
    const faults = async (body: object) => (await api.call('POST', path, body)).body.errors;
    t.match(await faults({ name: '', content: [] }), [{ path: 'name' }, { path: 'content' }]);
    t.match(await faults({ name: 'a\nb', content: {} }), [{ path: 'name' }]);
    t.match(await faults({ name: 'x'.repeat(256), content: {} }), [{ path: 'name' }]);
    t.match(await faults({ name: 'x', content: { text: 'x'.repeat(65_536) } }), [
      { path: 'content', message: /65536 characters/ },
    ]);
    t.match(await faults({ name: 'x', content: {}, title: 'y' }), [{ path: 'title' }]);
    const nested = (levels: number): object => (levels === 1 ? {} : { in: nested(levels - 1) });
    t.equal((await api.call('POST', path, { name: 'x', content: nested(32) })).status, 201);
    for (const levels of [33, 4_000]) {
      t.match(await faults({ name: 'x', content: nested(levels) }), [
        { path: 'content', message: /32 levels/ },
      ]);
    }
    const key = await api.key({ scopes: ['send'], tagIds: [api.tenant.tagId] });
    t.equal((await api.call('GET', path, undefined, key)).status, 403);
    t.equal((await api.call('POST', path, { name: 'x', content: {} }, key)).status, 403);
    const other = await startJobsApi(t, store, 'other-drafts');
    const { id } = await insertDraft(store.sql, other.tenant.clientId, {
      name: 'Theirs',
      content: {},
      userName: 'them',
    });
    t.equal((await api.call('GET', `${path}/${id}`)).status, 404, 'of another client');
    t.equal((await api.call('DELETE', `${path}/${id}`)).status, 404);
  },

  async 'a key does not see the address of who saved it'(t, store) {
    const api = await startJobsApi(t, store, 'addressed-drafts');
    const path = '/push-api/v3/addressed-drafts/drafts';
    const { id } = await insertDraft(store.sql, api.tenant.clientId, {
      name: 'x',
      content: {},
      userName: 'ana@example.com',
    });
    const key = await api.key({ scopes: ['send'] });
    const unchanged = await api.call('PATCH', `${path}/${id}`, { revision: 1 }, key);
    t.match(unchanged, { status: 200, body: { userName: 'member', revision: 1 } });
    t.match((await api.call('GET', `${path}/${id}`, undefined, key)).body, { userName: 'member' });
    t.match((await api.call('GET', path, undefined, key)).body, [{ userName: 'member' }]);
  },

  async 'a client has two hundred at most'(t, store) {
    const api = await startJobsApi(t, store, 'many-drafts');
    const draft = { name: 'x', content: {}, userName: 'x' };
    for (let number = 0; number < 200; number += 1) {
      await insertDraft(store.sql, api.tenant.clientId, draft);
    }
    const more = await api.call('POST', '/push-api/v3/many-drafts/drafts', {
      name: 'x',
      content: {},
    });
    t.match(more, { status: 403, body: { detail: /200 drafts/ } });
  },
});
