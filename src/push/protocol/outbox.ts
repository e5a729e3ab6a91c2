/** Posts the messages of one turn of the event loop as one: posting costs more than content. */

import type { MessageBatch } from './task.ts';

export class Outbox<T> {
  private readonly post: (messages: MessageBatch<T>) => void;
  private messages: (readonly [place: number, message: T])[] = [];

  constructor(post: (messages: MessageBatch<T>) => void) {
    this.post = post;
  }

  /** Posts the word when this turn is over. */
  say(place: number, message: T): void {
    if (this.messages.length === 0) setImmediate(() => this.flush());
    this.messages.push([place, message]);
  }

  flush(): void {
    if (this.messages.length === 0) return;
    const { messages } = this;
    this.messages = [];
    this.post(messages);
  }
}
