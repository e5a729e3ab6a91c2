/** The line of a request that was answered: ids, and nothing that a caller keeps secret. */

import { pino } from 'pino';
import type { Test } from 'tap';
import t from 'tap';
import type { RequestLogMode } from '../../src/api/request-log.ts';
import type { Store } from '../../src/database/store.ts';
import type { Route } from '../../src/http/handler.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import type { Tenant } from '../support/api.ts';
import { addTenant, bearer, startApiOn } from '../support/api.ts';
import { withStores } from '../support/store.ts';

const DEVICE_TOKEN = 'ab'.repeat(32);
const JOB = '019ad000-0000-7000-8000-000000000001';

const shape = { operation: null, method: 'POST', bodyBytesMax: 1_000 } as const;
const handle = () => ({ status: 200, body: '' });
const ROUTES: readonly Route[] = [
  { ...shape, api: 'app', path: '/registered', handle },
  { ...shape, api: 'open', path: '/alive', handle },
  {
    ...shape,
    api: 'notification',
    needs: 'send',
    path: '/pushed',
    handle: () => ({ status: 202, body: '', notificationId: JOB }),
  },
  { ...shape, api: 'admin', needs: 'super-user', path: '/:client/things/:id', handle },
];

/** The lines of a server whose requests are logged so, at a level. */
async function startLogged(t: Test, store: Store, requestLog: RequestLogMode, level = 'info') {
  const written: string[] = [];
  const to = { write: (line: string) => written.push(line) };
  const log = createLogger(level, 'test', to);
  const { baseUrl } = await startApiOn(t, store, ROUTES, { log, requestLog });
  const ask = async (path: string, authorization: string, requestId = 'r-1'): Promise<void> => {
    const headers = { Authorization: authorization, 'X-Request-Id': requestId };
    const body = JSON.stringify({
      deviceId: DEVICE_TOKEN,
      payload: { title: 'to be kept secret' },
    });
    await (await fetch(`${baseUrl}${path}`, { method: 'POST', headers, body })).text();
  };
  return { ask, written, lines: () => written.map((line) => JSON.parse(line)) };
}

async function askAll({ superUser, apiUser, slug }: Tenant, ask: Asked): Promise<void> {
  await ask('/registered', bearer(apiUser));
  await ask('/alive', '');
  await ask('/nowhere', '');
  await ask('/pushed', bearer(superUser));
  await ask('/pushed', 'Bearer a-wrong-token');
  await ask(`/${slug}/things/7`, bearer(superUser));
}

type Asked = (path: string, authorization: string, requestId?: string) => Promise<void>;

await withStores(t, async (t, store) => {
  const tenant = await addTenant(store.sql, 'logged');
  const { clientId, appId, superUser, apiUser } = tenant;
  const line = { msg: 'a request was answered', level: pino.levels.values['info'], method: 'POST' };

  await t.test('of publishers: not what devices and balancers ask', async (t) => {
    const { ask, lines } = await startLogged(t, store, 'publishers');
    await askAll(tenant, ask);
    const told = lines().map(({ route, status }) => ({ route, status }));
    t.strictSame(told, [
      { route: '/pushed', status: 202 },
      { route: '/pushed', status: 401 },
      { route: '/:client/things/:id', status: 200 },
    ]);
    const [pushed, refused, admin] = lines();
    t.match(pushed, { ...line, requestId: 'r-1', clientId, notificationId: JOB });
    t.ok(pushed.durationMs >= 0);
    t.notOk('clientId' in refused, 'it is not known whose a wrong credential is');
    t.match(admin, { ...line, clientId, params: { id: '7' } });
  });

  await t.test('all: those too, and what matches no route', async (t) => {
    const { ask, lines } = await startLogged(t, store, 'all');
    await askAll(tenant, ask);
    const told = lines().map(({ route, status }) => [route, status]);
    t.strictSame(told.slice(0, 3), [
      ['/registered', 200],
      ['/alive', 200],
      [null, 404],
    ]);
    t.equal(told.length, 6);
    t.match(lines()[0], { ...line, clientId, appId });
  });

  await t.test('none, and none either at a level above', async (t) => {
    for (const [requestLog, level] of [['none'], ['all', 'warn']] as const) {
      const { ask, written } = await startLogged(t, store, requestLog, level);
      await askAll(tenant, ask);
      t.strictSame(written, [], requestLog);
    }
  });

  await t.test('no token, device id, payload or name is in a line', async (t) => {
    const { ask, written } = await startLogged(t, store, 'all');
    await askAll(tenant, ask);
    await ask(`/${tenant.slug}/things/${DEVICE_TOKEN}`, bearer(superUser));
    await ask(`/${tenant.slug}/things/me@example.com`, bearer(superUser));
    await ask(`/${DEVICE_TOKEN}?token=${superUser.token}`, bearer(superUser));
    t.equal(written.length, 9);
    const all = written.join('');
    const secrets = [superUser, apiUser].flatMap(({ token, username, password }) => [
      token,
      username,
      password,
    ]);
    for (const secret of [...secrets, DEVICE_TOKEN, 'kept secret', 'example.com', 'wrong-token']) {
      t.notOk(all.includes(secret), `${secret} is in no line`);
    }
  });
});
