import t from 'tap';
import { uuidV7 } from '../../../src/domain/uuid-v7.ts';
import { contextOfJob, readTraceparent } from '../../../src/telemetry/traces/tracer.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

t.test("a job's trace is its id: every node knows it", (t) => {
  t.same(contextOfJob('019ad000-1234-7abc-8def-0123456789ab'), {
    traceId: '019ad00012347abc8def0123456789ab',
    spanId: '8def0123456789ab',
  });
  const { traceId, spanId } = contextOfJob(uuidV7());
  t.match(traceId, /^[\da-f]{32}$/);
  t.match(spanId, /^[89ab][\da-f]{15}$/, 'and no span is all zeros');
  t.end();
});

t.test("a caller's trace, as W3C Trace Context names it", (t) => {
  const context = { traceId: TRACE, spanId: SPAN };
  t.same(readTraceparent(`00-${TRACE}-${SPAN}-01`), { ...context, isSampled: true });
  t.same(readTraceparent(`00-${TRACE}-${SPAN}-00`), { ...context, isSampled: false });
  t.same(readTraceparent(`cc-${TRACE}-${SPAN}-03-later`), { ...context, isSampled: true });
  for (const header of [
    '',
    'anything',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
  ]) {
    t.equal(readTraceparent(header), null, header);
  }
  t.end();
});
