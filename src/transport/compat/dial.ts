/** Opens one connection through http2-wrapper, which can also use a corporate proxy. */

import type { ClientHttp2Session } from 'node:http2';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Agent } from 'http2-wrapper';
import { trustOf } from '../../../packages/http2/src/client/trust.ts';
import { errorReason } from '../../../packages/std/src/error-reason.ts';
import { NO_HTTP2 } from '../connect-fault.ts';
import type { ConnectionEvents, Dialled, DialOptions } from '../provider-connection.ts';
import { NO_STREAM } from '../provider-connection.ts';
import { Connection } from './connection.ts';

type OpenedSession =
  | { readonly ok: true; readonly session: ClientHttp2Session }
  | { readonly ok: false; readonly reason: string };

interface SessionOptions {
  /** The IP address to connect to. Absent: the one that the origin's name resolves to. */
  readonly address?: string;
  readonly ca: string | null;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export async function dial(options: DialOptions, events: ConnectionEvents): Promise<Dialled> {
  const { origin, address, ca, limits, signal } = options;
  const timeoutMs = limits.connectTimeoutMs;
  const opened = await openSession(origin, { address, ca, timeoutMs, signal });
  if (!opened.ok) return opened;
  return { ok: true, connection: new Connection(opened.session, limits, events) };
}

/** Opens a session with its peer's SETTINGS. Never throws: an unreachable provider is an answer. */
export async function openSession(origin: string, options: SessionOptions): Promise<OpenedSession> {
  const sockets: TLSSocket[] = [];
  let giveUp: (reason: string) => void = () => undefined;
  const givenUp = new Promise<OpenedSession>((resolve) => {
    giveUp = (reason) => resolve({ ok: false, reason });
  });
  const session = open(origin, options, sockets, giveUp);
  const onAbort = () => giveUp('closed while connecting');
  const timer = setTimeout(giveUp, options.timeoutMs, 'connection time-out');
  options.signal?.addEventListener('abort', onAbort);
  const opened = await Promise.race([session, givenUp]);
  clearTimeout(timer);
  options.signal?.removeEventListener('abort', onAbort);
  if (!opened.ok) for (const socket of sockets) socket.destroy();
  return opened;
}

async function open(
  origin: string,
  { address, ca }: SessionOptions,
  sockets: TLSSocket[],
  giveUp: (reason: string) => void,
): Promise<OpenedSession> {
  // A new agent for each session: a reused one returns sessions after their GOAWAY. With
  // `maxSessions: 1` it would close a session without open streams.
  const agent = new Agent();
  try {
    const session = await agent.getSession(origin, {
      secureContext: trustOf(ca),
      ...(address === undefined ? {} : { lookup: alwaysFinds(address) }),
      // The agent would put an IP address into SNI, which RFC 6066 forbids and node warns of.
      ...(isIP(new URL(origin).hostname) === 0 ? {} : { servername: '' }),
      createConnection: (url, connectOptions) => {
        // When the peer's first SETTINGS allow no stream, the agent opens one connection after
        // another.
        if (sockets.length > 0) throw new Error(NO_STREAM);
        const socket = Agent.connect(url, connectOptions);
        sockets.push(socket);
        // The agent would wait for the SETTINGS of a peer that speaks another protocol.
        socket.once('secureConnect', () => {
          if (socket.alpnProtocol !== 'h2') giveUp(NO_HTTP2);
        });
        return socket;
      },
    });
    return { ok: true, session };
  } catch (error) {
    return { ok: false, reason: errorReason(error) };
  }
}

const alwaysFinds =
  (address: string): LookupFunction =>
  (_hostname, options, callback) => {
    const family = isIP(address);
    if (options.all) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
