/** The SDK's requests for spans, over HTTP; an engine that traces nothing does not load it. */

import { pino } from 'pino';
import t from 'tap';
import { uuidV7 } from '../../../src/domain/uuid-v7.ts';
import { openTracer } from '../../../src/telemetry/traces/open.ts';
import { contextOfJob } from '../../../src/telemetry/traces/tracer.ts';
import { readText, sourcesIn } from '../../support/documents.ts';
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';

const silent = pino({ level: 'silent' });
const SPAN = { kind: 'internal', attributes: {}, links: [], error: null } as const;

t.test('a span arrives as it was told', async (t) => {
  const receiver = await startOtlpReceiver(t);
  const tracer = openTracer({
    endpoint: `${receiver.endpoint}/`,
    share: 1,
    version: '9',
    log: silent,
  });
  const context = { traceId: tracer.newTraceId(), spanId: tracer.newSpanId() };
  const other = { traceId: tracer.newTraceId(), spanId: tracer.newSpanId() };
  tracer.tell({
    name: 'whole',
    kind: 'server',
    context,
    parentId: null,
    startMs: 1_700_000_000_000,
    endMs: 1_700_000_000_250,
    attributes: { text: 'a', number: 7 },
    links: [other],
    error: 'it failed',
  });
  const child = { traceId: context.traceId, spanId: tracer.newSpanId() };
  const times = { startMs: 1_700_000_000_100, endMs: 1_700_000_000_050 };
  tracer.tell({ ...SPAN, ...times, name: 'part', context: child, parentId: context.spanId });
  await tracer.stop();
  t.match(receiver.spans, [
    {
      ...context,
      name: 'whole',
      kind: 2,
      parentSpanId: '',
      startMs: 1_700_000_000_000,
      endMs: 1_700_000_000_250,
      attributes: { text: 'a', number: 7 },
      links: [other],
      isError: true,
      resource: { 'service.name': 'tagcast', 'service.version': '9' },
    },
    { ...child, name: 'part', kind: 1, parentSpanId: context.spanId, isError: false },
  ]);
  const [, part] = receiver.spans;
  t.equal(part?.endMs, part?.startMs, 'a clock that was set back makes no negative length');
  t.strictSame(
    receiver.requests.map(([path]) => path),
    ['/v1/traces'],
  );
});

t.test('of a share of traces every node records the same', async (t) => {
  const options = { endpoint: 'http://127.0.0.1:9', version: '9', log: silent };
  const [one, other, all, none] = [0.5, 0.5, 1, 0].map((share) =>
    openTracer({ ...options, share }),
  );
  const ids = Array.from({ length: 2_000 }, () => contextOfJob(uuidV7()).traceId);
  const sampled = ids.filter((id) => one?.isSampled(id));
  t.ok(sampled.length > 700 && sampled.length < 1_300, `${sampled.length} of 2,000`);
  t.strictSame(
    ids.filter((id) => other?.isSampled(id)),
    sampled,
  );
  t.equal(ids.filter((id) => all?.isSampled(id)).length, ids.length);
  t.equal(ids.filter((id) => none?.isSampled(id)).length, 0);
  for (const tracer of [one, other, all, none]) await tracer?.stop();
});

t.test('a collector that is away: told once, and nothing waits for it', async (t) => {
  const receiver = await startOtlpReceiver(t);
  receiver.answerWith(400);
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const tracer = openTracer({ endpoint: receiver.endpoint, share: 1, version: '9', log });
  const times = { startMs: 1_700_000_000_000, endMs: 1_700_000_000_001 };
  for (let n = 0; n < 2_000; n += 1) {
    const context = { traceId: tracer.newTraceId(), spanId: tracer.newSpanId() };
    tracer.tell({ ...SPAN, ...times, name: 'lost', context, parentId: null });
  }
  await tracer.stop();
  t.ok(receiver.requests.length > 1, 'more than one export has failed');
  t.equal(lines.length, 1);
  t.match(lines[0], {
    level: 40,
    times: 1,
    msg: /^traces could not be exported/,
    reason: 'Bad Request',
  });
});

t.test('only an engine with an endpoint loads the SDK', (t) => {
  const users = sourcesIn('src').filter((path) => readText(path).includes("'@opentelemetry/"));
  t.strictSame(users, ['src/telemetry/traces/open.ts']);
  const static_ = /^import [^(]*traces\/open\.ts'/m;
  t.strictSame(
    sourcesIn('src').filter((path) => static_.test(readText(path))),
    [],
    'nobody imports it at once',
  );
  t.end();
});
