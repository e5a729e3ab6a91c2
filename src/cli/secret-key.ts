/** `tagcast secret-key rotate`: brings everything under a new SECRET_KEY. */

import type { RotatedKey } from '../operator/secret-key-actions.ts';
import type { Command } from './command.ts';
import type { Errand, OperatorContext } from './operator-command.ts';
import { readFlags, readPositionals, runErrand, UsageError } from './operator-command.ts';

const USAGE = `tagcast secret-key rotate

Hashes and encrypts anew, under SECRET_KEY, whatever was made with SECRET_KEY_OTHER. Without stopping the service:

  1. start every node again with SECRET_KEY_OTHER set to the new key: all can read both
  2. start every node again with SECRET_KEY the new one, SECRET_KEY_OTHER the old one
  3. run this, with the same two; when it is broken off, run it again
  4. start every node again without SECRET_KEY_OTHER

Callers' credentials stay what they are.`;

/** Makes the command. */
export const secretKeyCommand = (context: OperatorContext): Command => ({
  usage: USAGE,
  run: (args) => runErrand(context, USAGE, args, plan),
});

function plan(verb: string, args: readonly string[]): Errand {
  if (verb !== 'rotate') throw new UsageError(`secret-key needs rotate\n${USAGE}`);
  readPositionals(readFlags(args, {}).positionals, []);
  return {
    action: 'secret-key.rotate',
    input: {},
    describe: ({ keyId, changed, unreadable }: RotatedKey) =>
      unreadable === 0
        ? `${changed} were brought under SECRET_KEY (key ${keyId}). Nothing is left under another: start the nodes again without SECRET_KEY_OTHER.`
        : `${changed} were brought under SECRET_KEY (key ${keyId}). ${unreadable} cannot be read with SECRET_KEY_OTHER and are as they were: set that to the key that they were made with, and run this again.`,
    failed: ({ unreadable }: RotatedKey) => unreadable > 0,
  };
}
