/** `tagcast secret-key rotate`: brings everything under a new SECRET_KEY. */

import type { TagcastClient } from '../../packages/client/src/client.ts';
import type { AnswerOf, RequestOf } from '../../packages/client/src/types.ts';
import { counted, format } from '../std/counted.ts';
import type { Command } from './command.ts';
import { verb } from './command.ts';
import type { OperatorContext } from './operator-command.ts';
import { asking, errandCommand } from './operator-command.ts';

const ROTATE = '/operator/v1/secret-key/rotate';

const NOTES = `Hashes and encrypts again, under SECRET_KEY, everything that was made with SECRET_KEY_OTHER. Without stopping the service:

  1. start every node again with SECRET_KEY_OTHER set to the new key: all can read both
  2. start every node again with SECRET_KEY the new one, SECRET_KEY_OTHER the old one
  3. run this, with the same two; when it is broken off, run it again
  4. start every node again without SECRET_KEY_OTHER

Callers' credentials stay what they are.`;

export const secretKeyCommand = (context: OperatorContext): Command =>
  errandCommand(context, {
    name: 'secret-key',
    verbs: {
      rotate: verb({ summary: 'Brings everything under a new SECRET_KEY.', notes: NOTES }, () =>
        asking(rotate, describe, ({ unreadable }) => unreadable > 0),
      ),
    },
  });

interface Rotated {
  readonly keyId: string;
  readonly changed: number;
  /** Left as they were: made with neither key, or damaged. */
  readonly unreadable: number;
}

/** Piece by piece: none takes long, however much there is. */
async function rotate(api: TagcastClient): Promise<Rotated> {
  let changed = 0;
  let unreadable = 0;
  let asked: RequestOf<'POST', typeof ROTATE> = { body: {} };
  while (true) {
    const answer: AnswerOf<'POST', typeof ROTATE> = await api.request('POST', ROTATE, asked);
    const { body: piece } = answer;
    changed += piece.changed;
    unreadable += piece.unreadable;
    if (piece.next === undefined) return { keyId: piece.keyId, changed, unreadable };
    asked = { body: piece.next };
  }
}

const describe = ({ keyId, changed, unreadable }: Rotated): string =>
  unreadable === 0
    ? `Under SECRET_KEY (key ${keyId}) now: ${counted(changed, 'secret')}. Nothing is left under another: start the nodes again without SECRET_KEY_OTHER.`
    : `Under SECRET_KEY (key ${keyId}) now: ${counted(changed, 'secret')}. Left as before: ${format(unreadable)}, for SECRET_KEY_OTHER cannot read that: set it to the key that it was made with, and run this again.`;
