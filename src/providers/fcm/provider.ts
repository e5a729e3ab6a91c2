/** Google's FCM: Android devices, with a service account of the project. */

import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import type { Provider } from '../provider.ts';
import { PATIENCE_MS } from '../retry-policies.ts';
import { fcmOutcome } from './answer.ts';
import type { FcmCredential } from './credential.ts';
import { publicAccount } from './credential.ts';
import { FCM_FLAGS } from './credential-flags.ts';
import { fcmMinting } from './credentials.ts';
import { FCM_MEANINGS } from './meanings.ts';
import { fcmContent } from './message.ts';
import type { FcmOrigins } from './origins.ts';
import { fcmFaults } from './payload-faults.ts';
import { fcmProbe } from './probe.ts';
import { projectQuota } from './quota.ts';
import { createFcmSender, fcmTokenFault } from './sender.ts';
import { FCM_FAILED, FCM_LIMITS, FCM_PAYLOAD_BYTES_MAX } from './settings.ts';

export const FCM: Provider<FcmCredential, FcmOrigins> = {
  platformId: PLATFORMS.fcm,
  kind: 'fcm',
  name: 'FCM',

  credentialFlags: FCM_FLAGS,
  parseCredential: async (input, origins) =>
    (await import('./credential-form.ts')).parseFcm(input, origins),
  accountOf: ({ serviceAccount }) => serviceAccount.project_id,
  publicPart: ({ serviceAccount }) => ({ serviceAccount: publicAccount(serviceAccount) }),
  publicNote: () => null,

  meanings: FCM_MEANINGS,

  tokenFault: fcmTokenFault,

  payloadBytesMax: () => FCM_PAYLOAD_BYTES_MAX,
  content: fcmContent,
  faults: fcmFaults,
  warning: () => null,

  patienceMs: PATIENCE_MS,
  retryPolicy: () => ({ failed: FCM_FAILED, unknown: FCM_FAILED }),
  quota: ({ serviceAccount }, origins) => projectQuota(serviceAccount, origins),

  minting: ({ serviceAccount }, origins, trustedAt) =>
    fcmMinting(serviceAccount, origins, trustedAt),
  tooManyTokens: null,
  signedAtMs: () => null,

  createSender(credential, { origins, authorization, limits, makeTransport }) {
    const transport = makeTransport({
      origin: origins.fcm,
      authorization,
      limits: { ...FCM_LIMITS, ...limits },
      admits: null,
      outcomeOf: fcmOutcome,
    });
    return createFcmSender(credential, transport, origins.fcmTarget);
  },
  probe: fcmProbe,
  unaskedNote: () => null,
};
