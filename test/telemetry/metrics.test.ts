/** The metrics of a running engine: each count changes with its subject. */

import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../src/database/store.ts';
import { finalStatus, post, push } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { Demo } from '../support/processes.ts';
import type { Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { withStores } from '../support/store.ts';

const DEVICES_MAX = 3;
/** Requests of each kind, in a round of them. */
const REQUESTS = 100;

t.setTimeout(180_000);

async function behave(controlUrl: string, behaviour: object): Promise<void> {
  const body = JSON.stringify(behaviour);
  await (await fetch(`${controlUrl}/behaviour`, { method: 'PUT', body })).text();
}

/** The value of a series of ours, by its name without `tagcast_`; null: it is not there. */
async function seriesOf(url: string, series: string): Promise<number | null> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((line) => line.startsWith(`tagcast_${series} `));
  return line === undefined ? null : Number(line.split(' ').at(-1));
}

const settles = (what: string, url: string, series: string, value: number): Promise<true> =>
  until(`${what}: ${series} ${value}`, async () =>
    (await seriesOf(url, series)) === value ? true : null,
  );

await withStores(t, async (t, store) => {
  const service = await startService(t, store, {
    DEVICES_PER_APP_MAX: String(DEVICES_MAX),
    REGISTRATIONS_PER_SECOND_MAX: '100000',
  });
  await t.test('before anything has occurred, what is counted is 0', (t) => beginning(t, service));
  await t.test('registrations: batches, and what was not committed', (t) =>
    registrations(t, service),
  );
  await t.test('a send: parts, reports, and what came of it', (t) => sent(t, service));
  await t.test('sends that are put off, and wait in the database', (t) => putOff(t, service));
  await t.test('a part that fails by a fault of ours', (t) => failing(t, service, store));
  await t.test('what callers choose makes no series', (t) => chosenByCallers(t, service));
});

async function beginning(t: Test, service: Service): Promise<void> {
  const { engine } = service;
  for (const series of [
    'registration_failures_total{reason="limit"}',
    'registration_failures_total{reason="unavailable"}',
    'part_failures_total{result="parked"}',
    'part_failures_total{result="given-back"}',
    'sends_total{platform="3",outcome="delivered"}',
    'retries_total{platform="15"}',
    'registration_batch_seconds_count{stage="look"}',
    'registration_batch_seconds_count{stage="write"}',
    'ledger_record_seconds_count',
    'ledger_reports_waiting',
    'ledger_lag_seconds',
    'ledger_failed_attempts_total',
    'parts_claimed_total{kind="chunk"}',
    'parts_under_way{kind="retries"}',
  ]) {
    t.equal(await seriesOf(engine.url, series), 0, series);
  }
}

async function registrations(t: Test, { engine, demo }: Service): Promise<void> {
  const [tagId = 0] = demo.tagIds;
  const register = (n: number) =>
    post(`${engine.url}/push-api/reg`, demo.apiUser.token, {
      appId: demo.appId,
      platformId: 3,
      deviceId: `${n}`.padStart(64, 'a'),
      tagId,
    });
  for (let n = 0; n < DEVICES_MAX; n += 1) t.equal((await register(n)).status, 200);
  t.equal((await register(DEVICES_MAX)).status, 429, 'one more than the app may have');
  const read = (name: string) => seriesOf(engine.url, name);
  const batches = DEVICES_MAX + 1;
  t.equal(await read('registrations_total{operation="reg"}'), DEVICES_MAX);
  t.equal(await read('registration_failures_total{reason="limit"}'), 1);
  for (const stage of ['look', 'write']) {
    const of = `{stage="${stage}"}`;
    t.equal(await read(`registration_batch_seconds_count${of}`), batches);
    t.ok(((await read(`registration_batch_seconds_sum${of}`)) ?? 0) > 0);
    t.equal(await read(`registration_batch_operations_count${of}`), batches);
    t.equal(await read(`registration_batch_operations_sum${of}`), batches, 'one after the other');
    t.equal(await read(`registration_batch_operations_bucket{stage="${stage}",le="1"}`), batches);
  }
}

async function sent(t: Test, { engine, demo }: Service): Promise<void> {
  await finalStatus(engine.url, demo, await push(engine.url, demo, demo.tagIds));
  const read = (name: string) => seriesOf(engine.url, name);
  t.equal(await read('sends_total{platform="3",outcome="delivered"}'), DEVICES_MAX);
  t.equal(await read('parts_claimed_total{kind="chunk"}'), 1);
  t.ok(((await read('ledger_record_seconds_count')) ?? 0) > 0);
  t.equal(await read('ledger_reports_waiting'), 0);
  t.equal(await read('ledger_lag_seconds'), 0);
  await settles('nothing is under way', engine.url, 'parts_under_way{kind="chunk"}', 0);
  await settles('nothing waits', engine.url, 'backlog_chunks', 0);
  t.equal(await read('retries_total{platform="3"}'), 0);
}

async function putOff(t: Test, { engine, demo }: Service): Promise<void> {
  await behave(demo.simulator.controlUrl, { shares: { throttled: 1 } });
  await push(engine.url, demo, demo.tagIds);
  await settles('put off', engine.url, 'retries_total{platform="3"}', DEVICES_MAX);
  t.ok(await settles('they wait', engine.url, 'backlog_retries', DEVICES_MAX));
  await settles('their job runs', engine.url, 'backlog_jobs{state="RUNNING"}', 1);
  await behave(demo.simulator.controlUrl, { shares: { throttled: 0 } });
}

/** A worker cannot find the devices: its table has another name for a while. */
async function failing(t: Test, { engine, demo }: Service, { sql }: Store): Promise<void> {
  await sql`alter table devices rename to devices_away`;
  const job = await push(engine.url, demo, demo.tagIds);
  await settles('it fails', engine.url, 'part_failures_total{result="given-back"}', 1);
  await sql`alter table devices_away rename to devices`;
  const rows = await finalStatus(engine.url, demo, job);
  t.match(
    rows.find(({ key }) => key.platformId === 3),
    { state: 'FINISHED', successCount: DEVICES_MAX },
    'and is sent by the next claim',
  );
  t.equal(await seriesOf(engine.url, 'part_failures_total{result="parked"}'), 0);
}

/**
 * Two rounds of requests, each of which names something else. Time alone brings a gauge or two; a
 * label that a caller chooses would bring one series for each request of its kind.
 */
async function chosenByCallers(t: Test, { engine, demo }: Service): Promise<void> {
  await choose(engine.url, demo, 0);
  const after = await allSeries(engine.url);
  for (const series of [
    'http_requests_total{method="unmatched",route="unmatched",status="404"}',
    'http_requests_total{method="unmatched",route="unmatched",status="405"}',
    'http_requests_total{method="GET",route="/push-api/status/:id",status="404"}',
    'http_requests_total{method="POST",route="/push-api/list",status="401"}',
    'limit_refusals_total{limit="devices"}',
    'ignored_parameters_total{field="appId"}',
    'ignored_parameters_total{field="unknown"}',
    'ignored_parameters_total{field="tagSourceId"}',
  ]) {
    t.ok(after.includes(`tagcast_${series}`), series);
  }
  await choose(engine.url, demo, REQUESTS);
  const added = (await allSeries(engine.url)).filter((series) => !after.includes(series));
  t.ok(added.length < REQUESTS, `${added.length} are new: ${added.slice(0, 5).join(' ')}`);
}

/** Our series only: those of Node.js come and go. */
async function allSeries(url: string): Promise<readonly string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('tagcast_'));
  return lines.map((line) => line.slice(0, line.lastIndexOf(' ')));
}

/** Every part of a request that a caller chooses, with a number in it, from this number on. */
async function choose(url: string, demo: Demo, from: number): Promise<void> {
  const { appId, clientId, apiUser, superUser } = demo;
  for (let n = from; n < from + REQUESTS; n += 1) {
    const get = (path: string, method = 'GET') =>
      fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${superUser.token}` } });
    const [tagId] = demo.tagIds;
    const device = { appId, platformId: 3, deviceId: '0'.padStart(64, 'a'), tagId };
    const reg = (fields: object) =>
      post(`${url}/push-api/reg`, apiUser.token, { ...device, ...fields });
    const answers = await Promise.all([
      get(`/nowhere-${n}`),
      get(`/push-api/nowhere-${n}/${n}?name=${n}`),
      get('/push-api/reg', `METHOD${n}`),
      post(`${url}/push-api/list`, `tca_${n}`.padEnd(40, 'x'), {}),
      get(`/push-api/status/${randomUUID()}`),
      get(`/push-admin-api/v3/client-${n}/tags`),
      get(`/push-admin-api/v3/${clientId}/apps/${1_000_000 + n}`),
      fetch(`${url}/livez`, {
        headers: {
          'User-Agent': `agent-${n}`,
          'X-Request-Id': `request-${n}`,
          Origin: `https://origin-${n}.example.com`,
          'X-Forwarded-For': `198.51.100.${n % 256}`,
        },
      }),
      reg({ deviceId: `${n}`.padStart(64, 'b') }),
      reg({ appId: 1_000_000 + n }),
      reg({ platformId: 1_000 + n }),
      reg({ tagId: 1_000_000 + n }),
      reg({ tagSourceId: `tag-${n}` }),
      reg({ [`field-${n}`]: n }),
      post(`${url}/push-api/push`, superUser.token, {
        tagSourceIds: [`tag-${n}`],
        payload: { title: `${n}` },
        [`field-${n}`]: n,
      }),
    ]);
    await Promise.all(answers.map((answer) => answer.text()));
  }
}
