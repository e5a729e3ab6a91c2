/**
 * Lets several PostgreSQL clients use one PGlite over a Unix socket.
 *
 * PGlite is one session: unnamed portals, transactions and errors are shared by whoever speaks to it. So a connection
 * owns the session from its first message until the ReadyForQuery that says "idle", and the others wait their turn.
 * (`@electric-sql/pglite-socket` takes turns message by message: a Bind of one connection was executed by the Execute
 * of another, seen as `portal "" does not exist`; docs/decisions/0001.)
 */

import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { PGlite } from '@electric-sql/pglite';

/** Messages that end with ReadyForQuery, after which the session may change hands. */
const QUERY = 'Q'.charCodeAt(0);
const SYNC = 'S'.charCodeAt(0);
/** Asks for the answers so far; the owner keeps the session. */
const FLUSH = 'H'.charCodeAt(0);
const TERMINATE = 'X'.charCodeAt(0);
const READY_FOR_QUERY = 'Z'.charCodeAt(0);
const IDLE = 'I'.charCodeAt(0);

const SSL_REQUEST = 80877103;
const CANCEL_REQUEST = 80877102;

/** A connection asks for more than this in one message: refused, for it is no statement of ours. */
const MESSAGE_BYTES_MAX = 256 * 1024 * 1024;

/** Serves `database` on the Unix socket at `path`; resolves when it listens. */
export function serveDatabase(database: PGlite, path: string): Promise<Server> {
  const session = new SharedSession(database);
  const server = createServer((socket) => new Connection(socket, session));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve(server));
  });
}

/** Who may speak to PGlite: one connection at a time, in the order they asked. */
class SharedSession {
  private readonly database: PGlite;
  private owner: Connection | null = null;
  private readonly waiting: Connection[] = [];

  constructor(database: PGlite) {
    this.database = database;
  }

  /** Resolves when `connection` owns the session. */
  acquire(connection: Connection): Promise<void> {
    if (this.owner === connection) return Promise.resolve();
    if (this.owner === null) {
      this.owner = connection;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      connection.wake = resolve;
      this.waiting.push(connection);
    });
  }

  release(connection: Connection): void {
    if (this.owner !== connection) return;
    this.owner = this.waiting.shift() ?? null;
    this.owner?.wake();
  }

  execute(messages: Uint8Array): Promise<Uint8Array> {
    return this.database.execProtocolRaw(messages);
  }

  /** Ends whatever a connection that went away had begun, before the next one takes over. */
  async abandon(connection: Connection): Promise<void> {
    if (this.owner !== connection) return;
    await this.execute(SYNC_MESSAGE);
    await this.database.exec('rollback');
    this.release(connection);
  }
}

const SYNC_MESSAGE = Uint8Array.of(SYNC, 0, 0, 0, 4);

class Connection {
  /** Called by the session when this connection's turn has come. */
  wake: () => void = () => undefined;
  private readonly socket: Socket;
  private readonly session: SharedSession;
  private received: Buffer = Buffer.alloc(0);
  private started = false;
  private busy = false;
  private gone = false;

  constructor(socket: Socket, session: SharedSession) {
    this.socket = socket;
    this.session = session;
    socket.on('data', (data) => {
      this.received = this.received.length === 0 ? data : Buffer.concat([this.received, data]);
      this.advance();
    });
    // An error is always followed by 'close', where the session is given back.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.gone = true;
      this.advance();
    });
  }

  /** Starts working off what has come, unless that is under way. */
  private advance(): void {
    if (this.busy) return;
    this.busy = true;
    this.work().then(
      () => {
        this.busy = false;
      },
      (error: unknown) => {
        this.busy = false;
        this.socket.destroy(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  private async work(): Promise<void> {
    for (;;) {
      if (this.gone) {
        await this.session.abandon(this);
        return;
      }
      const messages = this.started ? this.takeMessages() : this.takeStartup();
      if (messages === null) return;
      if (messages.length === 0) continue;
      await this.session.acquire(this);
      const answer = await this.session.execute(messages);
      if (!this.gone) this.socket.write(answer);
      if (endsIdle(answer)) this.session.release(this);
    }
  }

  /** The startup message, which has no type byte; requests for TLS are declined. Null: not all here yet. */
  private takeStartup(): Uint8Array | null {
    if (this.received.length < 8) return null;
    const length = this.received.readInt32BE(0);
    const code = this.received.readInt32BE(4);
    if (length > MESSAGE_BYTES_MAX || this.received.length < length) return null;
    const message = this.take(length);
    if (code === SSL_REQUEST) {
      this.socket.write('N');
      return EMPTY;
    }
    if (code === CANCEL_REQUEST) return EMPTY;
    this.started = true;
    return message;
  }

  /** All messages up to the next one that wants an answer. Null: it is not here yet. */
  private takeMessages(): Uint8Array | null {
    let end = 0;
    while (this.received.length >= end + 5) {
      const type = this.received[end];
      const length = 1 + this.received.readInt32BE(end + 1);
      if (length > MESSAGE_BYTES_MAX) {
        this.socket.destroy();
        return null;
      }
      if (this.received.length < end + length) return null;
      if (type === TERMINATE) {
        this.socket.end();
        this.take(end + length);
        return null;
      }
      end += length;
      if (type === QUERY || type === SYNC || type === FLUSH) return this.take(end);
    }
    return null;
  }

  private take(length: number): Uint8Array {
    const taken = this.received.subarray(0, length);
    this.received = this.received.subarray(length);
    return taken;
  }
}

const EMPTY = new Uint8Array(0);

/** Whether an answer ends with ReadyForQuery and no transaction is open. */
function endsIdle(answer: Uint8Array): boolean {
  const start = answer.length - 6;
  return start >= 0 && answer[start] === READY_FOR_QUERY && answer[start + 5] === IDLE;
}
