/**
 * Whose turn it is at a sender. Room at it is given to one task at a time: notifications take
 * turns, so that a small one beside a big one gets every other turn, and of one notification the
 * task that came first goes first, so that its chunk is through, and recorded in one report, before
 * the next one is begun.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Sender } from '../../providers/sender.ts';
import type { Clock } from '../../std/clock.ts';

/** A task's place in the line. */
export interface Place {
  readonly notificationId: string;
  /** The lower came first. */
  readonly number: number;
}

interface Waiting {
  readonly place: Place;
  readonly resume: () => void;
}

/** The tasks of a notification that wait, in order: one at least. */
interface Line {
  readonly notificationId: string;
  readonly waiting: Waiting[];
}

/** One per sender. */
export class Turns {
  readonly #sender: Sender;
  readonly #clock: Clock;
  /** One for each notification, the one whose turn is next first. (Not a Map: decision 35.) */
  readonly #lines: Line[] = [];
  #places = 0;
  #isServing = false;
  #noRoomSinceMs: number | null = null;

  constructor(sender: Sender, clock: Clock) {
    this.#sender = sender;
    this.#clock = clock;
  }

  /** For how long somebody has waited and nobody could be given room. */
  get withoutRoomForMs(): number {
    return this.#noRoomSinceMs === null ? 0 : this.#clock.monotonicMs() - this.#noRoomSinceMs;
  }

  /** The place of a task that begins. */
  join(notificationId: string): Place {
    this.#places += 1;
    return { notificationId, number: this.#places };
  }

  /** Resolves when there is room at the sender and it is this one's turn: to be used at once. */
  wait(place: Place): Promise<void> {
    return new Promise((resume) => {
      this.#add({ place, resume });
      if (!this.#isServing) void this.#serve();
    });
  }

  #add(waiting: Waiting): void {
    const { notificationId, number } = waiting.place;
    const line = this.#lines.find((other) => other.notificationId === notificationId);
    if (line === undefined) {
      this.#lines.push({ notificationId, waiting: [waiting] });
      return;
    }
    const before = line.waiting.findLastIndex(({ place }) => place.number < number);
    line.waiting.splice(before + 1, 0, waiting);
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    while (this.#lines.length > 0) {
      this.#noRoomSinceMs = this.#clock.monotonicMs();
      await this.#sender.whenReady();
      this.#noRoomSinceMs = null;
      this.#next()?.resume();
      // Until then whoever was woken has taken what room there was, or has left the rest to the
      // next one.
      await nextTurn();
    }
    this.#isServing = false;
  }

  #next(): Waiting | undefined {
    const line = this.#lines.shift();
    const first = line?.waiting.shift();
    if (line !== undefined && line.waiting.length > 0) this.#lines.push(line);
    return first;
  }
}
