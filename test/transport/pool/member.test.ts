/** A connection is spare when it is not used, or for moments only. */

import t from 'tap';
import { Member } from '../../../src/transport/pool/member.ts';

const IDLE_MS_MAX = 180_000;
const SWEEP_MS = 1_000;
const MINUTE_MS = 60_000;

/** Sweeps until a time; `isUsedAt` says when it has just begun a request. */
function sweep(
  member: Member,
  fromMs: number,
  untilMs: number,
  isUsedAt: (nowMs: number) => boolean,
): void {
  for (let nowMs = fromMs + SWEEP_MS; nowMs <= untilMs; nowMs += SWEEP_MS) {
    if (isUsedAt(nowMs)) member.usedAtMs = nowMs;
    member.sample(nowMs, 5, IDLE_MS_MAX);
  }
}

const never = (): boolean => false;

t.test('not used at all it is spare after idleMsMax, and not before', (t) => {
  const member = new Member('127.0.0.1', 0, 3_600_000);
  sweep(member, 0, IDLE_MS_MAX - SWEEP_MS, never);
  t.notOk(member.isSpare);
  sweep(member, IDLE_MS_MAX - SWEEP_MS, IDLE_MS_MAX + SWEEP_MS, never);
  t.ok(member.isSpare);
  t.end();
});

t.test('used a twentieth of the time it is spare after a while', (t) => {
  const member = new Member('127.0.0.1', 0, 3_600_000);
  sweep(member, 0, 10 * MINUTE_MS, (nowMs) => (nowMs / SWEEP_MS) % 20 === 0);
  t.ok(member.isSpare);
  t.end();
});

t.test('used a third of the time it stays', (t) => {
  const member = new Member('127.0.0.1', 0, 3_600_000);
  for (let minute = 0; minute < 60; minute += 1) {
    const startMs = minute * MINUTE_MS;
    sweep(member, startMs, startMs + MINUTE_MS, (nowMs) => (nowMs / SWEEP_MS) % 3 === 0);
    t.notOk(member.isSpare);
  }
  t.end();
});
