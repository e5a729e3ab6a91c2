/** The steps of a runner, for the trace of its task. A task that is not traced notes none. */

import type { RunContext } from './run-context.ts';

export class Steps {
  readonly #context: Pick<RunContext, 'step' | 'clock'>;
  readonly #startedMs: number;
  #resolvedMs: number | null = null;
  #sentMs: number | null = null;
  #sends = 0;

  constructor(context: Pick<RunContext, 'step' | 'clock'>) {
    this.#context = context;
    this.#startedMs = context.clock.nowMs();
  }

  /** Its devices are known. */
  resolved(devices: number): void {
    const endMs = this.#context.clock.nowMs();
    this.#resolvedMs = endMs;
    const attributes = { 'tagcast.devices': devices };
    this.#context.step?.({ name: 'resolve', startMs: this.#startedMs, endMs, attributes });
  }

  /** Every send has its answer, or will have none. */
  sent(): void {
    this.#sentMs = this.#context.clock.nowMs();
  }

  /** So many of them were recorded. */
  recorded(sends: number): void {
    this.#sends += sends;
  }

  end(): void {
    if (this.#resolvedMs === null) return;
    const endMs = this.#sentMs ?? this.#context.clock.nowMs();
    const attributes = { 'tagcast.sends': this.#sends };
    this.#context.step?.({ name: 'send', startMs: this.#resolvedMs, endMs, attributes });
  }
}
