/** One ordinary HTTP/2 POST on a connection of its own, for token requests, a few times a day. */

import type { ClientHttp2Session } from 'node:http2';
import { errorReason } from '../../../packages/std/src/error-reason.ts';
import { connectFault } from '../connect-fault.ts';
import { openSession } from './dial.ts';

export interface PostRequest {
  readonly origin: string;
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
  readonly ca: string | null;
  /** For all of it: connect, send, read. */
  readonly timeoutMs: number;
  readonly bodyBytesMax: number;
}

export type Posted =
  | { readonly ok: true; readonly status: number; readonly body: string }
  /** A sentence that names the host, without a full stop. */
  | { readonly ok: false; readonly reason: string };

export async function post(request: PostRequest): Promise<Posted> {
  const startedAtMs = performance.now();
  const { origin, ca, timeoutMs } = request;
  const opened = await openSession(origin, { ca, timeoutMs });
  if (!opened.ok) return { ok: false, reason: connectFault(origin, opened.reason) };
  const { session } = opened;
  // The stream's own error says why. Without a listener the session's would end the process.
  session.on('error', () => undefined);
  try {
    return await exchange(session, request, timeoutMs - (performance.now() - startedAtMs));
  } finally {
    session.destroy();
  }
}

function exchange(
  session: ClientHttp2Session,
  request: PostRequest,
  timeoutMs: number,
): Promise<Posted> {
  return new Promise((resolve) => {
    let status = 0;
    let body = '';
    const fail = (reason: string) =>
      resolve({ ok: false, reason: connectFault(request.origin, reason) });
    const timer = setTimeout(fail, Math.max(0, timeoutMs), 'no answer in time');
    const stream = session.request({
      ':method': 'POST',
      ':path': request.path,
      ...request.fields,
    });
    stream.setEncoding('utf8');
    stream.on('response', (headers) => {
      status = headers[':status'] ?? 0;
    });
    stream.on('data', (chunk: string) => {
      body += chunk;
      if (body.length > request.bodyBytesMax) fail('answer too large');
    });
    stream.on('end', () => {
      if (status !== 0 && stream.rstCode === 0) resolve({ ok: true, status, body });
    });
    stream.on('error', (error) => fail(errorReason(error)));
    stream.on('close', () => {
      clearTimeout(timer);
      fail('connection closed before the answer');
    });
    stream.end(request.body);
  });
}
