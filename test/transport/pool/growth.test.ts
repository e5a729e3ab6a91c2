import t from 'tap';
import { Growth } from '../../../src/transport/pool/growth.ts';

const SPAN_MS = 100;
/** Used up so many in a row, the connections are doubled. */
const SPANS_UNTIL_DOUBLED = 2;

/**
 * A provider that answers `perConnection` a span and connection, but no more than `most` in all.
 */
class Demand {
  readonly growth = new Growth({ connectionsMax: 16, growEveryMs: SPAN_MS });
  connections = 1;
  nowMs = 0;
  isUsedUp = true;
  isQueueing = true;
  readonly perConnection: number;
  most: number;

  constructor(perConnection: number, most: number) {
    this.perConnection = perConnection;
    this.most = most;
    this.growth.begin(0);
  }

  spans(count: number, connecting = 0): void {
    for (let span = 0; span < count; span += 1) {
      if (this.isUsedUp) this.growth.usedUp(this.nowMs);
      const answers = Math.min(this.most, this.connections * this.perConnection);
      for (let answer = 0; answer < answers; answer += 1) this.growth.answered();
      this.nowMs += SPAN_MS;
      this.growth.relieved(this.nowMs);
      const { open, retire } = this.growth.end(
        this.nowMs,
        this.connections,
        connecting,
        this.isQueueing,
      );
      this.connections += open - retire;
    }
  }
}

t.test('doubles while each doubling brings more, up to its bound', (t) => {
  const demand = new Demand(10, 1_000_000);
  const seen = Array.from({ length: 12 }, () => {
    demand.spans(1);
    return demand.connections;
  });
  t.same([...new Set(seen)], [1, 2, 4, 8, 16]);
  t.end();
});

t.test('takes back the doubling that brought nothing, and holds', (t) => {
  const demand = new Demand(10, 40);
  demand.spans(20);
  t.equal(demand.connections, 4);
  demand.spans(550);
  t.equal(demand.connections, 4, 'for a minute');
  const seen = Array.from({ length: 100 }, () => {
    demand.spans(1);
    return demand.connections;
  });
  t.ok(seen.includes(8), 'and then tries again');
  t.equal(demand.connections, 4);
  t.end();
});

t.test('takes back only what has come: connections that failed cost none of those before', (t) => {
  const growth = new Growth({ connectionsMax: 64, growEveryMs: SPAN_MS });
  growth.begin(0);
  growth.usedUp(0);
  const steps = [100, 200, 300, 400].map((nowMs) => {
    growth.answered();
    return growth.end(nowMs, 4, 0, true);
  });
  t.same(
    steps.map(({ retire }) => retire),
    [0, 0, 0, 0],
  );
  t.equal(steps[SPANS_UNTIL_DOUBLED - 1]?.open, 4);
  t.ok(
    steps.slice(SPANS_UNTIL_DOUBLED).some(({ open }) => open > 0),
    'and it may try again',
  );
  const partly = new Growth({ connectionsMax: 64, growEveryMs: SPAN_MS });
  partly.begin(0);
  partly.usedUp(0);
  partly.answered();
  t.same(partly.end(100, 4, 0, true), { open: 0, retire: 0 });
  partly.answered();
  t.same(partly.end(200, 4, 0, true), { open: 4, retire: 0 });
  partly.end(300, 5, 0, true);
  partly.answered();
  t.same(partly.end(400, 5, 0, true), { open: 0, retire: 1 }, 'one of four has come');
  t.end();
});

t.test('a hold is over when nothing is answered: the connections may be silent', (t) => {
  const demand = new Demand(10, 40);
  demand.spans(20);
  t.equal(demand.connections, 4);
  demand.most = 0;
  demand.spans(1);
  t.equal(demand.connections, 5, 'one more, for nobody knows whether it is of use');
  demand.most = 40;
  demand.spans(50);
  t.equal(demand.connections, 5, 'answers are back, and it holds again');
  t.end();
});

t.test('a doubling during which all answers stop is not taken back', (t) => {
  const demand = new Demand(10, 1_000);
  demand.spans(SPANS_UNTIL_DOUBLED);
  t.equal(demand.connections, 2);
  demand.most = 0;
  demand.spans(2);
  t.equal(demand.connections, 3);
  t.end();
});

t.test('does not grow without need, nor while connections are on their way', (t) => {
  const idle = new Demand(10, 1_000);
  idle.isUsedUp = false;
  idle.spans(20);
  t.equal(idle.connections, 1);
  const waiting = new Demand(10, 1_000);
  waiting.spans(20, 1);
  t.equal(waiting.connections, 1);
  t.end();
});

t.test('used up for less than half of a span is no need', (t) => {
  const openedBy = (usedUpMs: number): number => {
    const growth = new Growth({ connectionsMax: 16, growEveryMs: SPAN_MS });
    growth.begin(0);
    let opened = 0;
    for (let span = 0; span < SPANS_UNTIL_DOUBLED; span += 1) {
      const nowMs = span * SPAN_MS;
      growth.usedUp(nowMs);
      growth.relieved(nowMs + usedUpMs);
      growth.answered();
      opened += growth.end(nowMs + SPAN_MS, 1, 0, true).open;
    }
    return opened;
  };
  t.equal(openedBy(49), 0);
  t.equal(openedBy(51), 1);
  t.end();
});

t.test('a doubling for a push that is over is measured by the next one, and taken back', (t) => {
  const demand = new Demand(10, 10);
  for (let push = 0; push < 1_000; push += 1) {
    demand.isUsedUp = true;
    demand.spans(SPANS_UNTIL_DOUBLED);
    demand.isUsedUp = false;
    demand.spans(3);
    t.notOk(demand.growth.isBusy);
    t.ok(demand.connections <= 2, 'no doubling upon one that is not proven');
  }
  demand.isUsedUp = true;
  demand.spans(SPANS_UNTIL_DOUBLED);
  demand.most = 1_000_000;
  demand.spans(100 * SPANS_UNTIL_DOUBLED);
  demand.spans(600);
  t.equal(demand.connections, 16, 'what brings more is kept, and doubled');
  t.end();
});

t.test('short pushes, however many, are no need: each is over before a connection is open', (t) => {
  const demand = new Demand(10, 1_000_000);
  for (let push = 0; push < 1_000; push += 1) {
    demand.isUsedUp = true;
    demand.spans(SPANS_UNTIL_DOUBLED - 1);
    t.ok(demand.growth.isBusy, 'the span that ends it is watched too');
    demand.isUsedUp = false;
    demand.spans(1);
    t.notOk(demand.growth.isBusy);
  }
  t.equal(demand.connections, 1);
  t.end();
});

t.test('a span holds two round trips', (t) => {
  const growth = new Growth({ connectionsMax: 16, growEveryMs: SPAN_MS });
  t.equal(growth.spanMs(10), SPAN_MS);
  t.equal(growth.spanMs(200), 400);
  t.end();
});

t.test(
  'answers as quick as the round trip: streams are what limits, whatever the rate does',
  (t) => {
    const demand = new Demand(10, 40);
    demand.isQueueing = false;
    demand.spans(20);
    t.equal(demand.connections, 16);
    t.end();
  },
);

t.test('a connection that was of no use holds it for a while', (t) => {
  const demand = new Demand(10, 1_000_000);
  demand.growth.lost(0);
  demand.spans(99);
  t.equal(demand.connections, 1);
  demand.spans(20);
  t.ok(demand.connections > 1);
  t.end();
});

t.test('a doubling that only spreads the same answers over more connections is taken back', (t) => {
  const growth = new Growth({ connectionsMax: 16, growEveryMs: SPAN_MS });
  const span = (nowMs: number, usedUpMs: number, connections: number, answers: number) => {
    growth.usedUp(nowMs);
    growth.relieved(nowMs + usedUpMs);
    for (let answer = 0; answer < answers; answer += 1) growth.answered();
    return growth.end(nowMs + SPAN_MS, connections, 0, true);
  };
  growth.begin(0);
  t.same(span(0, 90, 1, 100), { open: 0, retire: 0 });
  t.same(span(100, 90, 1, 100), { open: 1, retire: 0 });
  span(200, 10, 2, 110);
  t.same(span(300, 10, 2, 120), { open: 0, retire: 1 });
  t.end();
});
