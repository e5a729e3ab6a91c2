/** APNs' credential on the command line. */

import type { CredentialFlags } from '../credential-flags.ts';

export const APNS_FLAGS: CredentialFlags = {
  usage: '--team-id <id> --key-id <id> --key-file <file.p8> --bundle-id <id> [--sandbox]',
  flags: {
    'team-id': { type: 'string' },
    'key-id': { type: 'string' },
    'key-file': { type: 'string' },
    'bundle-id': { type: 'string' },
    sandbox: { type: 'boolean' },
  },
  read: async (given) => ({
    teamId: given.text('team-id'),
    keyId: given.text('key-id'),
    bundleId: given.text('bundle-id'),
    environment: given.isSet('sandbox') ? 'sandbox' : 'production',
    privateKey: await given.readFile(given.text('key-file')),
  }),
};
