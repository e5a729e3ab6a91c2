/** Wrong credentials by address. */

import t from 'tap';
import { Failures } from '../../src/access/failures.ts';
import { settableClock } from '../support/set-clock.ts';

const failTimes = (failures: Failures, address: string, times: number): number =>
  Array.from({ length: times }, () => failures.noteAndAskRetryAfterMs(address)).at(-1) ?? 0;

t.test('too many in a window are told when it ends; then it begins anew', (t) => {
  let nowMs = 1_000;
  const failures = new Failures(() => nowMs);
  t.equal(failTimes(failures, '192.0.2.1', 30), 0);
  t.equal(failures.noteAndAskRetryAfterMs('192.0.2.1'), 60_000);
  t.equal(failures.noteAndAskRetryAfterMs('192.0.2.2'), 0, 'another address is another matter');
  nowMs += 45_000;
  t.equal(failures.noteAndAskRetryAfterMs('192.0.2.1'), 15_000);
  nowMs += 15_000;
  t.equal(failures.noteAndAskRetryAfterMs('192.0.2.1'), 0);
  t.end();
});

t.test('IPv6 is counted by its /64, however it is written', (t) => {
  const failures = new Failures();
  t.equal(failTimes(failures, '2001:db8::1', 20), 0);
  t.equal(failTimes(failures, '2001:0db8:0000:0000:0000:0000:0000:0002', 10), 0);
  t.ok(failures.noteAndAskRetryAfterMs('2001:db8:0:0:ffff::3') > 0);
  t.equal(failures.noteAndAskRetryAfterMs('2001:db8:0:1::1'), 0);
  t.end();
});

t.test('it is bounded: what failed longest ago is forgotten', (t) => {
  const failures = new Failures();
  failTimes(failures, '192.0.2.1', 31);
  for (let index = 0; index < 50_000; index += 1) {
    failures.noteAndAskRetryAfterMs(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
  }
  t.equal(failures.noteAndAskRetryAfterMs('192.0.2.1'), 0);
  t.end();
});

t.test('a clock that is set back keeps nobody waiting for longer', (t) => {
  const setClock = settableClock(t);
  const failures = new Failures();
  failTimes(failures, '192.0.2.1', 31);
  setClock(-86_400_000);
  t.ok(failures.noteAndAskRetryAfterMs('192.0.2.1') <= 60_000);
  t.end();
});
