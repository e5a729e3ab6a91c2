/** The operator's API as commands ask it: typed requests, and sentences for what is refused. */

import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { ProblemError, TagcastClient } from '../../packages/client/src/client.ts';
import { engineSocketPath } from '../database/embedded/lock.ts';
import { whyUnanswered } from './why-unanswered.ts';

/**
 * No request takes longer; a stopped engine would block the command for ever.
 * @limit a command waits for the engine → the command fails
 */
const ANSWER_TIMEOUT_MS = 30_000;

/** Where the routes are. A connection that is the operator's alone needs no token. */
interface Place {
  readonly baseUrl: string;
  readonly token?: string;
}

export const operatorApi = (
  fetch: typeof globalThis.fetch,
  place: Place = { baseUrl: 'http://engine' },
): TagcastClient =>
  // Commands that wait do so by themselves.
  new TagcastClient({
    ...place,
    fetch,
    timeoutMs: ANSWER_TIMEOUT_MS,
    retry: { attemptsMax: 1 },
  });

class NoAnswerError extends Error {}

/** The commands' names for fields of the API, where the two differ. */
const ARGUMENTS: Readonly<Record<string, string>> = { clientId: 'client', '': 'This' };

/** A sentence for what was refused, or was not answered; null: a bug of ours. */
export function refusalOf(error: unknown): string | null {
  if (error instanceof NoAnswerError) return error.message;
  if (!(error instanceof ProblemError)) return null;
  const { detail, errors = [] } = error.problem;
  const sentences = errors.map(({ path, message }) => `${ARGUMENTS[path] ?? path} ${message}.`);
  return sentences.length === 0 ? detail : sentences.join(' ');
}

/** From here on a status is the fault of the engine, which may be starting, or have failed once. */
const FAULT_OF_ENGINE = 500;

export const isForTheMoment = (error: unknown): boolean =>
  error instanceof NoAnswerError ||
  (error instanceof ProblemError && error.problem.status >= FAULT_OF_ENGINE);

/** Follows no redirect: that would take the token to another address. */
export const fetchFromElsewhere: typeof fetch = async (input, init) => {
  const { origin } = new URL(String(input));
  const { answer, bytes } = await askElsewhere(origin, input, init);
  const { status, headers } = answer;
  const isJson = headers.get('content-type')?.includes('json') ?? false;
  if (answer.ok && status !== NO_CONTENT && !isJson) {
    throw new NoAnswerError(
      `The server at ${origin} answered something that is no answer of Tagcast: is OPERATOR_URL right?`,
    );
  }
  return new Response(bytes.byteLength === 0 ? null : bytes, { status, headers });
};

const NO_CONTENT = 204;

/** The body is read here: a connection that is lost within it is no answer, either. */
async function askElsewhere(origin: string, ...[input, init]: Parameters<typeof fetch>) {
  try {
    const answer = await fetch(input, { ...init, redirect: 'error' });
    return { answer, bytes: await answer.arrayBuffer() };
  } catch (error) {
    const sentence = `The engine at ${origin} did not answer: ${whyUnanswered(error)}.`;
    throw new NoAnswerError(sentence, { cause: error });
  }
}

/** A `fetch` that asks the engine that runs on this data directory. */
export const fetchFromEngine =
  (dataDir: string): typeof fetch =>
  (input, { method = 'GET', headers, body, signal } = {}) =>
    new Promise((resolve, reject) => {
      let sentence = `The engine is not running on ${dataDir}: start it first, or set DATABASE_URL or OPERATOR_URL.`;
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
          const received = new Headers(
            Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
          );
          resolve(new Response(bytes.length === 0 ? null : bytes, { status, headers: received }));
        }, fail);
      });
      asked.end(body ?? undefined);
    });
