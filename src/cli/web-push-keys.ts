/** What `tagcast app` needs of Web Push: a fresh VAPID key pair, and the credential as it is written on the command line. */

import { generateVapidKeys } from '../providers/webpush/credential-form.ts';
import { parseObject } from '../std/json.ts';
import { readFlags, readPositionals, UsageError } from './operator-command.ts';
import { createPrivateFile } from './private-file.ts';

/** The file's keys with the subject beside them; absent parts stay absent. */
export function readWebPush(
  keys: { readonly path: string; readonly text: string } | null,
  subject: string | undefined,
  account: object | null,
): unknown {
  if (keys === null && account === null) {
    throw new UsageError('--vapid-file or --service-account-file is missing');
  }
  if (keys !== null && subject === undefined) throw new UsageError('--subject is missing');
  return {
    ...(keys === null ? {} : { vapid: { ...keysIn(keys), subject } }),
    ...account,
  };
}

/** A PEM, or the JSON that `app vapid` and `web-push generate-vapid-keys --json` print. */
function keysIn({ path, text }: { readonly path: string; readonly text: string }): object {
  if (text.includes('-----BEGIN')) return { privateKey: text };
  const keys = parseObject(text);
  if (keys !== undefined) return keys;
  throw new UsageError(`${path} is neither JSON with publicKey and privateKey nor a PEM`);
}

/** `tagcast app vapid`: needs no engine, and keeps the keys nowhere but in the file that it is asked for. Answers what to print. */
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
