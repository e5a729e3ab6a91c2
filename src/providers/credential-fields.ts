/** The fields of the providers' credentials, as the OpenAPI document describes them. */

import { z } from 'zod';

const text = z.string();

export const credentialFields = {
  teamId: text.optional().meta({ description: 'iOS.' }),
  keyId: text.optional().meta({ description: 'iOS.' }),
  privateKey: text.optional().meta({ description: 'iOS: the .p8 file.' }),
  bundleId: text.optional().meta({ description: 'iOS.' }),
  environment: text
    .optional()
    .meta({ description: 'iOS: `production`, the default, or `sandbox`.' }),
  serviceAccount: z.unknown().optional().meta({
    description:
      'Android, and browsers with FCM: the JSON of its file. A `token_uri` that is not where this service asks for access tokens is `400`.',
  }),
  vapid: z.unknown().optional().meta({
    description:
      'Web: an object of `privateKey`, `subject`, and, if you like, `publicKey`. There `serviceAccount` may be given too, or alone.',
  }),
};
