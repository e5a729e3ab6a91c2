/** Web Push for `tagcast app`: makes a new VAPID key pair. */

import { generateVapidKeys } from '../providers/webpush/credential-form.ts';
import type { Told } from './operator-command.ts';
import { createPrivateFile } from './private-file.ts';

/** `tagcast app vapid`: stores the keys only in the file that it is given. */
export async function makeVapidKeys(path: string | undefined): Promise<Told> {
  const keys = generateVapidKeys();
  const text = JSON.stringify(keys, null, 2);
  if (path === undefined) return { value: keys, text };
  const file = await createPrivateFile(path);
  try {
    await file.appendFile(`${text}\n`);
  } finally {
    await file.close();
  }
  return {
    value: { file: path, publicKey: keys.publicKey },
    text: `${path} holds the keys. Web pages subscribe with applicationServerKey ${keys.publicKey}`,
  };
}
