/**
 * The screens of the devices: a message takes the place of the one with the same identity, as it
 * does on phones and in browsers.
 */

import { CappedMap } from '../../../std/src/capped-map.ts';
import type { JsonObject } from '../../../std/src/json.ts';

export interface Shown {
  /** Null: none, so it takes no place and nothing takes its. */
  readonly identity: string | null;
  readonly title: string | null;
  readonly body: string | null;
  readonly pushId: string | null;
  /** The push whose place it takes, as the app reads it. Absent: none. */
  readonly replaces?: string;
}

/** A message by which an app removes a push from the screen; it shows nothing. */
export interface Removal {
  /** The id of the push. */
  readonly removes: string;
}

/** @limit devices whose alerts are kept, of each simulated provider → the newest stay */
const DEVICES_MAX = 10_000;

/**
 * Android shows as many of one app.
 * @limit alerts that a simulated device shows → the newest stay
 */
const SHOWN_MAX = 50;

export class Screens {
  readonly #devices = new CappedMap<string, readonly Shown[]>({ sizeMax: DEVICES_MAX });

  show(token: string, shown: Shown): void {
    const before = this.of(token).filter(
      ({ identity }) => identity === null || identity !== shown.identity,
    );
    this.#devices.set(token, [...before, shown].slice(-SHOWN_MAX));
  }

  remove(token: string, { removes }: Removal): void {
    const left = this.of(token).filter(
      ({ pushId, replaces }) => pushId !== removes && replaces !== removes,
    );
    this.#devices.set(token, left);
  }

  /** The newest is the last. */
  of(token: string): readonly Shown[] {
    return this.#devices.get(token) ?? [];
  }

  clear(): void {
    this.#devices.clear();
  }
}

/** Reads which earlier push the data of a message names. */
export const replacedIn = (data: JsonObject): Pick<Shown, 'replaces'> =>
  typeof data['replaces'] === 'string' ? { replaces: data['replaces'] } : {};

/** Null: the data of a message that shows nothing takes nothing back. */
export const removalIn = (data: JsonObject): Removal | null =>
  typeof data['retracts'] === 'string' ? { removes: data['retracts'] } : null;

export const textOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;
