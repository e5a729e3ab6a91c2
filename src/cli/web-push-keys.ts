/** What `tagcast app` needs of Web Push: a fresh VAPID key pair, and the credential as it is written on the command line. */

import { generateVapidKeys } from '../access/web-push-credential.ts';
import type { Terminal } from './operator-command.ts';
import { UsageError } from './operator-command.ts';

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
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) return parsed;
  } catch {
    // The sentence below.
  }
  throw new UsageError(`${path} is neither JSON with publicKey and privateKey nor a PEM`);
}

/** `tagcast app vapid`: needs no store, and keeps nothing. */
export function printVapidKeys(terminal: Terminal): number {
  terminal.print(JSON.stringify(generateVapidKeys(), null, 2));
  return 0;
}
