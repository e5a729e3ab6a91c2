/** A value that is asked for in the background: a reader gets the last answer at once. */

interface LastKnownOptions<T> {
  ask(): Promise<T>;
  readonly ageMsMax: number;
}

export class LastKnown<T> {
  readonly #options: LastKnownOptions<T>;
  #answer: { readonly value: T; readonly atMs: number } | null = null;
  #isAsked = false;

  constructor(options: LastKnownOptions<T>) {
    this.#options = options;
  }

  /** The last answer, and asks for the next one. Null: there is none that is young enough. */
  read(): T | null {
    if (!this.#isAsked) void this.#ask();
    const { ageMsMax } = this.#options;
    const isKnown = this.#answer !== null && performance.now() - this.#answer.atMs <= ageMsMax;
    return isKnown ? (this.#answer?.value ?? null) : null;
  }

  /** A failure is no answer: the last one ages. */
  async #ask(): Promise<void> {
    this.#isAsked = true;
    const atMs = performance.now();
    try {
      this.#answer = { value: await this.#options.ask(), atMs };
    } catch {
    } finally {
      this.#isAsked = false;
    }
  }
}
