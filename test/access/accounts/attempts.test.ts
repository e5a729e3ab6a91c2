/** Attempts at passwords, by account and by network. */

import t from 'tap';
import { Attempts } from '../../../src/access/accounts/attempts.ts';

const MINUTE_MS = 60_000;
const ANN = 'ann@example.com';

const tryTimes = (attempts: Attempts, email: string, address: string, times: number): number =>
  Array.from({ length: times }, () => attempts.begin(email, address)).at(-1) ?? 0;

t.test('ten for an account from one network; its owner elsewhere is not held up', (t) => {
  let nowMs = 1_000;
  const attempts = new Attempts(() => nowMs);
  t.equal(tryTimes(attempts, ANN, '192.0.2.1', 10), 0);
  t.equal(attempts.begin(ANN, '192.0.2.1'), 15 * MINUTE_MS);
  t.equal(attempts.begin(ANN, '192.0.2.2'), 0, 'from another network');
  t.equal(attempts.begin('ben@example.com', '192.0.2.1'), 0, 'another account');
  nowMs += 15 * MINUTE_MS;
  t.equal(attempts.begin(ANN, '192.0.2.1'), 0, 'then anew');
  t.end();
});

t.test('thousands from elsewhere lock nobody out', (t) => {
  const attempts = new Attempts(() => 0);
  for (let n = 0; n < 5_000; n += 1) attempts.begin(ANN, `10.0.${n >> 8}.${n & 255}`);
  t.equal(attempts.begin(ANN, '192.0.2.1'), 0);
  t.end();
});

t.test('sixty from a network over all accounts; who signed in there before still does', (t) => {
  const attempts = new Attempts(() => 0);
  t.equal(attempts.begin(ANN, '2001:db8::1'), 0);
  attempts.succeeded(ANN, '2001:db8::1');
  for (let n = 0; n < 60; n += 1) attempts.begin(`${n}@example.com`, '2001:db8::2');
  t.ok(attempts.begin('ben@example.com', '2001:db8::3') > 0, 'IPv6 counts by its /64');
  t.equal(attempts.begin(ANN, '2001:db8::1'), 0);
  t.ok(tryTimes(attempts, ANN, '2001:db8::1', 10) > 0, 'ten at a time, as everybody');
  t.end();
});

t.test('a right password takes back the wrong ones before it', (t) => {
  const attempts = new Attempts(() => 0);
  t.equal(tryTimes(attempts, ANN, '192.0.2.1', 10), 0);
  attempts.succeeded(ANN, '192.0.2.1');
  t.equal(tryTimes(attempts, ANN, '192.0.2.1', 10), 0);
  t.ok(attempts.begin(ANN, '192.0.2.1') > 0);
  t.end();
});

t.test('240 from a site over all its networks; who signed in there before still does', (t) => {
  const attempts = new Attempts(() => 0);
  attempts.begin(ANN, '2001:db8:1::1');
  attempts.succeeded(ANN, '2001:db8:1::1');
  const begin = (n: number): number => attempts.begin(`${n}@example.com`, `2001:db8:1:${n}::1`);
  const waits = Array.from({ length: 241 }, (_, n) => begin(n));
  t.same(
    waits.filter((wait) => wait > 0),
    [15 * MINUTE_MS],
    'the last one',
  );
  t.equal(attempts.begin('ben@example.com', '2001:db8:2::1'), 0, 'another site');
  t.equal(attempts.begin(ANN, '2001:db8:1::1'), 0);
  t.end();
});

t.test('a network that is refused makes no other one forgotten', (t) => {
  const attempts = new Attempts(() => 0);
  t.equal(tryTimes(attempts, ANN, '192.0.2.1', 10), 0);
  for (let n = 0; n < 20_100; n += 1) attempts.begin(`${n}@example.com`, '192.0.2.2');
  t.ok(attempts.begin(ANN, '192.0.2.1') > 0);
  t.end();
});

t.test('an attempt that nobody heard does not count', (t) => {
  const attempts = new Attempts(() => 0);
  for (let n = 0; n < 100; n += 1) {
    t.equal(attempts.begin(ANN, '192.0.2.1'), 0);
    attempts.withdraw(ANN, '192.0.2.1');
  }
  t.equal(tryTimes(attempts, ANN, '192.0.2.1', 10), 0);
  t.ok(attempts.begin(ANN, '192.0.2.1') > 0);
  t.end();
});

t.test('ten clients of an account, however often it signs in between', (t) => {
  const attempts = new Attempts(() => 0);
  for (let n = 0; n < 10; n += 1) {
    attempts.begin(ANN, '192.0.2.1');
    attempts.succeeded(ANN, '192.0.2.1');
    t.equal(attempts.makeClient(1), 0);
  }
  t.equal(attempts.makeClient(1), 15 * MINUTE_MS);
  t.equal(attempts.makeClient(2), 0, 'another account');
  t.end();
});
