/** Health for balancers and metrics for this machine. */

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import { pino } from 'pino';
import t from 'tap';
import { Failures } from '../../../src/access/failures.ts';
import { healthRoutes } from '../../../src/api/open/health.ts';
import type { ReadinessParts } from '../../../src/api/open/readiness.ts';
import { Readiness } from '../../../src/api/open/readiness.ts';
import { WriteProbe } from '../../../src/database/write-probe.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { LabelledCounter } from '../../../src/telemetry/labelled-counter.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';
import { startApiOn } from '../../support/api.ts';
import { until } from '../../support/poll.ts';
import { withStores } from '../../support/store.ts';

const OPERATOR_TOKEN = 'a-token-of-the-operator-to-ask-with';
const VERSION = { version: '1.2.3', commit: '5f79a23f1234' };

t.test('alive, ready, draining, and without a store', async (t) => {
  await withStores(t, async (t, store) => {
    const metrics = new Metrics();
    let draining = false;
    const probe = new WriteProbe(store.address);
    t.teardown(() => probe.close());
    let askStore = () => probe.ask();
    const readiness = readinessOf({ askStore: () => askStore(), isDraining: () => draining });
    const routes = healthRoutes({
      readiness,
      metrics,
      metricsToken: null,
      operatorToken: OPERATOR_TOKEN,
      version: VERSION,
      failures: new Failures(),
    });
    const { baseUrl } = await startApiOn(t, store, routes);
    const get = (path: string, method = 'GET') => fetch(baseUrl + path, { method });

    t.equal((await get('/livez')).status, 200);
    const ready = await get('/readyz');
    t.equal(ready.status, 200);
    const body = { status: 'ok', stores: { postgres: 'ok' } };
    t.same(await ready.json(), body);
    const readAs = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${baseUrl}/readyz`, { headers })).json();
    };
    t.same(await readAs(OPERATOR_TOKEN), { ...body, ...VERSION }, 'for the operator');
    t.same(await readAs(`${OPERATOR_TOKEN}-not`), body);
    for (const path of ['/livez', '/readyz']) {
      const head = await get(path, 'HEAD');
      t.equal(head.status, 200, `HEAD ${path}`);
      t.equal(await head.text(), '');
    }
    draining = true;
    const leaving = await get('/readyz');
    t.equal(leaving.status, 503);
    t.match(await leaving.json(), { status: 'draining' });
    t.equal((await get('/livez')).status, 200, 'alive all the same');

    draining = false;
    const nobody = new WriteProbe({ kind: 'postgres', url: 'postgres://127.0.0.1:1/nowhere' });
    t.teardown(() => nobody.close());
    askStore = () => nobody.ask();
    const away = await until('it is asked again', async () => {
      const answer = await get('/readyz', 'GET');
      return answer.status === 200 ? null : answer;
    });
    t.equal(away.status, 503);
    t.same(await away.json(), { status: 'unavailable', stores: { postgres: 'unavailable' } });
  });
});

t.test('metrics are for this machine and the operator', async (t) => {
  await withStores(t, async (t, store) => {
    const metrics = new Metrics();
    const sends = new LabelledCounter({
      name: 'sends_total',
      help: 'Sends.',
      labels: ['platform'],
    });
    sends.with({ platform: 'apns' }).value += 3;
    metrics.add([sends, { type: 'gauge', name: 'depth', help: 'Depth.', read: () => [[{}, 7]] }]);
    const readiness = readinessOf({});
    const operatorToken = 'a-token-of-the-operator-to-scrape-with';
    const metricsToken = 'a-token-that-opens-nothing-but-metrics';
    const tokens = { metricsToken, operatorToken };
    const failures = new Failures();
    const routes = healthRoutes({ readiness, metrics, ...tokens, version: VERSION, failures });
    const { baseUrl, server } = await startApiOn(t, store, routes, {
      trustedProxies: ['127.0.0.2'],
    });
    metrics.add(server.metrics);
    await fetch(`${baseUrl}/livez`);
    const response = await fetch(`${baseUrl}/metrics`);
    t.match(response.headers.get('content-type'), /^text\/plain/);
    const text = await response.text();
    t.match(text, 'tagcast_http_requests_total{method="GET",route="/livez",status="200"} 1');
    t.match(text, /^depth 7$/m);
    t.match(text, /^sends_total\{platform="apns"\} 3$/m);
    const forwarded = { headers: { 'X-Forwarded-For': '198.51.100.7' } };
    t.equal((await fetch(`${baseUrl}/metrics`, forwarded)).status, 403);
    const statusFor = async (host: string): Promise<number | undefined> => {
      const asked = request(`${baseUrl}/metrics`, { headers: { host }, agent: false }).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    };
    for (const host of ['localhost', '127.0.0.1:9', '[::1]:9']) t.equal(await statusFor(host), 200);
    for (const host of ['push.example', '127.0.0.1.push.example', 'localhost.push.example:8080']) {
      t.equal(await statusFor(host), 403, 'a tunnel or a proxy passes the name on');
    }
    const statusWith = async (token: string): Promise<number> => {
      const headers = { ...forwarded.headers, Authorization: `Bearer ${token}` };
      return (await fetch(`${baseUrl}/metrics`, { headers })).status;
    };
    t.equal(await statusWith(operatorToken), 200, "the operator's scraper, from elsewhere");
    t.equal(await statusWith(metricsToken), 200, 'a scraper that may do nothing else');
    const wrong = `${operatorToken}-not`;
    // `FAILURES_MAX`.
    for (let n = 0; n < 30; n += 1) t.equal(await statusWith(wrong), 403);
    t.equal(await statusWith(wrong), 429, 'who guesses it');
    t.equal(await statusWith(operatorToken), 200, 'the right one is served');
  });
});

const readinessOf = (parts: Partial<ReadinessParts>): Readiness =>
  new Readiness({
    askStore: () => Promise.resolve({ state: 'ok', reason: null }),
    isIndexReachable: null,
    isDraining: () => false,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    ...parts,
  });
