import t from 'tap';
import type { WorkerReadings } from '../../../src/push/protocol/task.ts';
import { WorkerTotals } from '../../../src/push/protocol/worker-totals.ts';
import { VitalsWatch } from '../../../src/std/thread-vitals.ts';
import { ResolveMeter } from '../../../src/tag-index/resolve-meter.ts';
import { TransportMeter } from '../../../src/transport/transport-meter.ts';

const watch = new VitalsWatch();
t.teardown(() => watch.stop());
const { vitals } = watch;
if (vitals === null) throw new Error('the vitals cannot be read');

const readingsOf = (
  threadId: number,
  meter: TransportMeter,
  resolved: ResolveMeter,
): WorkerReadings => ({
  threadId,
  vitals,
  transports: [['apns', meter.take()]],
  resolved: resolved.take(),
});

const apnsOf = (totals: WorkerTotals) =>
  totals.reading.providers.find(({ provider }) => provider === 'apns');

t.test(
  'counts of all threads add up, also of dead ones; what is open goes with its thread',
  (t) => {
    const totals = new WorkerTotals();
    t.match(
      apnsOf(totals),
      { connections: 0, connects: 0 },
      'each provider is there from the start',
    );
    const meter = new TransportMeter();
    const resolved = new ResolveMeter();
    meter.connects = 3;
    meter.connections = 2;
    meter.streams = 5;
    meter.outcomes.delivered = 10;
    meter.answered(30);
    resolved.databaseSeconds.observe(0.2);
    resolved.stale = 1;
    totals.hear(readingsOf(1, meter, resolved));
    totals.hear(readingsOf(1, meter, resolved));
    t.match(apnsOf(totals), {
      connects: 3,
      connections: 2,
      streams: 5,
      outcomes: { delivered: 10, unknown: 0 },
      latencySeconds: { sum: 0.03 },
    });
    const other = new TransportMeter();
    other.connections = 1;
    other.connectFailures = 4;
    other.outcomes.unknown = 1;
    totals.hear(readingsOf(2, other, resolved));
    t.match(apnsOf(totals), { connects: 3, connections: 3, streams: 5, connectFailures: 4 });
    totals.forget(1);
    t.match(apnsOf(totals), {
      connects: 3,
      connections: 1,
      streams: 0,
      outcomes: { delivered: 10, unknown: 1 },
    });
    t.match(totals.reading.resolved, { stale: 1, unavailable: 0, databaseSeconds: { sum: 0.2 } });
    t.end();
  },
);
