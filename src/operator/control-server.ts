/**
 * The engine's side of its own socket. Commands ask a running engine here, since only the engine
 * may open its directory. JSON lines: `{"action","input"}` → one answer. The socket is in DATA_DIR
 * (0700) and is 0600: only the operator can reach it.
 */

import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Logger } from 'pino';
import { z } from 'zod';
import { parseJson } from '../../packages/std/src/json.ts';
import type { ActionResult, OperatorActions } from './operator-actions.ts';

const requestForm = z.object({ action: z.string(), input: z.unknown() });

/**
 * Serves one connection, as `lockDataDir` hands it over. `actions` is null while the engine starts.
 */
export function serveControl(
  socket: Socket,
  actions: () => OperatorActions | null,
  log: Logger,
): void {
  // A command that ends early takes its socket with it, and cannot be answered. The readline
  // interface passes the socket's errors on, so both need a listener.
  const noteGone = (error: Error): void =>
    log.debug({ err: error }, 'a command closed its connection early');
  socket.on('error', noteGone);
  const lines = createInterface({ input: socket }).on('error', noteGone);
  lines.on('line', (line) => {
    void answer(line, actions(), log).then((result) => {
      if (socket.writable) socket.write(`${JSON.stringify(result)}\n`);
    });
  });
}

async function answer(
  line: string,
  actions: OperatorActions | null,
  log: Logger,
): Promise<ActionResult> {
  if (actions === null) return { ok: false, fault: 'The engine is still starting.' };
  const request = requestForm.safeParse(parseJson(line));
  if (!request.success) return { ok: false, fault: 'This is not a request.' };
  try {
    return await actions(request.data.action, request.data.input);
  } catch (error) {
    log.error({ err: error, action: request.data.action }, 'a command failed');
    return { ok: false, fault: 'The engine failed; its log says why.' };
  }
}
