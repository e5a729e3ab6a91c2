/** Remembers whether the batches of registrations have changed anything of late. */

/**
 * Apps that start again come in waves. A wrong guess costs one more round trip.
 * @limit batches in a row that change nothing, after which the tags of a batch of `reg` are left
 * out at first → they are read when it changes something
 */
const UNCHANGED_BATCHES = 3;

export class RecentChanges {
  #unchangedBatches = 0;

  note(hasChanged: boolean): void {
    this.#unchangedBatches = hasChanged ? 0 : this.#unchangedBatches + 1;
  }

  get areLikely(): boolean {
    return this.#unchangedBatches < UNCHANGED_BATCHES;
  }
}
