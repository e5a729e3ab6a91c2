/** FCM's credential on the command line. */

import { parseJson } from '../../../packages/std/src/json.ts';
import type { CredentialFlags, GivenFlags } from '../credential-flags.ts';

export const FCM_FLAGS: CredentialFlags = {
  usage: '--service-account-file <file.json>',
  flags: {
    'service-account-file': {
      type: 'string',
      value: 'file',
      about: "JSON file of the project's service account",
    },
  },
  read: readServiceAccount,
};

export async function readServiceAccount(given: GivenFlags): Promise<object> {
  const path = given.text('service-account-file');
  const serviceAccount = parseJson(await given.readFile(path));
  return serviceAccount === undefined ? given.refuse(`${path} is not JSON`) : { serviceAccount };
}
