/**
 * The clock of this node, which somebody sets until the test ends: the date jumps, no other clock
 * does.
 */

import type { Test } from 'tap';

/** Before whatever reads it is made; the answer sets it, by so much. */
export function settableClock(t: Test): (byMs: number) => void {
  const realNow = Date.now;
  let aheadMs = 0;
  t.teardown(() => {
    Date.now = realNow;
  });
  Date.now = () => realNow() + aheadMs;
  return (byMs) => {
    aheadMs += byMs;
  };
}
