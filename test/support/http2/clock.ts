/**
 * The clock that packages/http2 looks at, moved by hand, so that no test has to wait for a time-out
 * of seconds.
 */

import type { Test } from 'tap';

const now = performance.now.bind(performance);

/** From now on it shows so much more than it is; 0 sets it right, as the end of the test does. */
export function passMs(t: Test, durationMs: number): void {
  t.teardown(() => {
    performance.now = now;
  });
  performance.now = () => now() + durationMs;
}
