/**
 * Stands between a publisher and the engine, as a bad day does: the first time that an
 * Idempotency-Key comes it answers 503, the second time it hands the request on and loses the
 * answer, and from then on it hands on both.
 */

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Lifetime } from '../lifetime.ts';

/** The answers of the engine under one key, lost ones too. */
export interface Seen {
  attempts: number;
  readonly answers: string[];
}

export interface LossyProxy {
  readonly url: string;
  readonly byKey: ReadonlyMap<string, Seen>;
}

export async function startLossyProxy(t: Lifetime, target: string): Promise<LossyProxy> {
  const byKey = new Map<string, Seen>();
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, byKey };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '', headers } = request;
    const body = await buffer(request);
    const key = headers['idempotency-key'];
    const seen = typeof key === 'string' ? (byKey.get(key) ?? { attempts: 0, answers: [] }) : null;
    if (seen !== null) {
      byKey.set(String(key), seen);
      seen.attempts += 1;
      if (seen.attempts === 1) {
        response.writeHead(503, { 'Retry-After': '1' }).end();
        return;
      }
    }
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: {
        authorization: headers.authorization ?? '',
        ...(seen && { 'idempotency-key': String(key) }),
      },
      ...(method === 'GET' ? {} : { body }),
    });
    const text = await answer.text();
    seen?.answers.push(text);
    if (seen?.attempts === 2) {
      response.destroy();
      return;
    }
    response.writeHead(answer.status, {
      'Content-Type': answer.headers.get('content-type') ?? 'text/plain',
    });
    response.end(text);
  }
}
