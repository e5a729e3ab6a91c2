/** The history of the public service, over HTTP and on both stores. */

import t from 'tap';
import { startJobsApi } from '../../support/jobs-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';

interface Entry {
  readonly id: string;
  readonly time: number;
}

await onEachStore(t, {
  async 'newest first, twenty to a page unless asked otherwise'(t, store) {
    const api = await startJobsApi(t, store, 'history');
    const at = '/push-admin-api/history/get/history';
    const ids: string[] = [];
    for (let i = 0; i < 23; i += 1) ids.unshift(await api.push());
    const page = async (query: string): Promise<readonly Entry[]> => {
      const { status, body } = await api.call('GET', at + query);
      t.equal(status, 200);
      return body;
    };
    const idsOn = async (query: string) => (await page(query)).map(({ id }) => id);
    t.strictSame(await idsOn(''), ids.slice(0, 20));
    t.strictSame(await idsOn('?page=1&count=20'), ids.slice(0, 20));
    t.strictSame(await idsOn('?page=2'), ids.slice(20));
    t.strictSame(await idsOn('?page=3&count=5&_=1'), ids.slice(10, 15));
    t.strictSame(await idsOn('?page=9'), []);
    const [entry] = await page('?count=1');
    t.same(Object.keys(entry ?? {}), ['id', 'userName', 'status', 'time']);
    t.match(entry, { userName: api.tenant.superUser.username, status: 'QUEUED', time: Number });
    t.ok(Math.abs(Date.now() - (entry?.time ?? 0)) < 3_600_000);
    for (const query of ['?page=0', '?count=1001', '?count=x']) {
      t.equal((await api.call('GET', at + query)).status, 400, query);
    }
  },

  async 'a limited key sees its own'(t, store) {
    const api = await startJobsApi(t, store, 'limited');
    const token = await api.key({ scopes: ['send', 'read'], tagIds: [api.tenant.tagId] });
    await api.push();
    const its = await api.push({}, token);
    const { body } = await api.call('GET', '/push-admin-api/history/get/limited', undefined, token);
    t.match(body, [{ id: its }]);
    t.equal(body.length, 1);
  },
});
