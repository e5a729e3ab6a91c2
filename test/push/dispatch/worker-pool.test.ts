import t from 'tap';
import { WorkerPool } from '../../../src/push/dispatch/worker-pool.ts';
import { Presence } from '../../../src/push/protocol/presence.ts';
import type { WorkerSettings } from '../../../src/push/protocol/task.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { DEFAULT_ORIGINS } from '../../support/default-origins.ts';

t.test('threads are not ended before they have loaded', async (t) => {
  const settings: WorkerSettings = {
    presence: new Presence(systemClock).memory,
    broadcast: 'worker-pool.test',
    limits: { connectionsMax: 8 },
    // No server listens there: a thread connects when it has a task.
    address: { kind: 'postgres', url: 'postgres://127.0.0.1:1/none' },
    redis: null,
    origins: DEFAULT_ORIGINS,
    transport: 'http2',
    logLevel: 'silent',
  };
  const pool = new WorkerPool(2, settings, () => undefined);
  t.equal(pool.vitals.length, 0);
  await pool.destroy();
  t.equal(pool.vitals.length, 2, 'each has told its vitals, at the end of loading');
});
