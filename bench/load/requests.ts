/** The requests of each profile, one after the other. */

import { randomBytes } from 'node:crypto';
import type { LoadOptions } from './options.ts';

export interface LoadRequest {
  readonly path: string;
  readonly body: string;
}

/** The devices of one load test: their ids are known by their number, so none is remembered. */
export class LoadDevices {
  /** How many there are: registrations of these were sent. */
  count = 0;
  readonly #run = randomBytes(16).toString('hex');
  readonly #options: Pick<LoadOptions, 'appId' | 'platformId' | 'tagIds'>;

  constructor(options: Pick<LoadOptions, 'appId' | 'platformId' | 'tagIds'>) {
    this.#options = options;
  }

  /** Registers another one with up to TAGS of the tags. */
  registerNew(): LoadRequest {
    this.count += 1;
    return this.register(this.count - 1);
  }

  /** Registers one of these again; it has these tags already. */
  register(number: number): LoadRequest {
    return this.#request('/push-api/reg', number, this.#tagsFrom(number));
  }

  /** Replaces its tags by others, if there are more than it has. */
  change(number: number, turn: number): LoadRequest {
    return this.#request('/push-api/set', number, this.#tagsFrom(number + turn));
  }

  /** Takes all of its tags: it is never addressed again, and erased by and by. */
  unsubscribe(number: number): LoadRequest {
    return this.#request('/push-api/ureg', number, undefined);
  }

  #tagsFrom(first: number): readonly number[] {
    const { tagIds } = this.#options;
    const length = Math.min(TAGS, tagIds.length);
    return Array.from({ length }, (_, n) => tagIds[(first + n) % tagIds.length] ?? 0);
  }

  #request(path: string, number: number, tagId: readonly number[] | undefined): LoadRequest {
    const { appId, platformId } = this.#options;
    // 64 hex digits, as APNs tokens have. On every platform it is a text that no provider knows.
    const deviceId = this.#run + number.toString(16).padStart(32, '0');
    return { path, body: JSON.stringify({ appId, platformId, deviceId, tagId }) };
  }
}

const TAGS = 3;
/** Registered before a mixed load begins: those that register again and change. */
export const KNOWN_DEVICES = 1_000;
const UNCHANGED_SHARE = 0.7;
const CHANGED_SHARE = 0.2;

/** The requests of an app's devices on a usual day. */
export function mixed(devices: LoadDevices): () => LoadRequest {
  // The first half never changes, so what it registers again changes nothing.
  const half = KNOWN_DEVICES / 2;
  let turn = 0;
  return () => {
    const share = Math.random();
    const number = Math.floor(Math.random() * half);
    if (share < UNCHANGED_SHARE) return devices.register(number);
    if (share >= UNCHANGED_SHARE + CHANGED_SHARE) return devices.registerNew();
    turn += 1;
    return devices.change(half + number, turn);
  };
}

/** Pushes to the first tag. The title marks the pushes of this load. */
export function pushes({ tagIds }: Pick<LoadOptions, 'tagIds'>, title: string): () => LoadRequest {
  const payload = { title, message: 'A load test: nothing has happened.' };
  const body = JSON.stringify({ tagIds: tagIds.slice(0, 1), payload });
  return () => ({ path: '/push-api/push', body });
}
