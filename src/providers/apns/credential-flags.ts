/** APNs' credential on the command line. */

import type { CredentialFlags } from '../credential-flags.ts';

export const APNS_FLAGS: CredentialFlags = {
  usage: '--team-id <id> --key-id <id> --key-file <file.p8> --bundle-id <id> [--sandbox]',
  flags: {
    'team-id': { type: 'string', value: 'id', about: 'team id of the Apple developer account' },
    'key-id': { type: 'string', value: 'id', about: 'id of the key' },
    'key-file': { type: 'string', value: 'file', about: 'the .p8 file of the key' },
    'bundle-id': { type: 'string', value: 'id', about: "the app's bundle id" },
    sandbox: { type: 'boolean', about: 'ask the sandbox first, for tokens of debug builds' },
  },
  read: async (given) => ({
    teamId: given.text('team-id'),
    keyId: given.text('key-id'),
    bundleId: given.text('bundle-id'),
    environment: given.isSet('sandbox') ? 'sandbox' : 'production',
    privateKey: await given.readFile(given.text('key-file')),
  }),
};
