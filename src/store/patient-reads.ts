/**
 * Reads that may take seconds: what only counting answers, for large clients. Few are done at a
 * time, and of one client fewer, so that none of them takes connections from credentials,
 * registrations and sends; the others wait for a moment, and are told to come again.
 */

import type { Sql } from './sql.ts';

/** At a time, each on a connection of its own where there are more than one. */
export const PATIENT_READS_MAX = 4;
/** Of one client at a time: its dry runs leave the others the half. */
const OF_CLIENT_MAX = 2;
/** Of one client that wait: each is done in milliseconds while nothing is wrong. */
const WAITING_OF_CLIENT_MAX = 100;
/**
 * What has not begun by then is refused: who asks has some seconds, and the statements before him
 * have ten.
 */
const WAIT_MS_MAX = 2_000;

/** `busy`: it was not begun, because too many are being done. */
export type PatientRead<T> =
  | { readonly kind: 'done'; readonly result: T }
  | { readonly kind: 'busy' };

/** Gives `work` what it asks its questions with. */
export type Perform = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

interface Client {
  readonly id: number;
  atWork: number;
  readonly waiting: Set<(isIn: boolean) => void>;
}

export class PatientReads {
  readonly #perform: Perform;
  /** Those with a read, at work or waiting, the one that came longest ago first. */
  readonly #clients = new Map<number, Client>();
  #atWork = 0;

  constructor(perform: Perform) {
    this.#perform = perform;
  }

  /**
   * Rejects as `work` does, and when a statement of it takes too long (`STATEMENT_MS_MAX`; not on
   * the embedded database).
   */
  async run<T>(clientId: number, work: (sql: Sql) => Promise<T>): Promise<PatientRead<T>> {
    const client = this.#clients.get(clientId) ?? { id: clientId, atWork: 0, waiting: new Set() };
    this.#clients.set(clientId, client);
    if (this.#hasRoom(client)) this.#begin(client);
    else if (!(await this.#wait(client))) return { kind: 'busy' };
    try {
      return { kind: 'done', result: await this.#perform(work) };
    } finally {
      this.#atWork -= 1;
      client.atWork -= 1;
      this.#letIn();
      this.#forgetIfIdle(client);
    }
  }

  #hasRoom(client: Client): boolean {
    return this.#atWork < PATIENT_READS_MAX && client.atWork < OF_CLIENT_MAX;
  }

  #begin(client: Client): void {
    this.#atWork += 1;
    client.atWork += 1;
  }

  /** Whether its turn has come in time. */
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

  /** One has ended: the next may begin, of another client first. */
  #letIn(): void {
    for (const client of this.#clients.values()) {
      const [next] = client.waiting;
      if (next === undefined || !this.#hasRoom(client)) continue;
      this.#begin(client);
      next(true);
      // To the end of the line.
      this.#clients.delete(client.id);
      this.#clients.set(client.id, client);
      return;
    }
  }

  #forgetIfIdle({ id, atWork, waiting }: Client): void {
    if (atWork === 0 && waiting.size === 0) this.#clients.delete(id);
  }
}
