/** Sends a request of the fuzz as it is, and hears the answer. */

import type { IncomingMessage } from 'node:http';
import { Agent, request as httpRequest } from 'node:http';
import { bytesOf, targetOf } from './mutate.ts';
import type { Request } from './valid.ts';

export interface Heard {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** The text of an answer; empty for a stream. */
  readonly text: string;
}

/** The slowest honest answer waits ten seconds for a provider. */
const HANG_MS = 30_000;

export const makeAgent = (connections: number): Agent =>
  new Agent({ keepAlive: true, maxSockets: connections });

/** Rejects when there is no answer. */
export function ask(agent: Agent, url: string, request: Request): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const body = bytesOf(request.body);
    const { hostname, port } = new URL(url);
    const sent = httpRequest({
      agent,
      hostname,
      port,
      method: request.method,
      path: targetOf(request) || '/',
      headers: { ...request.headers, 'content-length': body.length },
      timeout: HANG_MS,
    });
    let answer: IncomingMessage | null = null;
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${HANG_MS} ms`)));
    sent.on('response', (message) => {
      answer = message;
      const { statusCode: status = 0, headers } = message;
      if (headers['content-type'] === 'text/event-stream') {
        resolve({ status, headers, text: '' });
        sent.destroy();
        return;
      }
      let text = '';
      message.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      message.on('end', () => resolve({ status, headers, text }));
      message.on('error', reject);
    });
    sent.on('error', (error) => {
      // The rest of a body that was refused already.
      if (answer === null) reject(error);
    });
    sent.end(body);
  });
}
