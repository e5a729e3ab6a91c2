/**
 * Runs reads that may take seconds, few at a time and fewer of one client, so that they take no
 * connections from the rest. The others wait for a moment, and are then asked to come again; the
 * client whose reads have taken the least time lately is next.
 */

import { RecentUse } from '../std/recent-use.ts';
import type { Sql } from './sql.ts';

/**
 * Reads at a time, each on a connection of its own; the embedded database has only one session.
 * @limit reads that may take long (dry runs, `preview`, `estimate`, `stats/…`, `status`,
 * `notifications`, `history/get`, `removals`, `app/get`, `devices/lookup`, `devices/explain`, lists
 * of tags and groups), at a time → they wait: the client whose reads have taken the least time lately is next
 */
export const PATIENT_READS_MAX = 4;
/** @limit such reads of one client; the last place is for a client that has none → they wait */
const OF_CLIENT_MAX = 2;
/** @limit such reads of one client that wait → `503`, `Retry-After: 5` */
const WAITING_OF_CLIENT_MAX = 100;
/**
 * Its caller has some seconds, and the statements before it may take ten.
 * @limit such a read waits → `503`, `Retry-After: 5`
 */
const WAIT_MS_MAX = 2_000;

/** @limit time that a client's reads have taken counts half as much after */
const USE_HALF_LIFE_MS = 10_000;
/**
 * Clients whose use of time is remembered, about 100 bytes each.
 * @limit clients whose use of such reads is remembered → forgotten, so it counts as none
 */
const USERS_MAX = 10_000;

/** `busy`: the read was not begun, because too many are running. */
type PatientRead<T> = { readonly kind: 'done'; readonly result: T } | { readonly kind: 'busy' };

/** Gives `work` the connection for its statements. */
export type Perform = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

interface Client {
  readonly id: number;
  atWork: number;
  readonly waiting: Set<(isIn: boolean) => void>;
}

export class PatientReads {
  readonly #perform: Perform;
  /** With a running or waiting read; in turn among those that have used as much time. */
  readonly #clients = new Map<number, Client>();
  #atWork = 0;
  /** Milliseconds of a connection. */
  readonly #used = new RecentUse({ halfLifeMs: USE_HALF_LIFE_MS, usersMax: USERS_MAX });
  readonly #now: () => number;

  constructor(perform: Perform, monotonicMs: () => number = () => performance.now()) {
    this.#perform = perform;
    this.#now = monotonicMs;
  }

  /** Rejects as `work` does, and after STATEMENT_MS_MAX (not on the embedded database). */
  async run<T>(clientId: number, work: (sql: Sql) => Promise<T>): Promise<PatientRead<T>> {
    const client = this.#clients.get(clientId) ?? { id: clientId, atWork: 0, waiting: new Set() };
    this.#clients.set(clientId, client);
    if (this.#hasRoom(client)) this.#begin(client);
    else if (!(await this.#wait(client))) return { kind: 'busy' };
    const beganMs = this.#now();
    try {
      return { kind: 'done', result: await this.#perform(work) };
    } finally {
      this.#used.add(clientId, this.#now() - beganMs, this.#now());
      this.#atWork -= 1;
      client.atWork -= 1;
      this.#letIn();
      this.#forgetIfIdle(client);
    }
  }

  #hasRoom(client: Client): boolean {
    const free = PATIENT_READS_MAX - this.#atWork;
    return client.atWork === 0 ? free > 0 : free > 1 && client.atWork < OF_CLIENT_MAX;
  }

  #begin(client: Client): void {
    this.#atWork += 1;
    client.atWork += 1;
  }

  /** Answers whether the turn of the read came in time. */
  #wait(client: Client): Promise<boolean> {
    const { waiting } = client;
    if (waiting.size >= WAITING_OF_CLIENT_MAX) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (isIn: boolean): void => {
        clearTimeout(timeout);
        waiting.delete(end);
        resolve(isIn);
      };
      const timeout = setTimeout(() => {
        end(false);
        this.#forgetIfIdle(client);
      }, WAIT_MS_MAX);
      waiting.add(end);
    });
  }

  #letIn(): void {
    const waiting = [...this.#clients.values()].filter(
      (client) => client.waiting.size > 0 && this.#hasRoom(client),
    );
    const id = this.#used.least(
      waiting.map((client) => client.id),
      this.#now(),
    );
    const client = id === null ? undefined : this.#clients.get(id);
    const [next] = client?.waiting ?? [];
    if (client === undefined || next === undefined) return;
    this.#begin(client);
    next(true);
    // This client goes to the end of the queue.
    this.#clients.delete(client.id);
    this.#clients.set(client.id, client);
  }

  #forgetIfIdle({ id, atWork, waiting }: Client): void {
    if (atWork === 0 && waiting.size === 0) this.#clients.delete(id);
  }
}
