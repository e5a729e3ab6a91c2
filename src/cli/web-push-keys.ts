/** Web Push for `tagcast app`: makes a new VAPID key pair. */

import { generateVapidKeys } from '../providers/webpush/credential-form.ts';
import { readFlags, readPositionals } from './operator-command.ts';
import { createPrivateFile } from './private-file.ts';

/**
 * `tagcast app vapid`: needs no engine, and stores the keys only in the file that it is given.
 * Returns the text to print.
 */
export async function makeVapidKeys(args: readonly string[]): Promise<string> {
  const { values, positionals } = readFlags(args, { output: { type: 'string' } });
  readPositionals(positionals, []);
  const { output: path } = values;
  const keys = generateVapidKeys();
  const text = JSON.stringify(keys, null, 2);
  if (path === undefined) return text;
  const file = await createPrivateFile(path);
  try {
    await file.appendFile(`${text}\n`);
  } finally {
    await file.close();
  }
  return `${path} holds the keys. Web pages subscribe with applicationServerKey ${keys.publicKey}`;
}
