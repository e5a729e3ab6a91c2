/**
 * Opens a client's connection: over TLS with `h2` negotiated (RFC 9113, 3.2), or in clear text by
 * prior knowledge (3.3).
 */

import type { Socket } from 'node:net';
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { errorReason } from '../../../std/src/error-reason.ts';
import type { ClientEvents, ClientOptions } from './client-connection.ts';
import { ClientConnection } from './client-connection.ts';
import { trustOf } from './trust.ts';

export interface ConnectOptions extends ClientOptions {
  /** The IP address to connect to; absent: the one that the origin's name resolves to. */
  readonly address?: string;
  /** PEM certificates that are trusted besides Node's root certificates. */
  readonly ca: string | null;
  /** Accepts any certificate, for trials. */
  readonly isInsecure?: boolean;
  /** For name resolution, TCP, TLS and the peer's SETTINGS together. */
  readonly connectTimeoutMs: number;
  /** Ends the attempt when it aborts. */
  readonly signal?: AbortSignal;
}

export type Connected =
  | { readonly ok: true; readonly connection: ClientConnection }
  | { readonly ok: false; readonly reason: string };

/**
 * Connects to an `https:` or `http:` origin. Resolves when the peer's SETTINGS have arrived;
 * `events` are called from then on. Never rejects: a failure is a result.
 */
export function connect(
  origin: URL,
  options: ConnectOptions,
  events: ClientEvents,
): Promise<Connected> {
  return new Promise((resolve) => {
    let state: 'connecting' | 'connected' | 'failed' = 'connecting';
    const socket = openSocket(origin, options);
    const end = (connected: Connected): void => {
      if (state !== 'connecting') return;
      state = connected.ok ? 'connected' : 'failed';
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
      if (!connected.ok) socket.destroy();
      resolve(connected);
    };
    const fail = (reason: string): void => end({ ok: false, reason });
    const onAbort = (): void => fail('closed while connecting');
    const timer = setTimeout(fail, options.connectTimeoutMs, 'connection time-out');
    options.signal?.addEventListener('abort', onAbort);
    if (options.signal?.aborted) onAbort();
    socket.on('error', (error) => fail(errorReason(error)));
    socket.on('close', () => fail('closed by the peer while connecting'));
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
      // Set here, since tls.connect() takes no `noDelay`. Without it a request waits up to 40 ms
      // for the ACK of the one before.
      socket.setNoDelay(true);
      // 3.2: without ALPN the peer would not take our octets for HTTP/2.
      if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2') {
        fail('the peer does not speak HTTP/2');
        return;
      }
      const connection = new ClientConnection(socket, options, {
        freed: () => {
          if (state === 'connected') events.freed();
          else if (connection.isReady) end({ ok: true, connection });
        },
        draining: (reason, code) => {
          if (state === 'connected') events.draining(reason, code);
          else fail(reason);
        },
        closed: (reason) => {
          if (state === 'connected') events.closed(reason);
          else fail(reason);
        },
      });
    });
  });
}

function openSocket(origin: URL, options: ConnectOptions): Socket {
  const { ca, isInsecure = false } = options;
  const isSecure = origin.protocol === 'https:';
  // An IPv6 address stands in brackets in a URL.
  const host = origin.hostname.replace(/^\[|\]$/g, '');
  const usualPort = isSecure ? 443 : 80;
  const port = origin.port === '' ? usualPort : Number(origin.port);
  const to = { host: options.address ?? host, port };
  if (!isSecure) return connectTcp(to);
  return connectTls({
    ...to,
    ALPNProtocols: ['h2'],
    secureContext: trustOf(ca),
    rejectUnauthorized: !isInsecure,
    // RFC 6066, 3: an address is not a server name.
    servername: isIP(host) === 0 ? host : '',
  });
}
