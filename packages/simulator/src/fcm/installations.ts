/**
 * Remembers by which name each app installation registered with FCM: by its id (Firebase
 * Installation ID) or a token. From then on the other name counts as unregistered. An installation
 * that has not registered here is reached by both.
 */

import { CappedMap } from '../../../std/src/capped-map.ts';
import type { DeviceField, FcmMessage } from './fcm-message.ts';

/** The newest ones are kept; some 100 bytes each. */
const INSTALLATIONS_MAX = 1_000_000;

export class Installations {
  readonly #fields = new CappedMap<string, DeviceField>({ sizeMax: INSTALLATIONS_MAX });
  #isEmpty = true;

  /** The app registers: by its installation's id, or for a token, as it did before. */
  register(fid: string, by: DeviceField): void {
    this.#fields.set(fid, by);
    this.#isEmpty = false;
  }

  isReachedBy({ kind, target }: FcmMessage): boolean {
    if (this.#isEmpty || kind === null) return true;
    // A token begins with the id of its installation.
    const [fid = ''] = target.split(':', 1);
    const by = this.#fields.get(fid);
    return by === undefined || by === kind;
  }

  clear(): void {
    this.#fields.clear();
    this.#isEmpty = true;
  }
}
