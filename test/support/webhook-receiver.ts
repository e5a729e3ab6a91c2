/** A receiver of webhooks: a real HTTP or HTTPS server that keeps what it was sent. */

import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Lifetime } from './lifetime.ts';

export interface ToldEvent {
  readonly type: string;
  readonly timestamp: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into events of every form.
  readonly data: any;
}

export interface Heard {
  /** `webhook-id`. */
  readonly id: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly events: readonly ToldEvent[];
}

/** Whether a request is whole and of the owner of the secret, by the published library. */
export function isSigned({ body, headers }: Heard, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, { ...headers });
    return true;
  } catch {
    return false;
  }
}

export interface Receiver {
  readonly url: string;
  readonly heard: readonly Heard[];
  /** All events, in the order in which they came. */
  events(): readonly ToldEvent[];
  /** Answers from now on; the default is 204. Null: never. */
  answer: (heard: Heard, response: ServerResponse) => number | null;
}

/** It is closed with the test. */
export async function startReceiver(
  t: Lifetime,
  tls?: { readonly key: string; readonly cert: string },
): Promise<Receiver> {
  const heard: Heard[] = [];
  const receiver: Receiver = {
    url: '',
    heard,
    events: () => heard.flatMap(({ events }) => events),
    answer: () => 204,
  };
  const listener: RequestListener = (request, response) => {
    void read(request).then((one) => {
      heard.push(one);
      const status = receiver.answer(one, response);
      if (status !== null) response.writeHead(status).end();
    });
  };
  const server =
    tls === undefined ? createServer(listener) : createSecureServer({ ...tls }, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const scheme = tls === undefined ? 'http' : 'https';
  return Object.assign(receiver, { url: `${scheme}://127.0.0.1:${port}/hook` });
}

async function read(request: IncomingMessage): Promise<Heard> {
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += String(part);
  const headers = request.headers as Readonly<Record<string, string>>;
  const { data } = JSON.parse(body) as { readonly data: { readonly events: ToldEvent[] } };
  return {
    id: headers['webhook-id'] ?? '',
    path: request.url ?? '',
    headers,
    body,
    events: data.events,
  };
}
