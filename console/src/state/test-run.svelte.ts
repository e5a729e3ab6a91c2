/** Trials to the saved test devices, one after the other, and what the provider said to each. */

import type { Payload } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from '../api/client.ts';
import type { Fault } from '../api/fault.ts';
import { faultOf } from '../api/fault.ts';
import type { SavedTestDevice, TestAnswer } from '../api/test-devices.ts';
import { sendTest } from '../api/test-devices.ts';

/** The engine lets a client try one message a second. */
const PAUSE_MS = 1_050;
const TOO_MANY = 429;
/** Another member may be trying one at the same time. */
const ATTEMPTS_MAX = 4;

export type TestResult =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'answered'; readonly answer: TestAnswer }
  | { readonly kind: 'fault'; readonly fault: Fault };

export class TestRun {
  /** Keyed by the ids of the devices. */
  results = $state.raw<ReadonlyMap<number, TestResult>>(new Map());
  isRunning = $state(false);
  readonly #api: ClientApi;
  readonly #waiting: { readonly device: SavedTestDevice; readonly payload: Payload }[] = [];
  #isStopped = false;

  constructor(api: ClientApi) {
    this.#api = api;
  }

  /**
   * Sends to those that were not stopped before their turn, after those that wait already. Never
   * rejects.
   */
  async run(devices: readonly SavedTestDevice[], payload: Payload): Promise<void> {
    for (const device of devices) {
      this.#put(device.id, { kind: 'waiting' });
      this.#waiting.push({ device, payload });
    }
    if (this.isRunning) return;
    this.isRunning = true;
    for (let next = this.#waiting.shift(); next && !this.#isStopped; ) {
      this.#put(next.device.id, await this.#send(next.device, next.payload));
      next = this.#waiting.shift();
      if (next) await pause();
    }
    this.isRunning = false;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #send(device: SavedTestDevice, payload: Payload): Promise<TestResult> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return { kind: 'answered', answer: await sendTest(this.#api, device, payload) };
      } catch (error) {
        const fault = faultOf(error);
        if (fault.status !== TOO_MANY || attempt === ATTEMPTS_MAX) return { kind: 'fault', fault };
        await pause();
      }
    }
  }

  #put(id: number, result: TestResult): void {
    this.results = new Map([...this.results, [id, result]]);
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
