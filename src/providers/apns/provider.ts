/** Apple's APNs: iOS devices, with a key of the team. */

import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import type { ApnsEnvironment } from '../../domain/device.ts';
import type { Provider, SenderParts } from '../provider.ts';
import { LOST_ON_THE_WAY, PATIENCE_MS } from '../retry-policies.ts';
import type { Sender } from '../sender.ts';
import { apnsOutcome } from './answer.ts';
import type { ApnsCredential } from './credential.ts';
import { APNS_FLAGS } from './credential-flags.ts';
import { apnsMinting, signedAtMsOf } from './credentials.ts';
import { APNS_MEANINGS } from './meanings.ts';
import { apnsContent } from './message.ts';
import type { ApnsOrigins } from './origins.ts';
import { apnsOriginOf } from './origins.ts';
import { apnsFaults, apnsWarning } from './payload-faults.ts';
import { apnsProbe } from './probe.ts';
import { createApnsSender, isHexOctets } from './sender.ts';
import {
  APNS_LIMITS,
  APNS_PAYLOAD_BYTES_MAX,
  apnsFailed,
  PROVIDER_TOKEN_UPDATES_PAUSE_MS,
  TOKEN_DIGITS_MAX,
  TOO_MANY_TOKENS,
  VOIP_PAYLOAD_BYTES_MAX,
} from './settings.ts';
import { TwoEnvironments } from './two-environments.ts';

export const APNS: Provider<ApnsCredential, ApnsOrigins> = {
  platformId: PLATFORMS.apns,
  kind: 'apns',
  name: 'APNs',

  credentialFlags: APNS_FLAGS,
  parseCredential: async (input) => (await import('./credential-form.ts')).parseApns(input),
  accountOf: ({ teamId, bundleId, environment }) => JSON.stringify([teamId, bundleId, environment]),
  publicPart: ({ teamId, keyId, bundleId, environment }) => ({
    teamId,
    keyId,
    bundleId,
    environment,
  }),
  publicNote: () => null,

  meanings: APNS_MEANINGS,

  tokenFault: (deviceId) =>
    isHexOctets(deviceId)
      ? null
      : `must be a token of APNs: an even number of hexadecimal digits, ${TOKEN_DIGITS_MAX} at most`,

  payloadBytesMax: ({ apnsPushType }) =>
    apnsPushType === 'voip' ? VOIP_PAYLOAD_BYTES_MAX : APNS_PAYLOAD_BYTES_MAX,
  content: apnsContent,
  faults: apnsFaults,
  warning: apnsWarning,

  patienceMs: PATIENCE_MS,
  retryPolicy: ({ apnsRetryMs }) => ({ failed: apnsFailed(apnsRetryMs), unknown: LOST_ON_THE_WAY }),
  quota: () => null,

  minting: apnsMinting,
  signedAtMs: signedAtMsOf,
  tooManyTokens: { reason: TOO_MANY_TOKENS, pauseMs: PROVIDER_TOKEN_UPDATES_PAUSE_MS },

  createSender: createSenderOfBoth,
  probe: apnsProbe,
  unaskedNote: () => null,
};

/** Tokens unknown to its environment go to the other one, if that has another address. */
function createSenderOfBoth(credential: ApnsCredential, parts: SenderParts<ApnsOrigins>): Sender {
  const { origins, authorization, limits, makeTransport } = parts;
  const { environment } = credential;
  const at = (origin: string, latest: string): Sender => {
    const transport = makeTransport({
      origin,
      authorization: latest,
      limits: { ...APNS_LIMITS, ...limits },
      admits: null,
      outcomeOf: apnsOutcome,
    });
    return createApnsSender(credential, transport);
  };
  const other: ApnsEnvironment = environment === 'production' ? 'sandbox' : 'production';
  const ownOrigin = apnsOriginOf(environment, origins);
  const otherOrigin = apnsOriginOf(other, origins);
  const own = at(ownOrigin, authorization);
  if (otherOrigin === ownOrigin) return own;
  return new TwoEnvironments({
    own,
    ownEnvironment: environment,
    makeOther: (latest) => at(otherOrigin, latest),
    authorization,
  });
}
