/**
 * Measures a client over time: it sends as fast as it can from before its first connection on, what
 * it got done is noted every slice, and the last part of the time is what counts. How long it took
 * to come to that speed is a result too.
 */

import { Socket } from 'node:net';
import type { ProviderCredential } from '../../src/providers/providers.ts';
import type { Sink } from '../sinks/sink.ts';
import type { Settled } from './in-process.ts';

/** A client at work, with as many connections as it likes. */
export interface Sending {
  /** Whether one more may start now, beside so many under way. */
  hasRoom(underWay: number): boolean;
  /**
   * Resolves when there is room, which need not come from an answer. Absent: every answer makes
   * room.
   */
  whenRoom?(): Promise<void>;
  push(token: string, position: number): void;
  close(): unknown;
}

export type Open<C = ProviderCredential> = (sink: Sink<C>, settled: Settled) => Promise<Sending>;

export interface FlowTimes {
  /** From the first call on; includes connecting. */
  readonly warmUpMs: number;
  /** The measured time comes after it. */
  readonly measuredMs: number;
}

export interface FlowRound {
  readonly perSecond: number;
  /** CPU time of the client's process, user and system, for each push. */
  readonly cpuMicros: number;
  /** Opened since it began. */
  readonly connections: number;
  /** Until the end of the first slice that was nearly as fast as the measured time. */
  readonly fullSpeedMs: number;
}

/** The client's counts at a moment. */
export interface Reading {
  readonly atMs: number;
  readonly settled: number;
  readonly cpuMicros: number;
}

const SLICE_MS = 200;
const NEARLY = 0.9;
/** For what is under way at the end; who needs this long has lost an answer. */
const DRAIN_MS_MAX = 30_000;

export async function measureFlow<C>(
  open: Open<C>,
  sink: Sink<C>,
  times: FlowTimes,
): Promise<FlowRound> {
  const opened = countConnections();
  const startMs = performance.now();
  const readings: Reading[] = [];
  const flow = new Flow(sink.tokens);
  const read = (): void => {
    const { user, system } = process.cpuUsage();
    const atMs = performance.now() - startMs;
    readings.push({ atMs, settled: flow.settled, cpuMicros: user + system });
    if (atMs >= times.warmUpMs + times.measuredMs) flow.stop();
  };
  read();
  const reader = setInterval(read, SLICE_MS);
  const sending = await open(sink, flow.onSettled);
  await flow.run(sending);
  clearInterval(reader);
  const connections = opened.end();
  await sending.close();
  return { ...roundOf(readings, times.warmUpMs), connections };
}

/** Evaluates readings whose first `warmUpMs` are warm-up. */
export function roundOf(
  readings: readonly Reading[],
  warmUpMs: number,
): Omit<FlowRound, 'connections'> {
  const first = readings.find(({ atMs }) => atMs >= warmUpMs);
  const last = readings.at(-1);
  if (first === undefined || last === undefined || first.atMs === last.atMs)
    throw new Error('no time was left to measure');
  const perSecond = rateBetween(first, last);
  const fullAt = readings.findIndex((reading, index) => {
    const before = readings[index - 1];
    return before !== undefined && rateBetween(before, reading) >= NEARLY * perSecond;
  });
  return {
    perSecond,
    cpuMicros: (last.cpuMicros - first.cpuMicros) / (last.settled - first.settled),
    fullSpeedMs: readings[fullAt]?.atMs ?? Number.NaN,
  };
}

const rateBetween = (from: Reading, to: Reading): number =>
  ((to.settled - from.settled) / (to.atMs - from.atMs)) * 1_000;

/** Keeps a client full until it is stopped. */
class Flow {
  settled = 0;
  readonly #tokens: readonly string[];
  #sending: Sending | null = null;
  #started = 0;
  #isStopped = false;
  #isAwaitingRoom = false;
  readonly #refusals: unknown[] = [];
  #drained: () => void = () => undefined;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  /** Resolves when it was stopped and all is settled; throws when anything was refused. */
  async run(sending: Sending): Promise<void> {
    this.#sending = sending;
    const drained = new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    this.#fill(sending);
    await drained;
    const [refusal] = this.#refusals;
    if (refusal === undefined) return;
    const message = `${this.#refusals.length} of ${this.#started} were not accepted`;
    throw new Error(`${message}, the first: ${describe(refusal)}`);
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    if (this.settled === this.#started) this.#drained();
    setTimeout(() => {
      const missing = this.#started - this.settled;
      if (missing > 0) throw new Error(`${missing} of ${this.#started} were not answered`);
    }, DRAIN_MS_MAX).unref();
  }

  readonly onSettled: Settled = (_position, refusal) => {
    this.settled += 1;
    if (refusal !== undefined) this.#refusals.push(refusal);
    if (this.#isStopped) {
      if (this.settled === this.#started) this.#drained();
    } else if (this.#sending !== null && this.#sending.whenRoom === undefined) {
      this.#fill(this.#sending);
    }
  };

  #fill(sending: Sending): void {
    while (!this.#isStopped && sending.hasRoom(this.#started - this.settled)) {
      const position = this.#started;
      this.#started += 1;
      sending.push(this.#tokens[position % this.#tokens.length] ?? '', position);
    }
    void this.#awaitRoom(sending);
  }

  async #awaitRoom(sending: Sending): Promise<void> {
    if (sending.whenRoom === undefined || this.#isStopped || this.#isAwaitingRoom) return;
    this.#isAwaitingRoom = true;
    await sending.whenRoom();
    this.#isAwaitingRoom = false;
    this.#fill(sending);
  }
}

/** An outcome of ours, or whatever a peer's promise was rejected with. */
const describe = (refusal: unknown): string =>
  refusal instanceof Error ? (refusal.stack ?? refusal.message) : JSON.stringify(refusal);

/**
 * Counts what any client in this process connects, since all of them do it through this one method.
 */
function countConnections(): { end(): number } {
  const { connect } = Socket.prototype;
  let count = 0;
  Socket.prototype.connect = function (this: Socket, ...options: Parameters<typeof connect>) {
    count += 1;
    return connect.apply(this, options);
  } as typeof connect;
  return {
    end: () => {
      Socket.prototype.connect = connect;
      return count;
    },
  };
}
