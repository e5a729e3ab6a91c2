/**
 * Lets several PostgreSQL clients use one PGlite, which is one session, over a Unix socket. A
 * connection owns the session from its first message until ReadyForQuery says "idle": turns message
 * by message mix up portals (docs/decisions/0001).
 */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import type { PGlite } from '@electric-sql/pglite';

/** Messages that end with ReadyForQuery, after which another client may own the session. */
const QUERY = 'Q'.charCodeAt(0);
const SYNC = 'S'.charCodeAt(0);
/** Prepares a statement under a name; the empty name belongs to no client. */
const PARSE = 'P'.charCodeAt(0);
const CLOSE = 'C'.charCodeAt(0);
/** Requests the answers so far; the owner keeps the session. */
const FLUSH = 'H'.charCodeAt(0);
const TERMINATE = 'X'.charCodeAt(0);
const READY_FOR_QUERY = 'Z'.charCodeAt(0);
const IDLE = 'I'.charCodeAt(0);

const SSL_REQUEST = 80877103;
const CANCEL_REQUEST = 80877102;

/**
 * A longer message is refused: the engine has no such statement.
 * @limit one message to the embedded database → connection closed
 */
const MESSAGE_BYTES_MAX = 256 * 1024 * 1024;

interface Bridge {
  /** Resolves when all clients, which the caller has asked to leave, have left. */
  close(): Promise<void>;
}

/** Resolves when it listens. Calls `broken` when the database can no longer answer correctly. */
export async function serveDatabase(
  database: PGlite,
  path: string,
  broken: (reason: string) => void,
): Promise<Bridge> {
  const session = new SharedSession(database, broken);
  const server = createServer((socket) => new Connection(socket, session));
  server.listen(path);
  await once(server, 'listening');
  return {
    async close() {
      const closed = once(server, 'close');
      server.close();
      await closed;
      await session.acquire({ wake: () => undefined });
    },
  };
}

interface Client {
  wake: () => void;
}

/** Gives the session to one connection at a time, in the order of their requests. */
class SharedSession {
  private readonly database: PGlite;
  private readonly broken: (reason: string) => void;
  private owner: Client | null = null;
  private readonly waiting: Client[] = [];
  /** PGlite ran out of memory, or stopped in the middle of a statement (`examine`). */
  private isInDoubt = false;

  constructor(database: PGlite, broken: (reason: string) => void) {
    this.database = database;
    this.broken = broken;
  }

  /** Resolves when `client` owns the session. */
  acquire(client: Client): Promise<void> {
    if (this.owner === client) return Promise.resolve();
    if (this.owner === null) {
      this.owner = client;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      client.wake = resolve;
      this.waiting.push(client);
    });
  }

  /** Passes the session on; it is idle. */
  async release(client: Client): Promise<void> {
    if (this.owner !== client) return;
    if (this.isInDoubt) await this.examine();
    this.owner = this.waiting.shift() ?? null;
    this.owner?.wake();
  }

  /** A stream: other calls keep parsed messages. Copies the parts, views of PGlite's memory. */
  async execute(messages: Uint8Array): Promise<Buffer> {
    const parts: Buffer[] = [];
    try {
      await this.database.execProtocolRawStream(messages, {
        onRawData: (part) => parts.push(Buffer.from(part)),
      });
    } catch (error) {
      this.isInDoubt = true;
      throw error;
    }
    const [only] = parts;
    const answer = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
    if (answer.length < ERROR_BYTES_MAX) this.isInDoubt ||= answer.includes(OUT_OF_MEMORY);
    return answer;
  }

  /** If the session holds all memory, only a new process helps: WebAssembly's never shrinks. */
  private async examine(): Promise<void> {
    this.isInDoubt = false;
    try {
      const answer = await this.execute(EXAMINATION);
      if (answer.includes(EXAMINED)) return;
      this.broken('it is out of memory');
    } catch (error) {
      this.broken(error instanceof Error ? error.message : String(error));
    }
  }

  /** Ends the transaction and drops the statements of a client that went away. */
  async leave(client: Client, prepared: ReadonlySet<string>): Promise<void> {
    const isOwner = this.owner === client;
    if (!isOwner && prepared.size === 0) return;
    await this.acquire(client);
    if (isOwner) {
      await this.execute(SYNC_MESSAGE);
      await this.execute(ROLLBACK_MESSAGE);
    }
    await this.execute(Buffer.concat([...[...prepared].map(closeMessage), SYNC_MESSAGE]));
    await this.release(client);
  }
}

/** An error has some hundred bytes; a longer answer holds rows, and is not searched. */
const ERROR_BYTES_MAX = 4_096;
/** The field of an error that holds its SQLSTATE: out_of_memory. */
const OUT_OF_MEMORY = Buffer.from('\0C53200\0');
/** The smallest statement of the engine needs as much: some megabytes. */
const EXAMINED = Buffer.from('session can go on');
const EXAMINATION = message(
  QUERY,
  `select '${EXAMINED}' from (select count(*) + length(repeat('x', 4194304)) as n from pg_class) t where n > 0\0`,
);

const SYNC_MESSAGE = message(SYNC, '');
const ROLLBACK_MESSAGE = message(QUERY, 'rollback\0');

const closeMessage = (statement: string): Buffer => message(CLOSE, `S${statement}\0`);

function message(type: number, body: string): Buffer {
  const octets = Buffer.from(`\0\0\0\0\0${body}`);
  octets[0] = type;
  octets.writeInt32BE(octets.length - 1, 1);
  return octets;
}
class Connection implements Client {
  wake: () => void = () => undefined;
  private readonly socket: Socket;
  private readonly session: SharedSession;
  /** Names of the statements that PGlite holds prepared for this client; drivers close none. */
  private readonly prepared = new Set<string>();
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

  /** Starts to process the received messages, unless that is under way. */
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
        await this.session.leave(this, this.prepared);
        return;
      }
      const messages = this.started ? this.takeMessages() : this.takeStartup();
      if (messages === null) return;
      if (messages.length === 0) continue;
      await this.session.acquire(this);
      const answer = await this.session.execute(messages);
      if (!this.gone) this.socket.write(answer);
      if (endsIdle(answer)) await this.session.release(this);
    }
  }

  /** The startup message, without a type byte; null: incomplete. Requests for TLS are declined. */
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

  /** All messages up to the next one that wants an answer. Null: that one has not arrived yet. */
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
      if (type === PARSE) this.notePrepared(end + 5);
      end += length;
      if (type === QUERY || type === SYNC || type === FLUSH) return this.take(end);
    }
    return null;
  }

  private notePrepared(start: number): void {
    const name = this.received.toString('utf8', start, this.received.indexOf(0, start));
    if (name !== '') this.prepared.add(name);
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
