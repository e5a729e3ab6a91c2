/**
 * Traces of an engine, as a collector gets them: a push job from the API call to the providers'
 * answers in one trace, also when one node accepts it and another one sends it.
 */

import type { Test } from 'tap';
import t from 'tap';
import { connect } from '../../src/database/sql.ts';
import type { OtlpReceiver, ReceivedSpan } from '../support/otlp-receiver.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import type { EngineProcess } from '../support/processes.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import type { Scene } from './scene.ts';
import { setScene } from './scene.ts';
import { ended, post } from './traced-engine.ts';

t.setTimeout(240_000);

/** A caller whose trace is recorded, and one whose trace is not. */
const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const TRACEPARENT = `00-${CALLER.traceId}-${CALLER.spanId}`;
/** Later than the test lasts: it is made due when the first node has ended. */
const DUE_IN_MS = 3_600_000;

await withPostgres(t, async (t, url) => {
  const scene = await setScene(t, url, { simulatorFlags: [], apnsDevices: 30, fcmDevices: 20 });
  const receiver = await startOtlpReceiver(t);
  await t.test('one trace over two nodes', (t) => twoNodes(t, scene, receiver, url));
});

async function twoNodes(t: Test, scene: Scene, receiver: OtlpReceiver, url: string): Promise<void> {
  const start = (instance: string): Promise<EngineProcess> =>
    scene.start(
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=acme',
        OTEL_RESOURCE_ATTRIBUTES: `service.instance.id=${instance}`,
      },
      temporaryDirectory(t),
    );
  const first = await start('first');
  const push = { tagIds: [scene.tagId], payload: { title: 'goal!' } };
  const accepted = await post(first, '', { ...push, sendAt: Date.now() + DUE_IN_MS });
  const id = String(accepted['id']);
  const called = String((await post(first, '', push, `${TRACEPARENT}-01`))['id']);
  const unrecorded = String((await post(first, '', push, `${TRACEPARENT}-00`))['id']);
  const device = { appId: scene.demo.appId, platformId: 3, deviceId: 'ab'.repeat(32) };
  t.match(await post(first, '/test', { ...device, payload: { title: 'a try' } }), {
    accepted: true,
  });
  for (const job of [called, unrecorded]) await ended(first, job);
  t.equal(await first.end('SIGTERM'), 0);
  const sql = connect({ kind: 'postgres', url }, 1);
  t.teardown(() => sql.end());
  await sql`update notifications set send_at = now() where id = ${id}`;
  const second = await start('second');
  await ended(second, id);
  t.equal(await second.end('SIGTERM'), 0);

  const { spans } = receiver;
  t.ok(receiver.requests.length > 1);
  for (const request of receiver.requests) t.same(request, ['/v1/traces', 'acme']);
  const traceId = id.replaceAll('-', '');
  const own = spans.filter((span) => span.traceId === traceId);
  const named = (name: string): readonly ReceivedSpan[] => own.filter((it) => it.name === name);
  const [whole] = named('push job');
  t.match(whole, {
    parentSpanId: '',
    attributes: { 'tagcast.notification_id': id, 'tagcast.state': 'FINISHED' },
  });
  t.equal(Number(whole?.attributes['tagcast.delivered']), 50);
  const [request] = own.filter(({ name }) => name.startsWith('POST '));
  t.match(request, {
    kind: 2,
    attributes: { 'http.route': '/push-api/v3/:client/notifications' },
  });
  const parts = named('part');
  t.same(parts.map(({ attributes }) => Number(attributes['tagcast.platform_id'])).sort(), [15, 3]);
  const [accept, plan] = [named('accept'), named('plan')].flat();
  for (const span of [request, accept, plan, ...parts]) {
    t.equal(span?.parentSpanId, whole?.spanId, `${span?.name} is below the job`);
    t.equal(span?.isError, false);
  }
  for (const name of ['resolve', 'send', 'record']) {
    const below = named(name);
    t.ok(below.length >= parts.length, name);
    for (const { parentSpanId } of below) {
      t.ok(
        parts.some(({ spanId }) => spanId === parentSpanId),
        `${name} is below its part`,
      );
    }
  }
  const sends = named('send').map(({ attributes }) => Number(attributes['tagcast.sends']));
  t.equal(
    sends.reduce((sum, count) => sum + count, 0),
    50,
  );
  const nodeOf = (span: ReceivedSpan | undefined) => span?.resource['service.instance.id'];
  t.same([request, accept].map(nodeOf), ['first', 'first']);
  t.same([plan, whole, ...parts].map(nodeOf), ['second', 'second', 'second', 'second']);
  for (const { name, startMs, endMs } of own) t.ok(endMs >= startMs, `${name} has a length`);

  // A caller with a trace of his own: his request is in it, and both name each other.
  const job = {
    traceId: called.replaceAll('-', ''),
    spanId: called.replaceAll('-', '').slice(-16),
  };
  const inCallers = spans.filter((span) => span.traceId === CALLER.traceId);
  t.match(inCallers, [{ parentSpanId: CALLER.spanId, links: [job] }]);
  const acceptOf = (notificationId: string) =>
    spans.find((it) => it.name === 'accept' && it.traceId === notificationId.replaceAll('-', ''));
  t.match(acceptOf(called), { parentSpanId: job.spanId, links: [CALLER] });
  t.match(acceptOf(unrecorded), { name: 'accept' }, "a job's own trace is recorded all the same");

  // A message that was tried out: up to the provider's answer.
  const [tried] = spans.filter(({ name }) => name.endsWith('/notifications/test'));
  const steps = spans.filter(({ parentSpanId }) => parentSpanId === tried?.spanId);
  t.same(
    steps.map(({ name }) => name),
    ['authorize', 'connect', 'answer'],
  );

  const isTold = spans.some(({ name }) => /livez|readyz|push-api\/(reg|set|ureg)/.test(name));
  t.notOk(isTold, 'what devices and balancers ask is not traced');
}
