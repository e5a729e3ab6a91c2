/**
 * Tries out what the listener needs of a binary and no document of uWebSockets.js promises: that
 * the object of the filter is a handle of its connection, over all requests, and reports its end. A
 * version that breaks this must not serve callers.
 */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { errorReason } from '../../std/src/error-reason.ts';
import type { Uws, UwsResponse } from './uws.ts';

/** It takes some ten milliseconds; a machine may be busy at a start. */
const TIMEOUT_MS = 5_000;
const REQUEST = 'GET / HTTP/1.1\r\nHost: self-test\r\n\r\n';

interface SelfTested {
  /** Null: it passed. */
  readonly fault: string | null;
  /** Whether it knows callers' ports. */
  readonly hasPorts: boolean;
}

export async function selfTest(uws: Uws): Promise<SelfTested> {
  const trial = new Trial(uws);
  try {
    const fault = await trial.run();
    return { fault, hasPorts: trial.hasPorts };
  } catch (error) {
    return { fault: errorReason(error), hasPorts: false };
  } finally {
    trial.end();
  }
}

class Trial {
  readonly #uws: Uws;
  hasPorts = false;
  #listening: object | null = null;
  #socket: Socket | null = null;
  #handle: UwsResponse | null = null;
  #isGone = false;
  /** Pieces of bodies of which the handle has heard. */
  #pieces = 0;
  /** The port that it named in the last request. */
  #port: number | null = null;
  /** The first error in a callback, which uWebSockets.js would make one of the process. */
  #error: unknown = null;

  constructor(uws: Uws) {
    this.#uws = uws;
  }

  /** The first fault; null: there is none. */
  async run(): Promise<string | null> {
    const socket = this.#connect();
    await this.#ask(socket);
    const handle = this.#handle;
    if (this.#error !== null) return errorReason(this.#error);
    if (handle === null) return 'a connection has no handle';
    handle.pause();
    handle.resume();
    await this.#ask(socket);
    if (this.#error !== null) return errorReason(this.#error);
    this.hasPorts = this.#port !== null && this.#port === socket.localPort;
    if (!this.hasPorts && this.#pieces !== 2) return 'nothing shows the connection of a request';
    handle.close();
    return this.#isGone ? null : 'a connection does not report its end';
  }

  end(): void {
    if (this.#listening !== null) this.#uws.us_listen_socket_close(this.#listening);
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const app = this.#uws.App();
    app.filter((res, count) => this.#guard(() => count === 1 && this.#open(res)));
    app.any('/*', (res) => this.#guard(() => this.#answer(res)));
    app.listen('127.0.0.1', 0, (socket) => {
      if (socket !== false) this.#listening = socket;
    });
    if (this.#listening === null) throw new Error('it cannot listen');
    const port = this.#uws.us_socket_local_port(this.#listening);
    this.#socket = connect({ port, host: '127.0.0.1' });
    // Its end is expected.
    this.#socket.on('error', () => undefined);
    return this.#socket;
  }

  async #ask(socket: Socket): Promise<void> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    socket.write(REQUEST);
    await once(socket, 'data', { signal });
  }

  #open(res: UwsResponse): void {
    this.#handle = res;
    this.#arm(res);
  }

  #arm(handle: UwsResponse): void {
    handle.onAborted(() => {
      this.#isGone = true;
    });
    handle.onData(() => {
      this.#pieces += 1;
    });
  }

  #answer(res: UwsResponse): void {
    this.#port = res.getRemotePort?.() ?? null;
    // Without one, uWebSockets.js ends the process: the handle's may be none.
    res.onAborted(() => undefined);
    // Not before all is read: the listener without ports does so, too.
    setImmediate(() =>
      this.#guard(() => {
        res.cork(() => res.end('ok'));
        if (this.#handle !== null) this.#arm(this.#handle);
      }),
    );
  }

  #guard(act: () => unknown): void {
    try {
      act();
    } catch (error) {
      this.#error ??= error;
    }
  }
}
