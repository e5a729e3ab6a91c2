/**
 * Our own HTTP/2 client for tests: a connection that keeps requests until a stream is free, and
 * answers as values.
 */

import type { ClientConnection } from '../../packages/http2/src/client/client-connection.ts';
import type { Response } from '../../packages/http2/src/client/client-stream.ts';
import type { ConnectOptions } from '../../packages/http2/src/client/connect.ts';
import { connect } from '../../packages/http2/src/client/connect.ts';
import type { PreparedRequest, RequestForm } from '../../packages/http2/src/client/request-form.ts';
import type { Lifetime } from './lifetime.ts';

/** Far beyond what any test takes: none waits for a time-out by accident. */
const PATIENCE_MS = 60_000;

export const CONNECT_OPTIONS: ConnectOptions = {
  ca: null,
  connectTimeoutMs: PATIENCE_MS,
  requestTimeoutMs: PATIENCE_MS,
  streamsMax: 1_000,
  bodyOctetsMax: 2 * 1_024 * 1_024,
  pingAfterSilenceMs: PATIENCE_MS,
  pingTimeoutMs: PATIENCE_MS,
  pingsInARowMax: 1,
};

/** How one request ended. */
export type Answer =
  | ({ readonly kind: 'answered' } & Response)
  | {
      readonly kind: 'failed';
      readonly isUnprocessed: boolean;
      readonly reason: string;
      readonly status: number | null;
    };

export interface TestClient {
  readonly connection: ClientConnection;
  /** Set when it takes no more requests, with the reason. */
  readonly drainingReason: () => string | null;
  /** Resolves with the reason when the connection is gone. */
  readonly closed: Promise<string>;
  /** The most streams that were open at once. */
  readonly streamsAtOnce: () => number;
  prepare(form: RequestForm): PreparedRequest;
  /**
   * Sends it as soon as a stream is free; on a connection that takes no more, it ends as
   * unprocessed.
   */
  ask(request: PreparedRequest, value?: string): Promise<Answer>;
}

interface Waiting {
  readonly request: PreparedRequest;
  readonly value: string;
  readonly resolve: (answer: Answer) => void;
}

/** Connects for the life of a test; throws when there is no connection. */
export async function openClient(
  t: Lifetime,
  origin: string,
  options: Partial<ConnectOptions> = {},
): Promise<TestClient> {
  const waiting: Waiting[] = [];
  let drainingReason: string | null = null;
  let streams = 0;
  let streamsAtOnce = 0;
  let onClosed: (reason: string) => void = () => undefined;
  const closed = new Promise<string>((resolve) => {
    onClosed = resolve;
  });
  const end = (reason: string): void => {
    drainingReason ??= reason;
    for (const { resolve } of waiting.splice(0)) {
      resolve({ kind: 'failed', isUnprocessed: true, reason, status: null });
    }
  };
  const connected = await connect(
    new URL(origin),
    { ...CONNECT_OPTIONS, ...options },
    {
      freed: () => proceed(),
      draining: end,
      closed: (reason) => {
        end(reason);
        onClosed(reason);
      },
    },
  );
  if (!connected.ok) throw new Error(connected.reason);
  const { connection } = connected;
  t.teardown(() => connection.destroy('the test is over'));

  const proceed = (): void => {
    while (connection.capacity > 0) {
      const next = waiting.shift();
      if (next === undefined) return;
      send(next);
    }
  };
  const send = ({ request, value, resolve }: Waiting): void => {
    let ends = 0;
    const settle = (answer: Answer): void => {
      ends += 1;
      streams -= 1;
      if (ends > 1) throw new Error('a request ended twice');
      resolve(answer);
    };
    connection.send(request, value, {
      // The body is lent for the call only.
      answered: ({ status, fields, body, isTruncated, trailers }) => {
        const kept = Buffer.from(body);
        settle({ kind: 'answered', status, fields, body: kept, isTruncated, trailers });
      },
      failed: (failure) => settle({ kind: 'failed', ...failure }),
    });
    streams += 1;
    streamsAtOnce = Math.max(streams, streamsAtOnce);
  };
  return {
    connection,
    closed,
    drainingReason: () => drainingReason,
    streamsAtOnce: () => streamsAtOnce,
    prepare: (form) => connection.prepare(form),
    ask: (request, value = '') =>
      new Promise((resolve) => {
        waiting.push({ request, value, resolve });
        if (drainingReason === null) proceed();
        else end(drainingReason);
      }),
  };
}

const NO_CONTENT = Buffer.alloc(0);

/** GET of `path`, followed by the value. */
export const getOf = (
  origin: string,
  path: string,
  fields: RequestForm['fields'] = [],
): RequestForm => ({
  method: 'GET',
  scheme: origin.startsWith('https:') ? 'https' : 'http',
  authority: new URL(origin).host,
  valueIn: 'path',
  path,
  fields,
  contentBefore: NO_CONTENT,
  contentAfter: NO_CONTENT,
});

/** POST to `path` of the value between two texts. */
export const postOf = (
  origin: string,
  path: string,
  before: string | Buffer = '',
  after = '',
): RequestForm => ({
  ...getOf(origin, path),
  method: 'POST',
  valueIn: 'content',
  contentBefore: Buffer.from(before),
  contentAfter: Buffer.from(after),
});
