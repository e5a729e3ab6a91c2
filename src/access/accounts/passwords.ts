/**
 * Passwords of accounts, kept as scrypt hashes. A hash takes 32 MiB and a quarter of a second of a
 * core, so only some are made at a time.
 */

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

export const PASSWORD_LENGTH_MIN = 12;
/** A sentence; a longer one costs a hash more time and adds nothing. */
export const PASSWORD_LENGTH_MAX = 256;

/**
 * OWASP's cheat sheet "Password Storage": 32 MiB with three rounds are as hard as 128 MiB with one,
 * which an engine of 350 MB has no room for. `cost` × `blockSize` × 128 bytes are used.
 */
export const SCRYPT = { cost: 32_768, blockSize: 8, parallelization: 3 } as const;
/** Twice what these parameters need: Node.js refuses more than its own default of 32 MiB. */
const MEMORY_BYTES_MAX = 67_108_864;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Hashes at a time. They take turns on Node's four threads with files and names of hosts. */
const HASHES_MAX = 2;
/** Waiting for these; at eight a second they wait for four seconds. */
const WAITING_MAX = 32;
/** Of one network, under way or waiting: others can still sign in while it tries passwords. */
const OF_NETWORK_MAX = 4;

/** `busy`: too many are being hashed. */
export type Busy = 'busy';

const FORM = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([A-Za-z0-9_-]+)\$([A-Za-z0-9_-]+)$/;

interface Stored {
  readonly salt: Buffer;
  readonly expected: Buffer;
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
}

export class Passwords {
  #underWay = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #ofNetwork = new Map<string, number>();
  /**
   * Compared with where there is no account, so that the answer takes as long as any. No password
   * has it.
   */
  readonly #nobodys: Stored = {
    ...SCRYPT,
    salt: randomBytes(SALT_BYTES),
    expected: randomBytes(HASH_BYTES),
  };

  /** The hash to keep. `network`: of the caller. */
  hash(password: string, network: string): Promise<string | Busy> {
    return this.#inTurn(network, async () => {
      const salt = randomBytes(SALT_BYTES);
      const made = await derive(password, { ...SCRYPT, salt });
      const { cost, blockSize, parallelization } = SCRYPT;
      const parts = [cost, blockSize, parallelization, ...[salt, made].map(inBase64)];
      return `scrypt$${parts.join('$')}`;
    });
  }

  /** Whether the password is right. `stored` null: there is none, and none is right. */
  verify(password: string, stored: string | null, network: string): Promise<boolean | Busy> {
    return this.#inTurn(network, async () => {
      const known = (stored === null ? null : parse(stored)) ?? this.#nobodys;
      return timingSafeEqual(await derive(password, known), known.expected);
    });
  }

  async #inTurn<T>(network: string, work: () => Promise<T>): Promise<T | Busy> {
    const held = this.#ofNetwork.get(network) ?? 0;
    if (held >= OF_NETWORK_MAX) return 'busy';
    if (this.#underWay >= HASHES_MAX && this.#waiting.length >= WAITING_MAX) return 'busy';
    this.#ofNetwork.set(network, held + 1);
    if (this.#underWay >= HASHES_MAX) {
      // Whoever ends hands its place on, so the number under way stays.
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    } else this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#leave(network);
    }
  }

  #leave(network: string): void {
    const left = (this.#ofNetwork.get(network) ?? 1) - 1;
    if (left === 0) this.#ofNetwork.delete(network);
    else this.#ofNetwork.set(network, left);
    const next = this.#waiting.shift();
    if (next === undefined) this.#underWay -= 1;
    else next();
  }
}

function parse(stored: string): Stored | null {
  const [, cost, blockSize, parallelization, salt = '', expected = ''] = FORM.exec(stored) ?? [];
  if (cost === undefined) return null;
  return {
    cost: Number(cost),
    blockSize: Number(blockSize),
    parallelization: Number(parallelization),
    salt: Buffer.from(salt, 'base64url'),
    expected: Buffer.from(expected, 'base64url'),
  };
}

const inBase64 = (bytes: Buffer): string => bytes.toString('base64url');

/** NFKC: the same letters from another keyboard are the same password. */
function derive(password: string, { salt, ...costs }: Omit<Stored, 'expected'>): Promise<Buffer> {
  const { cost, blockSize, parallelization } = costs;
  const options = { cost, blockSize, parallelization, maxmem: MEMORY_BYTES_MAX };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, derived) => {
      if (error === null) resolve(derived);
      else reject(error);
    });
  });
}
