/** Opens one HTTP/2 session through http2-wrapper, which can also be told to go through a corporate proxy. */

import type { ClientHttp2Session } from 'node:http2';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Agent } from 'http2-wrapper';
import { trustOf } from '../trust.ts';

export type Dialled =
  | { readonly ok: true; readonly session: ClientHttp2Session }
  | { readonly ok: false; readonly reason: string };

export interface DialOptions {
  readonly ca: string | null;
  readonly timeoutMs: number;
  /** Gives up when it aborts. */
  readonly signal?: AbortSignal;
}

/** A session whose peer's SETTINGS have arrived. Never throws: a provider that is not there is an answer. */
export async function dial(origin: string, options: DialOptions): Promise<Dialled> {
  let socket: TLSSocket | null = null;
  let giveUp: (reason: string) => void = () => undefined;
  const givenUp = new Promise<Dialled>((resolve) => {
    giveUp = (reason) => {
      resolve({ ok: false, reason });
      socket?.destroy();
    };
  });
  const onAbort = () => giveUp('closed while connecting');
  const timer = setTimeout(giveUp, options.timeoutMs, 'connection time-out');
  options.signal?.addEventListener('abort', onAbort);
  try {
    return await Promise.race([
      open(origin, options.ca, (opened) => {
        socket = opened;
      }),
      givenUp,
    ]);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', onAbort);
  }
}

async function open(
  origin: string,
  ca: string | null,
  onSocket: (socket: TLSSocket) => void,
): Promise<Dialled> {
  // A fresh agent for each session: one that is reused hands out sessions that have had their GOAWAY. And never more
  // than one session: when the peer's first SETTINGS allow no stream, the agent would open another and another.
  const agent = new Agent({ maxSessions: 1 });
  try {
    const session = await agent.getSession(origin, {
      secureContext: trustOf(ca),
      // The agent would put an IP address into SNI, which RFC 6066 forbids and node warns of.
      ...(isIP(new URL(origin).hostname) === 0 ? {} : { servername: '' }),
      createConnection: (url, connectOptions) => {
        const socket = Agent.connect(url, connectOptions);
        onSocket(socket);
        return socket;
      },
    });
    return { ok: true, session };
  } catch (error) {
    return { ok: false, reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : error.message;
}
