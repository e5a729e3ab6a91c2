/**
 * What is said through a port, gathered for a turn of the event loop: a lot of small tasks has as
 * many words as a large one has devices, and each message costs both threads more than what it
 * says.
 */

import type { Said } from './task.ts';

export class Outbox<T> {
  private readonly post: (said: Said<T>) => void;
  private said: (readonly [place: number, word: T])[] = [];

  constructor(post: (said: Said<T>) => void) {
    this.post = post;
  }

  /** Goes out when this turn is over. */
  say(place: number, word: T): void {
    if (this.said.length === 0) setImmediate(() => this.flush());
    this.said.push([place, word]);
  }

  /** Whatever has been said goes out now. */
  flush(): void {
    if (this.said.length === 0) return;
    const { said } = this;
    this.said = [];
    this.post(said);
  }
}
