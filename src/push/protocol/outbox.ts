/**
 * Gathers the words for a port during one turn of the event loop, and posts them as one message. A
 * lot of small tasks says as many words as a large task has devices, and a message costs both
 * threads more than its content.
 */

import type { Said } from './task.ts';

export class Outbox<T> {
  private readonly post: (said: Said<T>) => void;
  private said: (readonly [place: number, word: T])[] = [];

  constructor(post: (said: Said<T>) => void) {
    this.post = post;
  }

  /** Posts the word when this turn is over. */
  say(place: number, word: T): void {
    if (this.said.length === 0) setImmediate(() => this.flush());
    this.said.push([place, word]);
  }

  /** Posts all gathered words now. */
  flush(): void {
    if (this.said.length === 0) return;
    const { said } = this;
    this.said = [];
    this.post(said);
  }
}
