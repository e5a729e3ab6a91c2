import t from 'tap';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { DELIVERED } from '../../../src/domain/outcome.ts';
import { ConcurrencyLimit } from '../../../src/transport/pool/concurrency-limit.ts';
import { Latency } from '../../../src/transport/pool/latency.ts';

const THROTTLED: Outcome = {
  kind: 'throttled-target',
  reason: 'QUOTA_EXCEEDED',
  retryAfterMs: null,
};

/** A provider with always so much under way, as far as the limit allows. */
class Traffic {
  readonly limit: ConcurrencyLimit;
  readonly #demand: number;
  #underWay = 0;
  #answers = 0;

  constructor(demand: number, latency = new Latency()) {
    this.limit = new ConcurrencyLimit(latency);
    this.#demand = demand;
    this.#fill();
  }

  /** `badEvery`: each so many-th answer is a 429; 0: none. */
  answers(count: number, badEvery: number): void {
    for (let answer = 0; answer < count; answer += 1) {
      this.#answers += 1;
      const isBad = badEvery > 0 && this.#answers % badEvery === 0;
      this.limit.answered(isBad ? THROTTLED : DELIVERED);
      this.#underWay -= 1;
      this.#fill();
    }
  }

  #fill(): void {
    while (this.#underWay < this.#demand && this.limit.free > 0) {
      this.limit.started();
      this.#underWay += 1;
    }
  }
}

t.test('no limit while all is well, and for a failure here and there', (t) => {
  const traffic = new Traffic(1_000);
  traffic.answers(5_000, 0);
  t.equal(traffic.limit.limit, Number.POSITIVE_INFINITY);
  traffic.answers(20_000, 20);
  t.equal(traffic.limit.limit, Number.POSITIVE_INFINITY, 'five of a hundred');
  t.end();
});

t.test('overloaded: less than was under way, once for all of it', (t) => {
  const traffic = new Traffic(1_000);
  traffic.answers(64, 1);
  t.equal(traffic.limit.limit, 700);
  t.equal(traffic.limit.free, 0);
  traffic.answers(935, 1);
  t.equal(traffic.limit.limit, 700, 'what was under way says nothing new');
  traffic.answers(100, 1);
  t.ok(traffic.limit.limit < 700);
  t.end();
});

t.test('throttled again and again it keeps the least; answered well it comes back', (t) => {
  const traffic = new Traffic(1_000);
  traffic.answers(20_000, 2);
  t.equal(traffic.limit.limit, 8);
  traffic.answers(5_000, 0);
  t.ok(traffic.limit.limit > 100, String(traffic.limit.limit));
  t.end();
});

t.test('a limit that nothing comes near to is given up', (t) => {
  const traffic = new Traffic(1_000);
  traffic.answers(64, 1);
  const idle = traffic.limit;
  for (let request = 0; request < 1_000; request += 1) idle.answered(DELIVERED);
  for (let request = 0; request < 200; request += 1) {
    idle.started();
    idle.answered(DELIVERED);
  }
  t.equal(idle.limit, Number.POSITIVE_INFINITY);
  t.end();
});

t.test('answers that take a second longer than the quickest are a sign as well', (t) => {
  const latency = new Latency();
  const traffic = new Traffic(100, latency);
  latency.answered(50);
  for (let answer = 0; answer < 500; answer += 1) latency.answered(1_040);
  traffic.answers(200, 0);
  t.equal(traffic.limit.limit, Number.POSITIVE_INFINITY, 'not yet');
  for (let answer = 0; answer < 500; answer += 1) latency.answered(2_000);
  traffic.answers(200, 0);
  t.ok(traffic.limit.limit <= 70);
  t.end();
});

t.test('what ended without an answer is no longer under way, and no sign', (t) => {
  const traffic = new Traffic(100);
  traffic.answers(64, 1);
  t.equal(traffic.limit.limit, 70);
  t.equal(traffic.limit.free, 0);
  for (let request = 0; request < 60; request += 1) traffic.limit.failed();
  t.ok(traffic.limit.free > 20);
  t.end();
});
