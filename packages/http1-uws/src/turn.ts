/**
 * A turn of the event loop: from the first input that uWebSockets.js reads to the moment when all
 * that has arrived is read. Until then its parser may be on the stack, also below a microtask.
 */

export class Turn {
  readonly #onEnd: () => void;
  #isReading = false;
  #number = 0;
  #tasks: (() => void)[] = [];

  /** `onEnd` is called before the tasks. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  get isReading(): boolean {
    return this.#isReading;
  }

  /** Which turn this is. */
  get number(): number {
    return this.#number;
  }

  /** Input is read. */
  begin(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    setImmediate(() => this.#end());
  }

  /** Does this when all input is read. */
  after(task: () => void): void {
    this.begin();
    this.#tasks.push(task);
  }

  #end(): void {
    this.#isReading = false;
    this.#number += 1;
    const tasks = this.#tasks;
    this.#tasks = [];
    this.#onEnd();
    for (const task of tasks) task();
  }
}
