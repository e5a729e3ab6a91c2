/**
 * The engine's socket: HTTP with the operator's routes. It is 0600 in DATA_DIR (0700), so only the
 * operator can reach it, without a token.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { faultOf } from '../database/faults.ts';
import type { HttpResponse } from '../http/handler.ts';
import { problem } from '../http/problem.ts';
import { requestIdOf } from '../http/request-id.ts';
import type { OperatorDoor } from './operator-door.ts';

/** Serves what `lockDataDir` hands over. `door` answers null while the engine starts. */
export function operatorSocket(
  door: () => OperatorDoor | null,
  log: Logger,
): (socket: Socket) => void {
  // A command that ends early takes its socket with it, and cannot be answered.
  const noteGone = (error: Error): void =>
    log.debug({ err: error }, 'a command closed its connection early');
  const server = createServer((request, response) => {
    serve(door(), request, response, log).catch(noteGone);
  });
  server.on('clientError', (error, socket) => {
    noteGone(error);
    socket.destroy();
  });
  return (socket) => {
    socket.on('error', noteGone);
    server.emit('connection', socket);
  };
}

async function serve(
  door: OperatorDoor | null,
  request: IncomingMessage,
  response: ServerResponse,
  log: Logger,
): Promise<void> {
  const answered = await answer(door, request, log);
  // A connection that is kept would hold up the end of the engine.
  response.writeHead(answered.status, { ...answered.headers, Connection: 'close' });
  response.end(answered.body);
}

async function answer(
  door: OperatorDoor | null,
  request: IncomingMessage,
  log: Logger,
): Promise<HttpResponse> {
  const { method = '', url: target = '/' } = request;
  const call = door?.find(method, target) ?? starting();
  if ('status' in call) {
    await readBody(request, 0);
    return call;
  }
  const body = await readBody(request, call.bodyBytesMax);
  try {
    return await call.answer(body);
  } catch (error) {
    return failed(error, { method, route: call.pattern }, log);
  }
}

const starting = (): HttpResponse => problem(requestIdOf(''), 503, 'The engine is still starting.');

/** Keeps little more than `bytesMax`: then the body is too long, and the rest is not wanted. */
async function readBody(request: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    if (length <= bytesMax) chunks.push(chunk);
    length += chunk.length;
  }
  return Buffer.concat(chunks);
}

/** The answer to an error of a handler, which is logged: 500; of a database that failed, 503. */
function failed(
  error: unknown,
  asked: { readonly method: string; readonly route: string },
  log: Logger,
): HttpResponse {
  const fault = faultOf(error);
  if (fault === 'unavailable' || fault === 'conflict') {
    log.warn({ err: error, ...asked }, 'the database could not serve a request');
    return problem(requestIdOf(''), 503, 'The engine cannot do this at the moment. Try again.');
  }
  log.error({ err: error, ...asked }, 'a command failed');
  return problem(requestIdOf(''), 500, 'The engine failed; its log says why.');
}
