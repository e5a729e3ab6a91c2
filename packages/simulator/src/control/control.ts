/**
 * The control endpoint: shows tests and people what the simulated providers received, and lets them
 * change the behaviour of these. Plain HTTP on loopback, JSON in and out, problems by RFC 9457.
 *
 * | request                           | answer                                                                  |
 * |-----------------------------------|-------------------------------------------------------------------------|
 * | GET /state                        | `{apns, fcm, webpush, oauth}`: accepted, rejected by reason; but for the last |
 * |                                   | also lost answers (accepted, but the client cannot know), connections   |
 * |                                   | opened, tokens, duplicates, and of these those that no lost answer      |
 * |                                   | explains                                                                |
 * | GET /received/<provider>/<token>  | `{count, accepted, lostAnswers, rejected: {reason: n}, last: {headers,  |
 * |                                   | payload}}`; `last` among the newest 1,000, else null                    |
 * | GET /shown/<provider>/<token>     | `[{identity, title, body, pushId}]`: the alerts that the device shows,  |
 * |                                   | the newest last; kept while the behaviour has `keepsShown`              |
 * | GET /counts/<provider>            | `{tokens, times: {"1": n, "2": m}}`: how many tokens got exactly k      |
 * | GET /tokens/<provider>            | `["…"]`; `?times=<k>` those that got exactly k, `?limit=` (100; 100,000 |
 * |                                   | at most)                                                                |
 * | PUT /tokens/<provider>/<token>    | `{status, reason?, timestamp?, retryAfterSeconds?, times?}`: the answer |
 * |                                   | to the next `times` pushes to this token, without it to all             |
 * | POST /webpush/subscriptions       | `{count?, applicationServerKey?}` → an array of PushSubscriptions, of   |
 * |                                   | browsers whose messages the record shows decrypted                      |
 * | PUT /fcm/installations/<fid>      | `{by: "fid" or "token"}`: from now on only this name reaches it         |
 * | GET, PUT /behaviour               | the behaviour; PUT merges a part of one, after that of the `scenarios`  |
 * |                                   | it names, and answers with the whole                                    |
 * | GET, POST /accounts               | the accounts that are accepted; POST adds the one in the body, or makes |
 * |                                   | one when there is none                                                  |
 * | POST /reset                       | forgets pushes and scripts; behaviour is again what it was at the start |
 *
 * `<provider>` is `apns`, `fcm` or `webpush`; a token in a path is percent-encoded. APNs tokens are
 * in lower case; that of a subscription is the end of its endpoint, after `/push/`.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ControlAnswer } from './control-answer.ts';
import { problem } from './control-answer.ts';
import type { ControlledSimulator } from './control-routes.ts';
import { answerControl } from './control-routes.ts';

interface ControlServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * The endpoint shows private keys and accepts orders from anybody, so it never leaves the machine.
 */
const HOST = '127.0.0.1';

/** Accounts with two PEM keys are the largest body that it accepts. */
const BODY_BYTES_MAX = 65_536;

export async function startControl(
  port: number,
  simulator: ControlledSimulator,
): Promise<ControlServer> {
  const server = createServer((request, response) => {
    answer(simulator, request).then(
      (answered) => send(response, answered),
      (error: unknown) => send(response, problem(500, String(error))),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  simulator: ControlledSimulator,
  request: IncomingMessage,
): Promise<ControlAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  if (bytes > BODY_BYTES_MAX)
    return problem(413, `The body is larger than ${BODY_BYTES_MAX} bytes`);
  const body = Buffer.concat(chunks).toString();
  return answerControl(simulator, request.method ?? '', request.url ?? '', body);
}

function send(response: ServerResponse, { status, headers, body }: ControlAnswer): void {
  const isProblem = status >= 400;
  response.writeHead(status, {
    'content-type': isProblem ? 'application/problem+json' : 'application/json',
    ...headers,
  });
  response.end(`${JSON.stringify(body)}\n`);
}
