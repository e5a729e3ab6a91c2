/** Web Push's credential on the command line. */

import { parseObject } from '../../../packages/std/src/json.ts';
import type { CredentialFlags, GivenFlags } from '../credential-flags.ts';
import { FCM_FLAGS, readServiceAccount } from '../fcm/credential-flags.ts';

export const WEB_PUSH_FLAGS: CredentialFlags = {
  usage:
    '[--vapid-file <keys.json|key.pem> --subject <mailto:…|https://…>] [--service-account-file <file.json>]',
  flags: {
    'vapid-file': { type: 'string', value: 'file', about: 'VAPID keys, JSON or PEM' },
    subject: { type: 'string', value: 'mailto:…|https://…', about: 'contact for push services' },
    ...FCM_FLAGS.flags,
  },
  /** The file's keys with the subject beside them; absent parts stay absent. */
  async read(given) {
    const hasKeys = given.isSet('vapid-file');
    const keys = hasKeys ? await readKeys(given.text('vapid-file'), given) : null;
    const hasAccount = given.isSet('service-account-file');
    if (!(hasKeys || hasAccount)) {
      given.refuse('--vapid-file or --service-account-file is missing');
    }
    const account = hasAccount ? await readServiceAccount(given) : null;
    return {
      ...(keys === null ? {} : { vapid: { ...keys, subject: given.text('subject') } }),
      ...account,
    };
  },
};

/** A PEM, or the JSON that `app vapid` and `web-push generate-vapid-keys --json` print. */
async function readKeys(path: string, given: GivenFlags): Promise<object> {
  const text = await given.readFile(path);
  if (text.includes('-----BEGIN')) return { privateKey: text };
  return (
    parseObject(text) ??
    given.refuse(`${path} is neither JSON with publicKey and privateKey nor a PEM`)
  );
}
