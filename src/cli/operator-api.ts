/** The operator's API as commands ask it: typed requests, and sentences for what is refused. */

import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { ProblemError, TagcastClient } from '../../packages/client/src/client.ts';
import { problemOf } from '../../packages/client/src/problem.ts';
import { errorReason } from '../../packages/std/src/error-reason.ts';
import { engineSocketPath } from '../database/embedded/lock.ts';
import type { ActionResult, OperatorActions } from '../operator/operator-actions.ts';

/**
 * No action takes longer. An engine that is stopped in a debugger would block the command for ever.
 * @limit a command waits for the engine → the command fails
 */
const ANSWER_TIMEOUT_MS = 30_000;

/** Where the routes are. A connection that is the operator's alone needs no token. */
interface Place {
  readonly baseUrl: string;
  readonly token?: string;
}

/** Over a connection of any kind. */
export const operatorApi = (
  fetch: typeof globalThis.fetch,
  place: Place = { baseUrl: 'http://engine' },
): TagcastClient =>
  // Commands that wait do so by themselves.
  new TagcastClient({ ...place, fetch, retry: { attemptsMax: 1 } });

/** No engine, or no answer from it: the message is a sentence. */
class NoAnswerError extends Error {}

/** What a command calls a field of the API, where the two differ. */
const ARGUMENTS: Readonly<Record<string, string>> = { clientId: 'client' };

/** A sentence for what was refused, or was not answered; null: a bug of ours. */
export function refusalOf(error: unknown): string | null {
  if (error instanceof NoAnswerError) return error.message;
  if (!(error instanceof ProblemError)) return null;
  const [fault] = error.problem.errors ?? [];
  if (fault === undefined) return error.problem.detail;
  return `${ARGUMENTS[fault.path] ?? fault.path} ${fault.message}.`;
}

/** From here on a status is the fault of the engine, which may be starting, or have failed once. */
const FAULT_OF_ENGINE = 500;

/** Whether a request that failed so may succeed in a moment. */
export const isForTheMoment = (error: unknown): boolean =>
  error instanceof NoAnswerError ||
  (error instanceof ProblemError && error.problem.status >= FAULT_OF_ENGINE);

/** The actions that have no routes of their own yet. */
export const actionsOver =
  (fetch: typeof globalThis.fetch): OperatorActions =>
  async (action, input) => {
    try {
      const response = await fetch('http://engine/operator/v1/actions', {
        method: 'POST',
        body: JSON.stringify({ action, input }),
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      if (!response.ok) throw await problemOf(response);
      return (await response.json()) as ActionResult;
    } catch (error) {
      const fault = refusalOf(error);
      if (fault === null) throw error;
      return { ok: false, fault };
    }
  };

/** A `fetch` that asks an engine elsewhere. */
export const fetchFromElsewhere: typeof fetch = async (input, init) => {
  try {
    return await fetch(input, init);
  } catch (error) {
    // The `fetch` of Node.js says why in the cause.
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const { origin } = new URL(String(input));
    const sentence = `The engine at ${origin} did not answer: ${errorReason(cause)}.`;
    throw new NoAnswerError(sentence, { cause: error });
  }
};

/** A `fetch` that asks the engine that runs on this data directory. */
export const fetchFromEngine =
  (dataDir: string): typeof fetch =>
  (input, { method = 'GET', headers, body, signal } = {}) =>
    new Promise((resolve, reject) => {
      let sentence = `The engine is not running on ${dataDir}: start it first, or set DATABASE_URL.`;
      const fail = (error: Error): void => reject(new NoAnswerError(sentence, { cause: error }));
      const { pathname, search } = new URL(String(input));
      const asked = request({
        socketPath: engineSocketPath(dataDir),
        agent: false,
        method,
        path: pathname + search,
        headers: Object.fromEntries(new Headers(headers)),
        ...(signal ? { signal } : {}),
      });
      asked.on('socket', (socket) =>
        socket.once('connect', () => {
          sentence = 'The engine closed the connection without an answer.';
        }),
      );
      asked.on('error', fail);
      asked.on('response', (answer) => {
        buffer(answer).then((bytes) => {
          const { statusCode: status = 0, headers: fields } = answer;
          const told = new Headers(
            Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
          );
          resolve(new Response(bytes.length === 0 ? null : bytes, { status, headers: told }));
        }, fail);
      });
      asked.end(body ?? undefined);
    });
