import t from 'tap';
import { Latency } from '../../../src/transport/pool/latency.ts';

t.test('the mean follows, the round trip is the quickest', (t) => {
  const latency = new Latency();
  t.equal(latency.meanMs, 0);
  t.equal(latency.roundTripMs, 0);
  latency.answered(50);
  t.equal(latency.meanMs, 50, 'the first one is all there is');
  for (let answer = 0; answer < 1_000; answer += 1) latency.answered(200);
  t.ok(latency.meanMs > 199);
  t.equal(latency.roundTripMs, 50);
  t.end();
});

t.test('a quick answer of long ago is forgotten', (t) => {
  const latency = new Latency();
  latency.tick(0);
  latency.answered(5);
  latency.tick(30_000);
  latency.answered(80);
  t.equal(latency.roundTripMs, 5);
  latency.tick(60_000);
  t.equal(latency.roundTripMs, 80);
  t.end();
});

t.test('answers queue when they take half as long again as the quickest', (t) => {
  const latency = new Latency();
  for (let answer = 0; answer < 500; answer += 1) latency.answered(50 + (answer % 20));
  t.notOk(latency.isQueueing);
  for (let answer = 0; answer < 500; answer += 1) latency.answered(90);
  t.ok(latency.isQueueing);
  t.end();
});
