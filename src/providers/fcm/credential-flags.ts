/** FCM's credential on the command line. */

import type { CredentialFlags, GivenFlags } from '../credential-flags.ts';

export const FCM_FLAGS: CredentialFlags = {
  usage: '--service-account-file <file.json>',
  flags: { 'service-account-file': { type: 'string' } },
  read: readServiceAccount,
};

export async function readServiceAccount(given: GivenFlags): Promise<object> {
  const path = given.text('service-account-file');
  const text = await given.readFile(path);
  try {
    return { serviceAccount: JSON.parse(text) };
  } catch (error) {
    return given.refuse(`${path} is not JSON`, error);
  }
}
