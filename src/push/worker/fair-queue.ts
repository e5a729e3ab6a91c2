/**
 * The fair queue of a sender: notifications take turns, so that a small one beside a big one gets
 * every other turn; urgent ones get four for each of the others. Within a notification the oldest
 * task goes first, so that its chunk is recorded before the next begins.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { URGENT_PER_OTHER } from '../../domain/notification.ts';
import type { Sender } from '../../providers/sender.ts';
import type { Clock } from '../../std/clock.ts';

/** A task's place in the queue. */
export interface Place {
  readonly notificationId: string;
  readonly isUrgent: boolean;
  /** The lower number came first. */
  readonly number: number;
}

interface Waiting {
  readonly place: Place;
  readonly resume: () => void;
}

/** The waiting tasks of a notification, in order: one at least. */
interface NotificationQueue {
  readonly notificationId: string;
  readonly isUrgent: boolean;
  readonly waiting: Waiting[];
}

export class FairQueue {
  readonly #sender: Sender;
  readonly #clock: Clock;
  /** One queue for each notification, in the order of their turns. (Not a Map: decision 35.) */
  readonly #queues: NotificationQueue[] = [];
  /** Urgent turns since the last other one, while others waited. */
  #urgentTurns = 0;
  #places = 0;
  #isServing = false;
  #noRoomSinceMs: number | null = null;

  constructor(sender: Sender, clock: Clock) {
    this.#sender = sender;
    this.#clock = clock;
  }

  /** How long tasks have waited without room for any of them. */
  get withoutRoomForMs(): number {
    return this.#noRoomSinceMs === null ? 0 : this.#clock.monotonicMs() - this.#noRoomSinceMs;
  }

  join(notificationId: string, isUrgent: boolean): Place {
    this.#places += 1;
    return { notificationId, isUrgent, number: this.#places };
  }

  /** Resolves when the sender has room and it is this task's turn. The task must use it at once. */
  wait(place: Place): Promise<void> {
    return new Promise((resume) => {
      this.#add({ place, resume });
      if (!this.#isServing) void this.#serve();
    });
  }

  #add(waiting: Waiting): void {
    const { notificationId, isUrgent, number } = waiting.place;
    const queue = this.#queues.find((other) => other.notificationId === notificationId);
    if (queue === undefined) {
      this.#queues.push({ notificationId, isUrgent, waiting: [waiting] });
      return;
    }
    const before = queue.waiting.findLastIndex(({ place }) => place.number < number);
    queue.waiting.splice(before + 1, 0, waiting);
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    while (this.#queues.length > 0) {
      this.#noRoomSinceMs = this.#clock.monotonicMs();
      await this.#sender.whenReady();
      this.#noRoomSinceMs = null;
      this.#next()?.resume();
      // Meanwhile the task just woken has taken the room, or has left some to the next task.
      await nextTurn();
    }
    this.#isServing = false;
  }

  #next(): Waiting | undefined {
    const queue = this.#queues.splice(this.#nextQueue(), 1)[0];
    const first = queue?.waiting.shift();
    if (queue !== undefined && queue.waiting.length > 0) this.#queues.push(queue);
    return first;
  }

  /** Where the queue stands whose turn it is. */
  #nextQueue(): number {
    const urgent = this.#queues.findIndex(({ isUrgent }) => isUrgent);
    const other = this.#queues.findIndex(({ isUrgent }) => !isUrgent);
    if (urgent === -1 || other === -1) return 0;
    const isUrgent = this.#urgentTurns < URGENT_PER_OTHER;
    this.#urgentTurns = isUrgent ? this.#urgentTurns + 1 : 0;
    return isUrgent ? urgent : other;
  }
}
