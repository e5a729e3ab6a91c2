/**
 * Work that is done again and again, with a pause after each run: never two runs at once, and a
 * stop that waits.
 */

export class Recurring {
  private readonly intervalMs: number;
  private readonly work: () => Promise<void>;
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();

  /** `work` must not reject: nobody would hear of it. */
  constructor(intervalMs: number, work: () => Promise<void>) {
    this.intervalMs = intervalMs;
    this.work = work;
  }

  /** The first run comes after one interval. Does not keep the process alive. */
  start(): void {
    this.timer = setTimeout(() => {
      this.running = this.work().then(() => {
        if (this.timer !== null) this.start();
      });
    }, this.intervalMs).unref();
  }

  /** Resolves when the run under way has ended. */
  async stop(): Promise<void> {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    await this.running;
  }
}
