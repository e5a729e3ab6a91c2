/**
 * Push jobs that callers watch: one poll for each job and form of its submitter's name. Each event
 * is the whole job, so that one that is missed costs nothing.
 */

import type { BodySink, BodyStream } from '../../../packages/http1/src/body-stream.ts';
import { faultOf } from '../../database/faults.ts';
import { encode } from '../../http/answers.ts';
import type { JobReads, KnownJob } from './get.ts';
import { jobSchema, readJob } from './get.ts';

export interface WatchLimits {
  readonly pollIntervalMs: number;
  readonly heartbeatIntervalMs: number;
  /** After this time a listener is asked to come again. */
  readonly durationMsMax: number;
  readonly ofClientMax: number;
  /** Beyond it, one of the client with most makes room for a client with fewer. */
  readonly listenersMax: number;
}

const WATCH_LIMITS: WatchLimits = {
  /**
   * @limit between polls of a push job that is listened to, however many listen; the polls of one
   * client take turns
   */
  pollIntervalMs: 1_000,
  /**
   * Proxies close a connection that is silent for a minute, some for thirty seconds.
   * @limit between heartbeats of a stream of events of a push job
   */
  heartbeatIntervalMs: 15_000,
  /**
   * @publisherLimit time for which one listens to events of a push job → the stream ends without
   * `end`, and the listener comes again
   */
  durationMsMax: 3_600_000,
  /** @publisherLimit listeners to events of push jobs, of a client → `429`, `Retry-After: 5` */
  ofClientMax: 64,
  /**
   * Half of the connections of a process that may have 1,024 open files.
   * @publisherLimit listeners to events of push jobs, of all clients, per process → the oldest
   * stream of the client with most ends for a client with fewer, else `503`, `Retry-After: 5`
   */
  listenersMax: 256,
};

/** @limit a listener whose connection broke comes again after */
const RECONNECT_MS = 3_000;
const HEARTBEAT = ':\n\n';

/** A job as it was seen, and its event. */
type Sight =
  | (Extract<KnownJob, { readonly kind: 'known' }> & { readonly progress: string })
  | Exclude<KnownJob, { readonly kind: 'known' }>;

interface Watch {
  readonly clientId: number;
  readonly jobId: string;
  /** The submitter's name, as its listeners may see it. */
  readonly userName: string;
  /** And when each of them came. */
  readonly listeners: Map<BodySink, number>;
  /** The latest event; '': nothing is known yet. */
  progress: string;
  timer: NodeJS.Timeout | null;
}

export class JobWatches {
  readonly #reads: JobReads;
  readonly #limits: WatchLimits;
  /** Keyed by the job's id and the submitter's name that listeners see. */
  readonly #watches = new Map<string, Watch>();
  /** The last poll of each client that has one under way. */
  readonly #turns = new Map<number, Promise<unknown>>();
  #heartbeat: NodeJS.Timeout | null = null;

  constructor(reads: JobReads, limits: Partial<WatchLimits> = {}) {
    this.#reads = reads;
    this.#limits = { ...WATCH_LIMITS, ...limits };
  }

  /** Whether one more listener of a client has room, or what has none. */
  roomFor(clientId: number): 'room' | 'client-full' | 'full' {
    const own = countListeners(this.#watchesOf(clientId));
    if (own >= this.#limits.ofClientMax) return 'client-full';
    if (countListeners([...this.#watches.values()]) < this.#limits.listenersMax) return 'room';
    // It ends with as many as this one then has, at least.
    return this.#largest().listeners > own + 1 ? 'room' : 'full';
  }

  /** The events of a job, for a caller who may see it under this submitter's name. */
  eventsOf(clientId: number, jobId: string, userName: string): BodyStream {
    return (sink) => {
      // Others may have come since it was asked.
      if (this.roomFor(clientId) !== 'room') {
        sink.end();
        return () => undefined;
      }
      this.#makeRoom();
      sink.write(`retry: ${RECONNECT_MS}\n\n`);
      const key = keyOf({ jobId, userName });
      const watch = this.#watches.get(key) ?? this.#begin({ clientId, jobId, userName });
      watch.listeners.set(sink, performance.now());
      sink.write(watch.progress);
      return () => this.#leave(watch, sink);
    };
  }

  #watchesOf(clientId: number): readonly Watch[] {
    return [...this.#watches.values()].filter((watch) => watch.clientId === clientId);
  }

  #largest(): { readonly clientId: number; readonly listeners: number } {
    const counts = new Map<number, number>();
    let largest = { clientId: 0, listeners: 0 };
    for (const { clientId, listeners } of this.#watches.values()) {
      const count = (counts.get(clientId) ?? 0) + listeners.size;
      counts.set(clientId, count);
      if (count > largest.listeners) largest = { clientId, listeners: count };
    }
    return largest;
  }

  /** When there is no room, ends the listener of the largest client who came first. */
  #makeRoom(): void {
    if (countListeners([...this.#watches.values()]) < this.#limits.listenersMax) return;
    const [first] = this.#watchesOf(this.#largest().clientId)
      .flatMap((watch) => [...watch.listeners].map(([sink, cameMs]) => ({ watch, sink, cameMs })))
      .sort((one, other) => one.cameMs - other.cameMs);
    if (first === undefined) return;
    this.#leave(first.watch, first.sink);
    first.sink.end();
  }

  #begin(watched: Pick<Watch, 'clientId' | 'jobId' | 'userName'>): Watch {
    const watch: Watch = { ...watched, listeners: new Map(), progress: '', timer: null };
    this.#watches.set(keyOf(watch), watch);
    this.#heartbeat ??= setInterval(() => this.#beat(), this.#limits.heartbeatIntervalMs);
    void this.#poll(watch);
    return watch;
  }

  #leave(watch: Watch, sink: BodySink): void {
    if (!watch.listeners.delete(sink) || watch.listeners.size > 0) return;
    if (watch.timer !== null) clearTimeout(watch.timer);
    this.#watches.delete(keyOf(watch));
    if (this.#watches.size > 0 || this.#heartbeat === null) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = null;
  }

  async #poll(watch: Watch): Promise<void> {
    const sight = await this.#inTurn(watch.clientId, () => this.#look(watch));
    if (watch.listeners.size === 0) return;
    switch (sight.kind) {
      case 'unknown':
        // It was deleted, or a bug hides it: its listeners do not learn that the job has ended.
        close(watch);
        return;
      case 'known': {
        const { job, progress } = sight;
        if (progress !== watch.progress) tell(watch, progress);
        watch.progress = progress;
        if (job.finishedAt !== null) {
          end(watch, { state: job.state });
          return;
        }
        break;
      }
      case 'busy':
    }
    watch.timer = setTimeout(() => void this.#poll(watch), this.#limits.pollIntervalMs);
  }

  /** Polls of one client take turns: its counts and lists keep all but one patient read. */
  async #inTurn<T>(clientId: number, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(clientId) ?? Promise.resolve()).then(work);
    this.#turns.set(clientId, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(clientId) === turn) this.#turns.delete(clientId);
    }
  }

  /** Never rejects. A database that cannot answer now is asked again, as when `busy`. */
  async #look({ clientId, jobId, userName, listeners }: Watch): Promise<Sight> {
    if (listeners.size === 0) return { kind: 'busy' };
    try {
      const known = await readJob(this.#reads, clientId, jobId, null);
      if (known.kind !== 'known') return known;
      const progress = eventOf('progress', encode(jobSchema, { ...known.job, userName }));
      return { ...known, progress };
    } catch (error) {
      const fault = faultOf(error);
      if (fault === 'unavailable' || fault === 'conflict') return { kind: 'busy' };
      // A caller that comes again meets the same error, and then it is logged.
      return { kind: 'unknown' };
    }
  }

  #beat(): void {
    const endedMs = performance.now() - this.#limits.durationMsMax;
    for (const watch of this.#watches.values()) {
      tell(watch, HEARTBEAT);
      for (const [listener, cameMs] of watch.listeners) if (cameMs <= endedMs) listener.end();
    }
  }
}

const keyOf = ({ jobId, userName }: Pick<Watch, 'jobId' | 'userName'>): string =>
  `${jobId} ${userName}`;

const countListeners = (watches: readonly Watch[]): number =>
  watches.reduce((sum, { listeners }) => sum + listeners.size, 0);

const eventOf = (name: 'progress' | 'end', data: object): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

function tell({ listeners }: Watch, text: string): void {
  for (const listener of listeners.keys()) listener.write(text);
}

function end(watch: Watch, data: object): void {
  tell(watch, eventOf('end', data));
  close(watch);
}

function close({ listeners }: Watch): void {
  // Each one leaves the set by this.
  for (const listener of listeners.keys()) listener.end();
}
