/** The two clocks: one for dates, one that only goes forward. Tests bring their own. */

export interface Clock {
  /** Epoch milliseconds: for dates that people and other machines know. May jump. */
  nowMs(): number;
  /** For leases: the same in every thread of a machine; goes on while a process is stopped. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  },
};
