/** Batchers side by side: operations on one device go to the same one, and keep their order. */

import type { Batcher } from '../std/batcher.ts';
import type { DeviceRef } from './operation.ts';

export class Lanes<Item extends { readonly device: DeviceRef }, Result> {
  readonly #lanes: readonly Batcher<Item, Result>[];

  constructor(count: number, open: (lane: number) => Batcher<Item, Result>) {
    this.#lanes = Array.from({ length: count }, (_, lane) => open(lane));
  }

  submit(item: Item): Promise<Result> {
    const hash = Number.parseInt(item.device.deviceKey.slice(0, 8), 16);
    const lane = this.#lanes[hash % this.#lanes.length];
    if (lane === undefined) throw new Error('there is no lane');
    return lane.submit(item);
  }

  async drain(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.drain()));
  }
}
