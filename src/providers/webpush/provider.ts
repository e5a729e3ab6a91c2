/** Web Push: through the browsers' makers with VAPID keys, or through FCM with FCM tokens. */

import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import { isPublicAddress } from '../../std/public-address.ts';
import type { TransportLimits } from '../../transport/transport.ts';
import { publicAccount } from '../fcm/credential.ts';
import { fcmMinting } from '../fcm/credentials.ts';
import { fcmProbe } from '../fcm/probe.ts';
import { projectQuota } from '../fcm/quota.ts';
import { fcmTokenFault } from '../fcm/sender.ts';
import { FCM_LIMITS } from '../fcm/settings.ts';
import { NOBODY_ASKED } from '../nobody-asked.ts';
import type { Provider } from '../provider.ts';
import { NO_KNOWN_RULES } from '../retry-policies.ts';
import { ANSWER_FIELDS } from './answer.ts';
import type { WebPushCredential } from './credential.ts';
import { WEB_PUSH_FLAGS } from './credential-flags.ts';
import { pushContent } from './message.ts';
import type { WebPushOrigins } from './origins.ts';
import { webPushFaults } from './payload-faults.ts';
import { WebPushSender } from './sender.ts';
import { WEB_PUSH_LIMITS, WEB_PUSH_PATIENCE_MS, WEB_PUSH_PAYLOAD_BYTES_MAX } from './settings.ts';
import { readDevice } from './subscription.ts';

export const WEB_PUSH: Provider<WebPushCredential, WebPushOrigins> = {
  platformId: PLATFORMS.webpush,
  kind: 'webpush',
  name: 'Web Push',

  credentialFlags: WEB_PUSH_FLAGS,
  parseCredential: async (input, origins) =>
    (await import('./credential-form.ts')).parseWebPush(input, origins),
  accountOf: () => null,
  publicPart: ({ vapid, serviceAccount }) => ({
    ...(vapid === null ? {} : { vapid: { publicKey: vapid.publicKey, subject: vapid.subject } }),
    ...(serviceAccount === null ? {} : { serviceAccount: publicAccount(serviceAccount) }),
  }),
  publicNote: ({ vapid }) =>
    vapid === null ? null : `Web pages subscribe with applicationServerKey ${vapid.publicKey}`,

  // Refusals of one push service are no fault of the scope; FCM explains its own.
  meanings: {},

  tokenFault: webPushTokenFault,

  payloadBytesMax: () => WEB_PUSH_PAYLOAD_BYTES_MAX,
  content: pushContent,
  faults: webPushFaults,
  warning: () => null,

  patienceMs: WEB_PUSH_PATIENCE_MS,
  retryPolicy: () => NO_KNOWN_RULES,
  // If it has keys too, most of its devices are subscriptions, which no project's quota counts.
  quota: ({ vapid, serviceAccount }, origins) =>
    vapid === null && serviceAccount !== null ? projectQuota(serviceAccount, origins) : null,

  // Workers make VAPID tokens themselves; only devices with FCM tokens wait for Google.
  minting: ({ vapid, serviceAccount }, origins, trustedAt) =>
    serviceAccount === null
      ? null
      : { ...fcmMinting(serviceAccount, origins, trustedAt), isOptional: vapid !== null },
  tooManyTokens: null,
  signedAtMs: () => null,

  createSender: (credential, { origins, authorization, limits, makeTransport }) =>
    new WebPushSender(credential, {
      hosts: origins.webPushHosts,
      fcmOrigin: origins.fcm,
      fcmTarget: origins.fcmTarget,
      authorization,
      makeTransport: (kind, origin, admission, outcomeOf) =>
        makeTransport({
          origin,
          authorization: '',
          limits: kind === 'fcm' ? { ...FCM_LIMITS, ...limits } : serviceLimits(limits),
          admits: admission === 'public' ? isPublicAddress : null,
          readFields: kind === 'fcm' ? [] : ANSWER_FIELDS,
          outcomeOf,
        }),
    }),
  // A push service knows a VAPID key only from subscriptions made with it: so it cannot be asked.
  probe: ({ serviceAccount }, authorization, origins) =>
    serviceAccount === null ? null : fcmProbe({ serviceAccount }, authorization, origins),
  unaskedNote: ({ vapid }) =>
    vapid === null
      ? null
      : `${NOBODY_ASKED} about the VAPID key: a push service knows it only from browsers that have subscribed with it.`,
};

function webPushTokenFault(deviceId: string): string | null {
  const device = readDevice(deviceId, Date.now());
  if (device.kind === 'fcm-token') return fcmTokenFault(deviceId);
  return device.kind === 'unusable' && device.reason === 'BadSubscription'
    ? "must be a browser's subscription, with an https endpoint and its keys p256dh and auth, or a token of FCM"
    : null;
}

/** The limits of one push service: the operator's `connectionsMax` may only lower its own. */
const serviceLimits = (limits: Partial<TransportLimits>): TransportLimits => ({
  ...WEB_PUSH_LIMITS,
  ...limits,
  connectionsMax: Math.min(
    WEB_PUSH_LIMITS.connectionsMax,
    limits.connectionsMax ?? WEB_PUSH_LIMITS.connectionsMax,
  ),
});
