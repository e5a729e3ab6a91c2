/**
 * The engine's side of its own socket: HTTP with the operator's routes. The socket is in DATA_DIR
 * (0700) and is 0600, so that only the operator can reach it, and needs no token.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Logger } from 'pino';
import type { HttpResponse } from '../http/handler.ts';
import { problem } from '../http/problem.ts';
import { requestIdOf } from '../http/request-id.ts';
import type { OperatorDoor } from './operator-door.ts';

/**
 * Serves the connections that `lockDataDir` hands over. `door` answers null while the engine
 * starts.
 */
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
  const body = await buffer(request);
  const { method = '', url: target = '/' } = request;
  const answered = await answer(door, { method, target, body }, log);
  // A connection that is kept would hold up the end of the engine.
  response.writeHead(answered.status, { ...answered.headers, Connection: 'close' });
  response.end(answered.body);
}

async function answer(
  door: OperatorDoor | null,
  asked: Parameters<OperatorDoor['answer']>[0],
  log: Logger,
): Promise<HttpResponse> {
  if (door === null) return problem(requestIdOf(''), 503, 'The engine is still starting.');
  try {
    return await door.answer(asked);
  } catch (error) {
    const { method, target } = asked;
    log.error({ err: error, method, target }, 'a command failed');
    return problem(requestIdOf(''), 500, 'The engine failed; its log says why.');
  }
}
