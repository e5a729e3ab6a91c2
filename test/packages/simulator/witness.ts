/**
 * Our client as a witness: it pushes to a simulated APNs and writes down what the connection did to
 * it.
 */

import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import type { ClientOptions } from '../../../packages/http2/src/client/client-connection.ts';
import { ClientConnection } from '../../../packages/http2/src/client/client-connection.ts';
import type { RequestFailure, Response } from '../../../packages/http2/src/client/client-stream.ts';
import { errorCodeName } from '../../../packages/http2/src/error.ts';
import type { GoAway } from '../../../packages/http2/src/frame/go-away.ts';
import { pingFrame } from '../../../packages/http2/src/frame/ping.ts';
import type { Parameter } from '../../../packages/http2/src/frame/settings.ts';
import { Setting } from '../../../packages/http2/src/frame/settings.ts';
import type { Simulator } from '../../../packages/simulator/src/simulator.ts';
import type { Teardown } from './peer.ts';
import { apnsToken, providerToken } from './peer.ts';

export type End =
  | { readonly kind: 'answered'; readonly status: number; readonly body: string }
  | ({ readonly kind: 'failed' } & RequestFailure);

const PATIENT: ClientOptions = {
  streamsMax: 1_000,
  requestTimeoutMs: 60_000,
  bodyOctetsMax: 4_096,
  pingAfterSilenceMs: 600_000,
  pingTimeoutMs: 600_000,
  pingsInARowMax: 2,
};

/** Requests that wait for a stream. */
interface Wanted {
  readonly token: string;
  readonly resolve: (end: End) => void;
}

export class Witness extends ClientConnection {
  /** `[code, last stream, words]` of each GOAWAY. */
  readonly goAways: (readonly [code: string, lastStreamId: number, words: string])[] = [];
  /** Each MAX_CONCURRENT_STREAMS that it received. */
  readonly streamLimits: number[] = [];
  /** Each increment of the connection's window. */
  readonly increments: number[] = [];
  readonly resets: string[] = [];
  pings = 0;

  override goAway(goAway: GoAway): void {
    const { code, lastStreamId, debugData } = goAway;
    this.goAways.push([errorCodeName(code), lastStreamId, debugData.toString()]);
    super.goAway(goAway);
  }

  override settings(parameters: readonly Parameter[]): void {
    for (const [identifier, value] of parameters) {
      if (identifier === Setting.MAX_CONCURRENT_STREAMS) this.streamLimits.push(value);
    }
    super.settings(parameters);
  }

  override windowUpdate(streamId: number, increment: number): void {
    if (streamId === 0) this.increments.push(increment);
    super.windowUpdate(streamId, increment);
  }

  override rstStream(streamId: number, code: number): void {
    this.resets.push(errorCodeName(code));
    super.rstStream(streamId, code);
  }

  override ping(opaqueData: Buffer): void {
    this.pings += 1;
    super.ping(opaqueData);
  }

  sendPing(): void {
    this.output.write(pingFrame(Buffer.alloc(8), false));
  }
}

export interface Client {
  readonly witness: Witness;
  /** Resolves with the reason when the connection is gone. */
  readonly closed: Promise<string>;
  /** Pushes to the device with this number, as soon as there is a stream. */
  push(number: number): Promise<End>;
}

/** Connects to the simulated APNs; rejects when that is down. */
export async function dial(
  t: Teardown,
  simulator: Simulator,
  { alert = 'Goal!', ...options }: Partial<ClientOptions> & { readonly alert?: string } = {},
): Promise<Client> {
  const authorization = `bearer ${await providerToken(simulator.accounts)}`;
  const socket = await openSocket(t, simulator);
  const wanted: Wanted[] = [];
  let close: (reason: string) => void = () => undefined;
  const closed = new Promise<string>((resolve) => {
    close = resolve;
  });
  const witness = new Witness(
    socket,
    { ...PATIENT, ...options },
    {
      freed: () => send(),
      draining: () => undefined,
      closed: (reason) => {
        close(reason);
        for (const { resolve } of wanted.splice(0)) resolve(unsent(reason));
      },
    },
  );
  const request = witness.prepare({
    method: 'POST',
    scheme: 'https',
    authority: new URL(simulator.apnsOrigin).host,
    valueIn: 'path',
    path: '/3/device/',
    fields: Object.entries({
      authorization,
      'apns-topic': simulator.accounts.apns.bundleId,
      'apns-push-type': 'alert',
    }).map(([name, value]) => ({ name, value, indexing: 'incremental' })),
    contentBefore: Buffer.from(JSON.stringify({ aps: { alert } })),
    contentAfter: Buffer.alloc(0),
  });
  const send = (): void => {
    while (witness.capacity > 0) {
      const next = wanted.shift();
      if (next === undefined) return;
      witness.send(request, next.token, receiverOf(next.resolve));
    }
  };
  return {
    witness,
    closed,
    push: (number) =>
      new Promise((resolve) => {
        if (witness.isClosed) return resolve(unsent('closed before'));
        wanted.push({ token: apnsToken(number), resolve });
        send();
      }),
  };
}

const unsent = (reason: string): End => ({
  kind: 'failed',
  isUnprocessed: true,
  reason,
  status: null,
});

const receiverOf = (resolve: (end: End) => void) => ({
  answered: ({ status, body }: Response) =>
    resolve({ kind: 'answered', status, body: body.toString() }),
  failed: (failure: RequestFailure) => resolve({ kind: 'failed', ...failure }),
});

async function openSocket(t: Teardown, simulator: Simulator): Promise<TLSSocket> {
  const { hostname, port } = new URL(simulator.apnsOrigin);
  const socket = connect({
    host: hostname,
    port: Number(port),
    ca: simulator.certificatePem,
    ALPNProtocols: ['h2'],
  });
  t.teardown(() => {
    socket.destroy();
  });
  // Rejects when it is closed before.
  const closed = once(socket, 'close').then(() => Promise.reject(new Error('closed')));
  await Promise.race([once(socket, 'secureConnect'), closed]);
  closed.catch(() => undefined);
  socket.setNoDelay(true);
  return socket;
}

/** How many there are of each end. */
export function countEnds(ends: readonly End[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const end of ends) {
    const kind = end.kind === 'answered' ? String(end.status) : fateOf(end);
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

const fateOf = ({ isUnprocessed }: RequestFailure): string =>
  isUnprocessed ? 'unprocessed' : 'unknown';
