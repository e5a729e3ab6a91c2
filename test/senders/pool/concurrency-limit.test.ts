import t from 'tap';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { DELIVERED } from '../../../src/domain/outcome.ts';
import { ConcurrencyLimit } from '../../../src/senders/pool/concurrency-limit.ts';
import { Latency } from '../../../src/senders/pool/latency.ts';

const THROTTLED: Outcome = {
  kind: 'throttled-target',
  reason: 'QUOTA_EXCEEDED',
  retryAfterMs: null,
};

function start(limit: ConcurrencyLimit, count: number): void {
  for (let request = 0; request < count; request += 1) limit.started();
}

/** Fourteen in a row are what is believed. */
const SIGN = 14;

function answer(limit: ConcurrencyLimit, outcome: Outcome, count: number): void {
  for (let request = 0; request < count; request += 1) limit.answered(outcome);
}

t.test('no limit until the provider shows signs of overload, then less than was under way', (t) => {
  const limit = new ConcurrencyLimit(new Latency());
  start(limit, 1_000 + SIGN);
  answer(limit, THROTTLED, SIGN - 1);
  t.equal(limit.free, Number.POSITIVE_INFINITY);
  limit.answered(THROTTLED);
  t.equal(limit.limit, 700);
  t.equal(limit.free, 0);
  t.end();
});

t.test('a share of failures that comes at any pace is no sign', (t) => {
  const limit = new ConcurrencyLimit(new Latency());
  start(limit, 100_000);
  for (let round = 0; round < 4_000; round += 1) {
    answer(limit, THROTTLED, 1);
    answer(limit, DELIVERED, 24);
  }
  t.equal(limit.limit, Number.POSITIVE_INFINITY);
  t.end();
});

t.test('a fifth of all answers is one', (t) => {
  const limit = new ConcurrencyLimit(new Latency());
  start(limit, 1_000);
  for (let round = 0; round < 40; round += 1) {
    answer(limit, THROTTLED, 1);
    answer(limit, DELIVERED, 4);
  }
  t.not(limit.limit, Number.POSITIVE_INFINITY);
  t.end();
});

t.test('all that was under way at a cut counts once', (t) => {
  const limit = new ConcurrencyLimit(new Latency());
  start(limit, 100 + SIGN);
  answer(limit, THROTTLED, 100 + SIGN);
  t.equal(limit.limit, 70);
  t.end();
});

t.test('what of it is lost will not be answered: the next signs count', (t) => {
  const limit = new ConcurrencyLimit(new Latency());
  start(limit, 100 + SIGN);
  answer(limit, THROTTLED, SIGN);
  for (let request = 0; request < 100; request += 1) limit.failed();
  start(limit, 50);
  answer(limit, THROTTLED, SIGN);
  t.equal(limit.limit, Math.floor((50 - SIGN) * 0.7));
  t.end();
});

t.test('throttled again and again it keeps the least; answered well it comes back', (t) => {
  const limit = new ConcurrencyLimit(new Latency());
  for (let round = 0; round < 40; round += 1) {
    start(limit, 10);
    answer(limit, THROTTLED, 10);
  }
  t.equal(limit.limit, 8);
  start(limit, 8);
  for (let round = 0; round < 200 && limit.limit < 20; round += 1) {
    limit.answered(DELIVERED);
    while (limit.free > 0 && limit.limit < 1_000) limit.started();
  }
  t.ok(limit.limit >= 20);
  t.end();
});

t.test('a limit that nothing comes near to is given up', (t) => {
  const limit = new ConcurrencyLimit(new Latency());
  start(limit, 101);
  answer(limit, THROTTLED, 101);
  for (let round = 0; round < 100; round += 1) {
    limit.started();
    limit.answered(DELIVERED);
  }
  t.equal(limit.limit, Number.POSITIVE_INFINITY);
  t.end();
});

t.test('answers that take a second longer than the quickest are a sign as well', (t) => {
  const latency = new Latency();
  const limit = new ConcurrencyLimit(latency);
  start(limit, 100);
  latency.answered(50);
  for (let round = 0; round < 500; round += 1) latency.answered(1_040);
  limit.answered(DELIVERED);
  t.equal(limit.limit, Number.POSITIVE_INFINITY, 'not yet');
  for (let round = 0; round < 500; round += 1) latency.answered(2_000);
  limit.answered(DELIVERED);
  t.equal(limit.limit, Math.floor(98 * 0.7));
  t.end();
});

t.test('what ended without an answer is no longer under way, and no sign', (t) => {
  const limit = new ConcurrencyLimit(new Latency());
  start(limit, 100 + SIGN);
  answer(limit, THROTTLED, SIGN);
  const before = limit.free;
  for (let request = 0; request < 60; request += 1) limit.failed();
  t.equal(limit.free, before + 30);
  t.end();
});
