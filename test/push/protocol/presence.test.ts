import t from 'tap';
import { Presence } from '../../../src/push/protocol/presence.ts';
import { ManualClock } from '../../support/scripted-sender.ts';

t.test('the only node there is needs no presence', (t) => {
  const presence = new Presence(new ManualClock());
  t.equal(presence.nodeId, null);
  t.ok(presence.covers(null));
  t.notOk(presence.covers(1), 'a node that has not joined covers nothing');
  t.end();
});

t.test('what the main thread prolongs its workers see, until its time', (t) => {
  const clock = new ManualClock();
  const main = new Presence(clock);
  const worker = new Presence(clock, main.memory);
  main.prolong(7, clock.monotonicMs() + 2_500);
  t.ok(worker.covers(7));
  t.equal(worker.nodeId, 7);
  clock.pass(2_000);
  main.prolong(7, clock.monotonicMs() + 2_500);
  clock.pass(2_499);
  t.ok(worker.covers(7));
  clock.pass(1);
  t.notOk(worker.covers(7));
  t.equal(worker.nodeId, 7, 'it is still what it is called');
  main.prolong(7, clock.monotonicMs() + 2_500);
  t.ok(worker.covers(7), 'it hung, and nobody took it for dead');
  t.end();
});

t.test('what was claimed under an earlier id is never covered again', (t) => {
  const clock = new ManualClock();
  const main = new Presence(clock);
  const worker = new Presence(clock, main.memory);
  main.prolong(7, clock.monotonicMs() + 2_500);
  main.prolong(9, clock.monotonicMs() + 2_500);
  t.ok(worker.covers(9));
  t.notOk(worker.covers(7));
  t.end();
});
