/**
 * The connections of one credential to one host: opened on demand in growing steps, spread over
 * addresses, replaced with age. An unreachable host costs one attempt, then a pause that doubles.
 */

import { setMaxListeners } from 'node:events';
import { connectFault } from '../connect-fault.ts';
import type { Dial, ProviderConnection } from '../provider-connection.ts';
import type { TransportLimits } from '../transport.ts';
import type { TransportMeter } from '../transport-meter.ts';
import { Addresses, resolveBySystem } from './addresses.ts';
import { Growth } from './growth.ts';
import { Latency } from './latency.ts';
import { Member } from './member.ts';
import { ReconnectPause } from './reconnect-pause.ts';

/**
 * One dead address of a name must not cost a pause.
 * @limit addresses tried by one attempt to connect → the pause
 */
const ADDRESSES_PER_ATTEMPT_MAX = 3;

interface PoolOptions {
  /** `https://host[:port]` */
  readonly origin: string;
  readonly ca: string | null;
  readonly limits: TransportLimits;
  /** Whether the pool may connect to an address. Null: to all. */
  readonly admits: ((address: string) => boolean) | null;
}

export interface PoolEvents {
  /** A stream may have become free. */
  freed(): void;
  /** The pool has no connection, and makes no attempt before the pause is over. */
  paused(reason: string): void;
  resumed(): void;
}

export class ConnectionPool {
  readonly latency = new Latency();
  readonly pause: ReconnectPause;
  readonly #dial: Dial;
  readonly #options: PoolOptions;
  readonly #events: PoolEvents;
  readonly #meter: TransportMeter;
  readonly #addresses: Addresses;
  readonly #growth: Growth;
  readonly #abort = new AbortController();
  readonly #ready = new Set<Member>();
  readonly #draining = new Set<Member>();
  #current: Member | null = null;
  #connecting = 0;
  #growTimer: NodeJS.Timeout | null = null;
  #isClosing = false;

  constructor(dial: Dial, options: PoolOptions, events: PoolEvents, meter: TransportMeter) {
    const { limits, origin, admits } = options;
    // Each connection that is being opened listens to this signal.
    setMaxListeners(limits.connectionsMax + 1, this.#abort.signal);
    this.#dial = dial;
    this.#options = options;
    this.#events = events;
    this.#meter = meter;
    this.pause = new ReconnectPause(limits);
    this.#growth = new Growth(limits);
    this.#addresses = new Addresses({
      hostname: new URL(origin).hostname,
      timeoutMs: limits.connectTimeoutMs,
      admits,
      resolve: resolveBySystem,
    });
  }

  get size(): number {
    return this.#ready.size;
  }

  /** Always the same one while it has room, so that little traffic uses few connections. */
  take(): Member | null {
    if (this.#current !== null && this.#current.free > 0) return this.#current;
    for (const member of this.#ready) {
      if (member.free === 0) continue;
      this.#current = member;
      return member;
    }
    return null;
  }

  /** Call it when a send waits for a stream. */
  want(): void {
    if (this.#isClosing || this.pause.isOn) return;
    if (this.#ready.size === 0) {
      if (this.#connecting === 0) void this.#connect();
      return;
    }
    const nowMs = performance.now();
    this.#growth.usedUp(nowMs);
    if (this.#growTimer === null) this.#watch(nowMs);
  }

  warm(connections: number): void {
    if (this.#isClosing || this.pause.isOn) return;
    const wanted = Math.min(connections, this.#options.limits.connectionsMax);
    for (let have = this.#ready.size + this.#connecting; have < wanted; have += 1) {
      void this.#connect();
    }
  }

  answered(member: Member, latencyMs: number): void {
    member.hasAnswered = true;
    this.pause.forget();
    this.latency.answered(latencyMs);
    this.#growth.answered();
  }

  /** Gives it no more requests; it closes when those under way have ended. */
  retire(member: Member): void {
    member.connection?.retire();
  }

  retireAll(): void {
    for (const member of this.#ready) this.retire(member);
  }

  retireWedged(): void {
    for (const member of this.#ready) if (member.isWedged) this.retire(member);
  }

  /** Called at intervals: replaces old connections, and closes those not needed any more. */
  sweep(nowMs: number): void {
    this.latency.tick(nowMs);
    const { idleMsMax } = this.#options.limits;
    // The youngest first: these are used least.
    for (const member of [...this.#ready].reverse()) {
      member.sample(nowMs, this.latency.roundTripMs, idleMsMax);
      if (nowMs >= member.agedAtMs) this.#replace(member, nowMs);
      else if (member.isSpare && this.#ready.size > 1) this.#dismiss(member);
    }
  }

  /** Opens no more connections; open ones stay until `destroy`. */
  close(): void {
    this.#isClosing = true;
    this.#abort.abort();
    if (this.#growTimer !== null) clearTimeout(this.#growTimer);
  }

  destroy(): void {
    for (const { connection } of [...this.#ready, ...this.#draining])
      connection?.destroy('closing');
  }

  /** Closes an old connection if another one can do its work, else opens another first. */
  #replace(member: Member, nowMs: number): void {
    const hasOther = [...this.#ready].some((other) => other !== member && nowMs < other.agedAtMs);
    if (hasOther) this.#dismiss(member);
    else if (this.#connecting === 0 && !this.pause.isOn) void this.#connect();
  }

  #dismiss(member: Member): void {
    member.isDismissed = true;
    this.retire(member);
  }

  #watch(nowMs: number): void {
    this.#growth.begin(nowMs);
    const spanMs = this.#growth.spanMs(this.latency.roundTripMs);
    this.#growTimer = setTimeout(() => {
      this.#growTimer = null;
      this.#grow();
    }, spanMs).unref();
  }

  #grow(): void {
    if (this.#isClosing) return;
    const nowMs = performance.now();
    const { open, retire } = this.#growth.end(
      nowMs,
      this.#ready.size,
      this.#connecting,
      this.latency.isQueueing,
    );
    if (!this.pause.isOn) for (let n = 0; n < open; n += 1) void this.#connect();
    // The youngest are at the end.
    const youngest = [...this.#ready].reverse().slice(0, retire);
    for (const member of youngest) this.#dismiss(member);
    if (this.#growth.isBusy) this.#watch(nowMs);
  }

  async #connect(): Promise<void> {
    this.#connecting += 1;
    let reason = '';
    for (let tried = 0; tried < ADDRESSES_PER_ATTEMPT_MAX && !this.#isClosing; tried += 1) {
      const nowMs = performance.now();
      const found = await this.#addresses.next(nowMs);
      if (!found.ok) {
        reason = found.reason;
        break;
      }
      const { address } = found;
      // It is the only address, or all of them have failed.
      if (tried > 0 && this.#addresses.hasFailed(address, nowMs)) break;
      const opened = await this.#open(address);
      if (opened === null) {
        this.#connecting -= 1;
        // The connection ended while it was being opened: waiting sends need another one.
        if (this.#ready.size === 0 && !this.#isClosing) this.#events.freed();
        return;
      }
      reason = opened;
    }
    this.#connecting -= 1;
    if (!this.#isClosing) this.#rest(reason);
  }

  /** Why it failed. Null: it is connected. */
  async #open(address: string): Promise<string | null> {
    const { origin, ca, limits } = this.#options;
    const member = new Member(address, performance.now(), limits.ageMsMax);
    this.#addresses.use(address);
    const dialled = await this.#dial(
      { origin, address, ca, limits, signal: this.#abort.signal },
      {
        freed: () => this.#freed(),
        retired: (reason, isToCalmDown) => this.#retired(member, reason, isToCalmDown),
        gone: (reason) => this.#gone(member, reason),
      },
    );
    if (!dialled.ok) {
      this.#addresses.release(address);
      this.#addresses.failed(address, performance.now());
      if (!this.#isClosing) this.#meter.connectFailures += 1;
      return dialled.reason;
    }
    this.#addresses.worked(address);
    this.#add(member, dialled.connection);
    return null;
  }

  #add(member: Member, connection: ProviderConnection): void {
    member.connection = connection;
    this.#meter.connects += 1;
    if (member.isGone) return;
    this.#meter.connections += 1;
    if (this.#isClosing) {
      connection.destroy('closing');
      return;
    }
    if (member.isRetired) {
      this.#draining.add(member);
      return;
    }
    this.#ready.add(member);
    this.#freed();
  }

  #freed(): void {
    if (this.#growTimer !== null) this.#growth.relieved(performance.now());
    this.#events.freed();
  }

  #retired(member: Member, reason: string, isToCalmDown: boolean): void {
    if (!member.isGone) this.#draining.add(member);
    this.#lose(member, reason, isToCalmDown);
  }

  #gone(member: Member, reason: string): void {
    member.isGone = true;
    if (member.connection !== null) this.#meter.connections -= 1;
    this.#draining.delete(member);
    this.#addresses.release(member.address);
    // It was retired before, and its requests under way have ended now: others may start.
    if (member.isRetired && !this.#isClosing) this.#events.freed();
    else this.#lose(member, reason, false);
  }

  #lose(member: Member, reason: string, isToCalmDown: boolean): void {
    if (member.isRetired) return;
    member.isRetired = true;
    this.#ready.delete(member);
    if (this.#current === member) this.#current = null;
    if (this.#isClosing) return;
    const isFruitless = this.#isFruitless(member);
    if (isFruitless) {
      const nowMs = performance.now();
      this.#addresses.failed(member.address, nowMs);
      this.#growth.lost(nowMs);
    }
    if (isToCalmDown || (isFruitless && this.pause.countFruitless())) this.#rest(reason);
    // Waiting sends need another connection now.
    else this.#events.freed();
  }

  /** Whether it ended before it was of any use, and neither idle nor dismissed by the pool. */
  #isFruitless(member: Member): boolean {
    if (member.hasAnswered || member.isDismissed) return false;
    return (
      member.hasStarted ||
      performance.now() - member.openedAtMs < this.#options.limits.connectTimeoutMs
    );
  }

  #rest(words: string): void {
    const reason = connectFault(this.#options.origin, words);
    // Attempts that fail together count as one failure.
    if (!this.pause.isOn) {
      const pauseMs = this.pause.begin(reason);
      // A send that begins to wait just when the pause ends would otherwise wait for ever.
      setTimeout(() => this.#events.resumed(), Math.ceil(pauseMs) + 1).unref();
    }
    if (this.#ready.size === 0) this.#events.paused(reason);
  }
}
