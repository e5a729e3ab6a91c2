/**
 * Chooses the address of each connection: the one with the fewest. Apple: resolve before each
 * connect, spread over several. An address that failed is left out for a while.
 */

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { errorReason } from '../../../packages/std/src/error-reason.ts';
import { within } from '../../std/within.ts';

/**
 * Or until all others have failed too.
 * @limit an address that failed is left out
 */
const FAILED_FOR_MS = 60_000;
/**
 * A name has some eight addresses, and they change.
 * @limit failed addresses remembered by a pool → the oldest is forgotten, and may be tried again
 */
const FAILED_MAX = 64;

type FoundAddress =
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly reason: string };

interface AddressesOptions {
  /** The host of the origin: a name, or an address (IPv6 in brackets). */
  readonly hostname: string;
  /** A name that does not resolve in time counts as unknown. */
  readonly timeoutMs: number;
  /** Whether the pool may connect to an address, for origins that anybody can set. Null: to all. */
  readonly admits: ((address: string) => boolean) | null;
  /** All addresses of a name; rejects when there are none. */
  readonly resolve: (hostname: string) => Promise<readonly string[]>;
}

export async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
}

export class Addresses {
  readonly #options: AddressesOptions;
  readonly #host: string;
  readonly #used = new Map<string, number>();
  readonly #failedUntilMs = new Map<string, number>();

  constructor(options: AddressesOptions) {
    this.#options = options;
    this.#host = options.hostname.replace(/^\[|\]$/g, '');
  }

  /** The caller counts it with `use`, and calls `release` when the connection has ended. */
  async next(nowMs: number): Promise<FoundAddress> {
    const { admits } = this.#options;
    const found = await this.#resolve();
    if (typeof found === 'string') return { ok: false, reason: found };
    const admitted = admits === null ? found : found.filter(admits);
    const untried = admitted.filter((address) => !this.hasFailed(address, nowMs));
    const address = this.#leastUsed(untried.length > 0 ? untried : admitted);
    return address === null
      ? { ok: false, reason: `no address of ${this.#host} may be connected to` }
      : { ok: true, address };
  }

  use(address: string): void {
    this.#used.set(address, (this.#used.get(address) ?? 0) + 1);
  }

  release(address: string): void {
    const left = (this.#used.get(address) ?? 0) - 1;
    if (left > 0) this.#used.set(address, left);
    else this.#used.delete(address);
  }

  failed(address: string, nowMs: number): void {
    this.#failedUntilMs.delete(address);
    this.#failedUntilMs.set(address, nowMs + FAILED_FOR_MS);
    if (this.#failedUntilMs.size <= FAILED_MAX) return;
    for (const oldest of this.#failedUntilMs.keys()) {
      this.#failedUntilMs.delete(oldest);
      return;
    }
  }

  hasFailed(address: string, nowMs: number): boolean {
    return nowMs < (this.#failedUntilMs.get(address) ?? 0);
  }

  worked(address: string): void {
    this.#failedUntilMs.delete(address);
  }

  /** Chooses among equals at random: a thousand processes must not all begin with the first. */
  #leastUsed(addresses: readonly string[]): string | null {
    const fewest = Math.min(...addresses.map((address) => this.#used.get(address) ?? 0));
    const best = addresses.filter((address) => (this.#used.get(address) ?? 0) === fewest);
    return best[Math.floor(Math.random() * best.length)] ?? null;
  }

  #resolve(): Promise<readonly string[] | string> {
    if (isIP(this.#host) !== 0) return Promise.resolve([this.#host]);
    const { resolve, timeoutMs } = this.#options;
    const found = resolve(this.#host).then(
      (addresses) => [...new Set(addresses)],
      (error: unknown) => errorReason(error),
    );
    return within(timeoutMs, found, 'the name does not resolve in time');
  }
}
