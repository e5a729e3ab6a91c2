/**
 * Proves which process holds a directory whose socket's file is gone: it listens on a name, too.
 * Every user can bind that name, so an answer must show the directory's secret.
 */

import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { connect } from 'node:net';

/** Random octets that the holder is asked to sign. */
const QUESTION_OCTETS = 32;
/**
 * An engine answers within milliseconds, and a stranger on its name delays a start by as much.
 * @limit the holder of `DATA_DIR` proves that it is, when the file of its socket is gone → it
 * counts as dead
 */
const PROOF_MS_MAX = 2_000;

/** Shows nothing of the secret to those who see the name. */
export const holderName = (name: string, secret: string): string =>
  `${name}-${createHash('sha256').update(secret).digest('hex')}`;

const proofOf = (secret: string, question: Buffer): Buffer =>
  createHmac('sha256', secret).update(question).digest();

/** Answers those who ask on the holder's name. */
export const proveTo =
  (secret: string) =>
  (socket: Socket): void => {
    socket.setTimeout(PROOF_MS_MAX, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.once('data', (question) => socket.end(proofOf(secret, Buffer.from(question))));
  };

/** Whether a process that knows the secret listens on the holder's name. */
export function isProven(name: string, secret: string): Promise<boolean> {
  const question = randomBytes(QUESTION_OCTETS);
  const expected = proofOf(secret, question);
  return new Promise((resolve) => {
    const socket = connect(holderName(name, secret));
    const finish = (isHolder: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isHolder);
    };
    const timer = setTimeout(() => finish(false), PROOF_MS_MAX);
    socket.once('connect', () => socket.write(question));
    socket.once('data', (answer) => finish(expected.equals(Buffer.from(answer))));
    socket.once('end', () => finish(false));
    socket.once('error', () => finish(false));
  });
}
