/** Passwords as scrypt hashes: each takes 32 MiB and a quarter of a second of a core. */

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { siteOf } from '../../../packages/std/src/ip-address.ts';

/** @limit characters of a password at least → `400` */
export const PASSWORD_LENGTH_MIN = 12;
/**
 * A sentence; a longer one costs a hash more time and adds nothing.
 * @limit characters of a password at most → `400`
 */
export const PASSWORD_LENGTH_MAX = 256;

/**
 * OWASP's cheat sheet "Password Storage": 32 MiB with three rounds are as hard as 128 MiB with one,
 * which an engine of 350 MB has no room for. `cost` × `blockSize` × 128 bytes are used.
 * @limit scrypt
 */
const SCRYPT: Costs = { cost: 32_768, blockSize: 8, parallelization: 3 };
/**
 * Twice what these parameters need: Node.js refuses more than its own default of 32 MiB.
 * @limit memory of a hash of a password → an error
 */
const MEMORY_BYTES_MAX = 67_108_864;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/**
 * Hashes at a time. They take turns on Node's four threads with files and names of hosts.
 * @limit passwords that are hashed at a time → they wait
 */
const HASHES_MAX = 2;
/**
 * Four seconds, at eight a second. A full queue drops the newest of the site with most: no site
 * keeps all others out.
 * @limit passwords that wait → `503`, `Retry-After: 3`, for the newest of the site with most
 */
const WAITING_MAX = 32;
/**
 * People who have signed in before, from their network, come first. So they get in while strangers
 * with many networks hold all other places.
 * @limit passwords that wait, of people known from their network: further places → `503`,
 * `Retry-After: 3`
 */
const KNOWN_WAITING_MAX = 16;
/**
 * Bounds one network, so that others can still sign in while it tries passwords.
 * @limit passwords of one network, under way or waiting → `503`, `Retry-After: 3`
 */
const OF_NETWORK_MAX = 4;
/**
 * Bounds one site, which has 65,536 IPv6 networks.
 * @limit passwords of one site (IPv6: /48) → `503`, `Retry-After: 3`
 */
const OF_SITE_MAX = 8;

type Busy = 'busy';

const FORM = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([A-Za-z0-9_-]+)\$([A-Za-z0-9_-]+)$/;

/** The cost of a hash (RFC 7914, section 2: N, r and p). */
export interface Costs {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
}

interface Stored extends Costs {
  readonly salt: Buffer;
  readonly expected: Buffer;
}

/** Whose password it is. */
export interface Asker {
  readonly network: string;
  /** The account has signed in from there before. */
  readonly isKnown: boolean;
}

export class Passwords {
  readonly #costs: Costs;
  #underWay = 0;
  readonly #waiting: Waiting[] = [];
  readonly #knownWaiting: Waiting[] = [];
  /** Passwords held by each network and by each site. */
  readonly #held = new Map<string, number>();
  /**
   * Compared with where there is no account, so that the answer takes as long. No password has it.
   */
  readonly #nobodys: Stored;

  /** `costs` of the hashes that it makes; tests bring lower ones. */
  constructor(costs: Costs = SCRYPT) {
    this.#costs = costs;
    this.#nobodys = {
      ...costs,
      salt: randomBytes(SALT_BYTES),
      expected: randomBytes(HASH_BYTES),
    };
  }

  hash(password: string, asker: Asker): Promise<string | Busy> {
    return this.#inTurn(asker, async () => {
      const salt = randomBytes(SALT_BYTES);
      const made = await derive(password, { ...this.#costs, salt });
      const { cost, blockSize, parallelization } = this.#costs;
      const parts = [cost, blockSize, parallelization, ...[salt, made].map(inBase64)];
      return `scrypt$${parts.join('$')}`;
    });
  }

  /** Whether the password is right. `stored` null: there is none, and none is right. */
  verify(password: string, stored: string | null, asker: Asker): Promise<boolean | Busy> {
    return this.#inTurn(asker, async () => {
      const known = (stored === null ? null : parse(stored)) ?? this.#nobodys;
      return timingSafeEqual(await derive(password, known), known.expected);
    });
  }

  async #inTurn<T>({ network, isKnown }: Asker, work: () => Promise<T>): Promise<T | Busy> {
    const places = placesOf(network);
    if (places.some(({ key, max }) => this.#heldOf(key) >= max)) return 'busy';
    const isFull = this.#underWay >= HASHES_MAX;
    const waiting = isKnown ? this.#knownWaiting : this.#waiting;
    const site = siteOf(network);
    if (isFull && waiting.length >= (isKnown ? KNOWN_WAITING_MAX : WAITING_MAX)) {
      const displaced = newestOfMost(waiting, site);
      if (displaced === null) return 'busy';
      waiting.splice(waiting.indexOf(displaced), 1);
      displaced.go('busy');
    }
    for (const { key } of places) this.#held.set(key, this.#heldOf(key) + 1);
    try {
      if (!isFull) this.#underWay += 1;
      else if ((await placeIn(waiting, site)) === 'busy') return 'busy';
      try {
        return await work();
      } finally {
        this.#handOn();
      }
    } finally {
      this.#release(places);
    }
  }

  #heldOf(key: string): number {
    return this.#held.get(key) ?? 0;
  }

  #release(places: readonly Place[]): void {
    for (const { key } of places) {
      const left = this.#heldOf(key) - 1;
      if (left === 0) this.#held.delete(key);
      else this.#held.set(key, left);
    }
  }

  /** The one who ends gives its turn to the next, so the number under way stays. */
  #handOn(): void {
    const next = this.#knownWaiting.shift() ?? this.#waiting.shift();
    if (next === undefined) this.#underWay -= 1;
    else next.go('turn');
  }
}

interface Waiting {
  readonly site: string;
  /** `busy`: its place was given to another site. */
  go(to: 'turn' | Busy): void;
}

const placeIn = (waiting: Waiting[], site: string): Promise<'turn' | Busy> =>
  new Promise((go) => void waiting.push({ site, go }));

/** Whose place a newcomer of `site` gets. Null: no site has more than his would have then. */
function newestOfMost(waiting: readonly Waiting[], site: string): Waiting | null {
  const counts = new Map<string, number>();
  for (const one of waiting) counts.set(one.site, (counts.get(one.site) ?? 0) + 1);
  const most = Math.max(...counts.values());
  if (most <= (counts.get(site) ?? 0) + 1) return null;
  return waiting.findLast((one) => counts.get(one.site) === most) ?? null;
}

interface Place {
  readonly key: string;
  readonly max: number;
}

const placesOf = (network: string): readonly Place[] => [
  { key: network, max: OF_NETWORK_MAX },
  { key: `site ${siteOf(network)}`, max: OF_SITE_MAX },
];

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
