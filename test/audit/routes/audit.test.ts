/** The audit log over real HTTP on every store: its entries, its readers, pages and filters. */

import type { Test } from 'tap';
import t from 'tap';
import { credentialRoutes } from '../../../src/access/routes/credentials.ts';
import { auditRoute } from '../../../src/audit/routes/audit.ts';
import { tagGroupResourceRoutes } from '../../../src/catalogue/routes/tag-group-resources.ts';
import { tagResourceRoutes } from '../../../src/catalogue/routes/tag-resources.ts';
import { tagRoutes } from '../../../src/catalogue/routes/tags.ts';
import type { Store } from '../../../src/database/store.ts';
import { keyRoutes } from '../../../src/keys/routes/keys.ts';
import { jobCanceller } from '../../../src/push/cancel-jobs.ts';
import { addTenant, secrets } from '../../support/api.ts';
import { makeKey } from '../../support/keys.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { openResources, pathsOf } from '../../support/resources.ts';
import { SILENT_JOURNAL } from '../../support/silent-journal.ts';

async function open(t: Test, store: Store) {
  const { sql, patientReads } = store;
  // The schema puts it there, and each test begins with every table empty.
  await sql`insert into access_revision default values on conflict do nothing`;
  const resources = await openResources(t, store, 'acme', [
    ...tagRoutes(sql),
    ...tagResourceRoutes({
      sql,
      patientReads,
      onDisconnected: () => undefined,
      takeOff: async () => undefined,
    }),
    ...tagGroupResourceRoutes({ sql, patientReads }),
    ...credentialRoutes({ sql, secrets }),
    ...keyRoutes({ sql, secrets, cancelJobs: jobCanceller({ sql, journal: SILENT_JOURNAL }) }),
    auditRoute(patientReads),
  ]);
  const { baseUrl, tenant } = resources;
  return {
    ...resources,
    entries: async (query = '') => (await resources.ask('GET', `audit${query}`)).body,
    addTags: async (body: object) => {
      const answer = await fetch(`${baseUrl}/push-admin-api/tag/add/acme`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${tenant.superUser.token}`, 'X-Request-Id': 'r-1' },
        body: JSON.stringify(body),
      });
      t.equal(answer.status, 200);
    },
  };
}

await onEachStore(t, {
  'no cache keeps it': async (t, store) => {
    const { baseUrl, tenant } = await open(t, store);
    const headers = { Authorization: `Bearer ${tenant.superUser.token}` };
    const answer = await fetch(`${baseUrl}/push-admin-api/v3/acme/audit`, { headers });
    t.equal(answer.headers.get('cache-control'), 'no-store');
  },
  'what was done, newest first, with its names at that time': async (t, store) => {
    const { ask, entries, tenant } = await open(t, store);
    const { id } = (await ask('POST', 'tags', { name: 'News' })).body;
    await ask('PATCH', `tags/${id}`, { name: 'Old news', expiration: 4_102_444_800_000 });
    await ask('PATCH', `tags/${id}`, { name: 'Old news' });
    const group = (await ask('POST', 'groups', { name: 'Clubs' })).body.id;
    await ask('PATCH', `groups/${group}`, { name: 'Teams' });
    await ask('PATCH', `tags/${id}`, { groupId: group });
    t.equal((await ask('DELETE', `groups/${group}`)).status, 409, 'refused, so not told');
    await ask('DELETE', `tags/${id}`);
    await ask('DELETE', `groups/${group}`);
    const told = await entries();
    const tag = { kind: 'tag', id: String(id) };
    const team = { kind: 'group', id: String(group) };
    t.match(told, [
      { action: 'group.delete', object: { ...team, name: 'Teams' } },
      { action: 'tag.delete', object: { ...tag, name: 'Old news' } },
      {
        action: 'tag.change',
        object: { ...tag, name: 'Old news' },
        detail: { fields: ['groupId'] },
      },
      { action: 'group.change', object: { ...team, name: 'Teams' }, detail: { fields: ['name'] } },
      { action: 'group.create', object: { ...team, name: 'Clubs' } },
      { action: 'tag.change', object: tag, detail: { fields: ['name', 'expiration'] } },
      { action: 'tag.create', object: { ...tag, name: 'News' } },
    ]);
    t.equal(told.length, 7);
    const { username } = tenant.superUser;
    for (const entry of told) {
      t.match(entry, { actor: { kind: 'credential', name: username }, address: '127.0.0.1' });
      t.ok(Math.abs(entry.at - Date.now()) < 600_000);
    }
  },

  'a key is told by the name that its owner gave it': async (t, store) => {
    const { ask, entries, tenant } = await open(t, store);
    const token = await makeKey(store.sql, tenant, { scopes: ['admin'] });
    const { status } = await ask('POST', 'groups', { name: 'Clubs' }, token);
    t.equal(status, 201);
    const [key] = await store.sql<{ id: number }[]>`select id from client_keys`;
    t.match(await entries(), [
      { action: 'group.create', actor: { kind: 'key', id: key?.id, name: 'Key' } },
    ]);
  },

  'many at once are one entry, one is told by its name, none is none': async (t, store) => {
    const { addTags, entries } = await open(t, store);
    const tags = Array.from({ length: 1_000 }, (_, index) => ({
      name: `Tag ${index}`,
      sourceId: `tag-${index}`,
    }));
    await addTags({ tags, groups: [{ name: 'Clubs', sourceId: 'clubs' }] });
    await addTags({ tags });
    await addTags({ tags: [...tags.slice(1), { name: 'Other', sourceId: 'tag-0' }] });
    await addTags({ groups: [{ name: 'Cups', sourceId: 'cups' }] });
    t.match(await entries(), [
      { action: 'group.create', object: { kind: 'group', name: 'Cups' } },
      { action: 'tag.change', object: { kind: 'tag', name: 'Other' } },
      {
        action: 'tags.change',
        object: { kind: 'tags', id: undefined, name: undefined },
        requestId: 'r-1',
        detail: { groupsCreated: 1, groupsChanged: 0, tagsCreated: 1_000, tagsChanged: 0 },
      },
    ]);
    t.equal((await entries()).length, 3);
  },

  'credentials and keys, without their secrets': async (t, store) => {
    const { ask, entries, tenant } = await open(t, store);
    const rights = { name: 'CMS', scopes: ['send', 'read'], appIds: [tenant.appId] };
    const key = (await ask('POST', 'keys', rights)).body;
    const rotated = await ask('POST', 'credentials/api-user/rotate', {
      graceHours: 1,
      appId: tenant.appId,
    });
    await ask('DELETE', `keys/${key.id}`);
    t.equal((await ask('DELETE', `keys/${key.id}`)).status, 404);
    const told = await entries();
    const object = { kind: 'key', id: String(key.id), name: 'CMS' };
    t.match(told, [
      { action: 'key.delete', object },
      {
        action: 'credential.rotate',
        object: { kind: 'credential', name: rotated.body.userName },
        detail: { role: 'api-user', appId: tenant.appId, graceHours: 1 },
      },
      { action: 'key.create', object, detail: { scopes: ['send', 'read'], limitedBy: ['appIds'] } },
    ]);
    t.equal(told.length, 3);
    const text = JSON.stringify(told);
    for (const secret of [key.token, rotated.body.token, rotated.body.password]) {
      t.notOk(text.includes(secret));
    }
  },

  'always by pages; by action and time; for whoever administers all': async (t, store) => {
    const { ask, entries, walk, tenant } = await open(t, store);
    for (let index = 0; index < 101; index += 1) await ask('POST', 'groups', { name: `G${index}` });
    const first = await ask('GET', 'audit');
    t.equal(first.body.length, 100, 'also without a limit');
    t.match(first.headers.get('link'), /rel="next"/);
    const all = await walk('audit', 40, () => ask('POST', 'groups', { name: 'Meanwhile' }));
    t.equal(all.length, 101, 'what is new is before the first page');
    t.equal(new Set(all.map((entry) => (entry as { id: string }).id)).size, 101);
    await ask('DELETE', 'groups/999');
    t.equal((await entries('?action=group.delete')).length, 0);
    t.equal((await entries('?action=group.create&limit=7')).length, 7);
    const now = Date.now();
    t.equal((await entries(`?from=${now + 600_000}`)).length, 0);
    t.equal((await entries(`?to=${now - 600_000}`)).length, 0);
    t.equal((await entries(`?from=${now - 600_000}&to=${now + 600_000}&limit=3`)).length, 3);
    for (const [query, path] of [
      ['action=group.made', 'action'],
      ['cursor=7', 'cursor'],
      ['limit=1001', 'limit'],
      ['from=yesterday', 'from'],
      ['actor=me', 'actor'],
    ] as const) {
      const refused = await ask('GET', `audit?${query}`);
      t.equal(refused.status, 400, query);
      t.same(pathsOf(refused), [path]);
    }
    const statusOf = async (rights: Parameters<typeof makeKey>[2]) =>
      (await ask('GET', 'audit', undefined, await makeKey(store.sql, tenant, rights))).status;
    t.equal(await statusOf({ scopes: ['admin'] }), 200);
    t.equal(await statusOf({ scopes: ['read', 'send'] }), 403);
    t.equal(await statusOf({ scopes: ['admin'], appIds: [tenant.appId] }), 403);
    const other = await addTenant(store.sql, 'other');
    t.equal((await ask('GET', 'audit', undefined, other.superUser.token)).status, 403);
  },
});
