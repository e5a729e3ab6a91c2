/** The other end of `new-connections.ts`: one round, and the end of the process. */

import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { percentile } from '../clients/client.ts';
import type { Seen, Target } from './load.ts';
import type { NewConnectionsTask } from './new-connections.ts';
import { requestsOf } from './registrations.ts';

/** A round ends with them, whatever its time: no machine here opens more in some seconds. */
const CONNECTIONS_MAX = 500_000;
/** A server that says nothing for so long has lost the request. */
const SILENCE_MS_MAX = 10_000;
const ANSWERED = /^HTTP\/1\.1 200 .*\r\n\r\n/s;

/** Opens the connections of one caller, who remembers its TLS session. */
interface Caller {
  readonly connect: () => Socket;
  /** Connections so far that resumed a session. */
  readonly resumed: () => number;
}

process.once('message', (task: NewConnectionsTask) => {
  void runRound(task).then((seen) => process.send?.(seen, () => process.disconnect()));
});

async function runRound({ target, round, isResuming }: NewConnectionsTask): Promise<Seen> {
  const next = requestsOf(target, round.kind, round.tags);
  const latenciesMs: number[] = [];
  let opened = 0;
  const startMs = performance.now();
  const endMs = startMs + round.seconds * 1_000;
  const call = async ({ connect }: Caller): Promise<void> => {
    while (performance.now() < endMs && opened < CONNECTIONS_MAX) {
      opened += 1;
      const openedMs = performance.now();
      const answer = await exchange(connect(), requestText(target, next()));
      if (ANSWERED.test(answer)) latenciesMs.push(performance.now() - openedMs);
    }
  };
  const callers = Array.from({ length: round.connections }, () => createCaller(target, isResuming));
  await Promise.all(callers.map(call));
  const seconds = (performance.now() - startMs) / 1_000;
  const answered = latenciesMs.length;
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const resumed = callers.reduce((sum, caller) => sum + caller.resumed(), 0);
  return {
    perSecond: answered / seconds,
    answered,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    failures: opened - answered,
    resumedShare: isTls(target) ? resumed / opened : null,
  };
}

const isTls = ({ baseUrl }: Target): boolean => baseUrl.startsWith('https:');

function createCaller(target: Target, isResuming: boolean): Caller {
  const { hostname: host, port } = new URL(target.baseUrl);
  const address = { host, port: Number(port), noDelay: true };
  if (!isTls(target)) return { connect: () => connect(address), resumed: () => 0 };
  let session: Buffer | undefined;
  let resumed = 0;
  return {
    connect: () => {
      const socket = connectTls({ ...address, ...TLS, ...(session && { session }) });
      socket.once('secureConnect', () => {
        if (socket.isSessionReused()) resumed += 1;
      });
      if (isResuming) {
        socket.on('session', (latest: Buffer) => {
          session = latest;
        });
      }
      return socket;
    },
    resumed: () => resumed,
  };
}

/**
 * One context for all connections, as an app has it: making one costs more than a handshake. The
 * certificate is the bench's own.
 */
const TLS = { secureContext: createSecureContext(), rejectUnauthorized: false };

function requestText(
  { baseUrl, token }: Target,
  { path, body }: { readonly path: string; readonly body: string },
): string {
  return [
    `POST ${path} HTTP/1.1`,
    `Host: ${new URL(baseUrl).host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** Sends a request, and resolves with all that came until the connection has closed. */
function exchange(socket: Socket, request: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    socket.setEncoding('latin1');
    socket.setTimeout(SILENCE_MS_MAX, () => socket.destroy());
    socket.on('data', (text: string) => {
      answer += text;
    });
    // A lost connection is a missing answer. It closes next.
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(answer));
    socket.write(request);
  });
}
