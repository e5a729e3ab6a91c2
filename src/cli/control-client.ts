/** A command's side of a running engine's socket. */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { parseJson } from '../../packages/std/src/json.ts';
import { engineSocketPath } from '../database/embedded/lock.ts';
import type { ActionResult, OperatorActions } from '../operator/operator-actions.ts';

/**
 * No action takes longer. An engine that is stopped in a debugger would block the command for ever.
 * @limit a command waits for the engine → the command fails
 */
const ANSWER_TIMEOUT_MS = 30_000;

const answerForm = z.union([
  z.object({ ok: z.literal(true), value: z.unknown() }),
  z.object({ ok: z.literal(false), fault: z.string() }),
]);

/** Actions of the engine that runs on this data directory; each opens a connection of its own. */
export const remoteOperatorActions =
  (dataDir: string): OperatorActions =>
  async (action, input) => {
    const socket = await open(engineSocketPath(dataDir));
    if (socket === null) {
      const fault = `The engine is not running on ${dataDir}: start it first, or set DATABASE_URL.`;
      return { ok: false, fault };
    }
    try {
      socket.write(`${JSON.stringify({ action, input })}\n`);
      return await readAnswer(socket);
    } finally {
      socket.destroy();
    }
  };

/** Null: no engine answers there. */
async function open(path: string): Promise<Socket | null> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return socket;
  } catch {
    // The socket does not exist, or its engine is dead: no engine runs in either case.
    return null;
  }
}

async function readAnswer(socket: Socket): Promise<ActionResult> {
  socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy());
  try {
    for await (const line of createInterface({ input: socket })) {
      const answer = answerForm.parse(parseJson(line));
      return answer.ok ? { ok: true, value: answer.value } : answer;
    }
  } catch (error) {
    if (!isConnectionLost(error)) throw error;
  }
  return { ok: false, fault: 'The engine closed the connection without an answer.' };
}

const isConnectionLost = (error: unknown): boolean => error instanceof Error && 'syscall' in error;
