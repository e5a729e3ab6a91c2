/**
 * `credentials` of the Admin API: listed without secrets, rotated by the super user, over real HTTP
 * on every store.
 */

import t from 'tap';
import { credentialRoutes } from '../../../src/access/routes/credentials.ts';
import { tagRoutes } from '../../../src/catalogue/routes/tags.ts';
import { addTenant, bearer, secrets, startApiOn } from '../../support/api.ts';
import { withStores } from '../../support/store.ts';

t.test('listed and rotated', async (t) => {
  await withStores(t, async (t, store) => {
    const { sql } = store;
    const demo = await addTenant(sql, 'demo');
    const other = await addTenant(sql, 'other');
    const { baseUrl } = await startApiOn(t, store, [
      ...credentialRoutes({ sql, secrets }),
      ...tagRoutes(sql),
    ]);
    const path = `${baseUrl}/push-admin-api/v3/demo/credentials`;
    let headers = { Authorization: bearer(demo.superUser) };
    const list = async () => (await fetch(path, { headers })).json();
    const rotate = async (role: string, body: unknown) => {
      const answer = await fetch(`${path}/${role}/rotate`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return { answer, body: (await answer.json()) as Readonly<Record<string, string>> };
    };
    const statusOf = async (token: string | undefined) =>
      (
        await fetch(`${baseUrl}/push-admin-api/endpoints/get`, {
          headers: { Authorization: `Bearer ${token}` },
        })
      ).status;

    t.match(await list(), [
      { role: 'super-user', userName: demo.superUser.username, createdAt: Number },
      { role: 'api-user', appId: demo.appId, userName: demo.apiUser.username },
    ]);
    const text = JSON.stringify(await list());
    for (const { token, password } of [demo.superUser, demo.apiUser]) {
      t.notOk(text.includes(token) || text.includes(password), 'no secrets');
    }

    const app = await rotate('api-user', { appId: demo.appId, graceHours: 0 });
    t.equal(app.answer.status, 200);
    t.equal(app.answer.headers.get('cache-control'), 'no-store');
    t.match(app.body, { role: 'api-user', appId: demo.appId, token: /^tca_/ });
    t.equal(await statusOf(app.body['token']), 403, 'it is known, and for another API');
    t.equal(await statusOf(demo.apiUser.token), 401);

    const own = await rotate('super-user', { graceHours: 168 });
    t.match(own.body, { role: 'super-user', token: /^tcs_/, password: String, userName: String });
    t.equal(await statusOf(own.body['token']), 200);
    t.equal(await statusOf(demo.superUser.token), 200, 'in its grace');
    headers = { Authorization: `Bearer ${own.body['token']}` };
    t.match(await list(), [{ expiresAt: Number }, { userName: own.body['userName'] }, {}]);

    for (const limit of [1, 2, 3]) {
      const seen: unknown[] = [];
      let next: string | undefined = `${path}?limit=${limit}`;
      while (next !== undefined) {
        const page: Response = await fetch(next, { headers });
        seen.push(...((await page.json()) as unknown[]));
        const link = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
        next = link === undefined ? undefined : baseUrl + link;
      }
      t.same(seen, await list(), `pages of ${limit}`);
    }
    t.match(await (await fetch(`${path}?page=2`, { headers })).json(), {
      status: 400,
      errors: [{ path: 'page' }],
    });

    const faults: readonly (readonly [role: string, body: unknown, status: number])[] = [
      ['super-user', {}, 400],
      ['super-user', { graceHours: 169 }, 400],
      ['super-user', { graceHours: 0.5 }, 400],
      ['super-user', { graceHours: '1' }, 400],
      ['super-user', { graceHours: 1, appId: demo.appId }, 400],
      ['super-user', { graceHours: 1, grace: 1 }, 400],
      ['api-user', { graceHours: 1 }, 400],
      ['api-user', { graceHours: 1, appId: 0 }, 400],
      ['api-user', { graceHours: 1, appId: other.appId }, 404],
      ['api-user', { graceHours: 1, appId: 2_147_483_647 }, 404],
      ['operator', { graceHours: 1 }, 404],
    ];
    for (const [role, body, status] of faults) {
      t.equal((await rotate(role, body)).answer.status, status, `${role} ${JSON.stringify(body)}`);
    }
    t.equal(await statusOf(own.body['token']), 200, 'a refused request rotates nothing');
  });
});
