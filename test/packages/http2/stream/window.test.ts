import * as fc from 'fast-check';
import t from 'tap';
import { grownWindow, ReceiveWindow } from '../../../../packages/http2/src/stream/window.ts';

t.test('a window for sending grows up to 2^31-1 (6.9.1), and may be negative (6.9.2)', (t) => {
  t.equal(grownWindow(0, 2 ** 31 - 1), 2 ** 31 - 1);
  t.equal(grownWindow(1, 2 ** 31 - 1), null);
  t.equal(grownWindow(2 ** 31 - 1, 2 ** 31 - 1), null);
  t.equal(grownWindow(10, -65_535), -65_525);
  t.equal(grownWindow(-65_525, 65_535), 10);
  t.end();
});

t.test('what the peer may send', (t) => {
  const window = new ReceiveWindow(100);
  t.equal(window.take(12), true);
  t.equal(window.replenish(), 0, 'less than an eighth is used');
  t.equal(window.take(1), true);
  t.equal(window.replenish(), 13);
  t.equal(window.replenish(), 0);
  t.equal(window.take(100), true, 'all of it');
  t.equal(window.take(1), false, 'one more');
  window.reset();
  t.equal(window.take(100), true);
  t.end();
});

t.test('the peer’s view and ours are the same', (t) => {
  const steps = fc.array(fc.record({ octets: fc.nat(400), isAnswered: fc.boolean() }));
  void fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), steps, (octets, steps) => {
      const window = new ReceiveWindow(octets);
      let allowed = octets;
      for (const step of steps) {
        allowed -= step.octets;
        if (window.take(step.octets) !== allowed >= 0) return false;
        if (allowed < 0) return true;
        if (!step.isAnswered) continue;
        allowed += window.replenish();
        // More than seven eighths open, never wider than it was said to be.
        if (allowed * 8 <= octets * 7) return false;
        if (allowed > octets) return false;
      }
      return true;
    }),
  );
  t.end();
});
