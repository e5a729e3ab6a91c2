/** Repeats work, with a pause after each run: never two at once, and `stop` waits for the last. */

export class Recurring {
  private readonly intervalMs: number;
  private readonly work: () => Promise<void>;
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();

  /** `work` must not reject: nothing handles its error. */
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
