/** Asks APNs whether it accepts a credential. */

import type { Probe } from '../provider.ts';
import { apnsOutcome } from './answer.ts';
import type { ApnsCredential } from './credential.ts';
import type { ApnsOrigins } from './origins.ts';
import { apnsOriginOf } from './origins.ts';

/** Apple has no token of one octet: APNs refuses it for its form, in both environments. */
const NO_DEVICE = '00';

export const apnsProbe = (
  { environment, bundleId }: ApnsCredential,
  authorization: string,
  origins: ApnsOrigins,
): Probe => ({
  request: {
    origin: apnsOriginOf(environment, origins),
    path: `/3/device/${NO_DEVICE}`,
    fields: {
      authorization,
      'apns-topic': bundleId,
      'apns-push-type': 'background',
      'apns-priority': '5',
      'apns-expiration': '0',
    },
    body: '{"aps":{"content-available":1}}',
  },
  outcomeOf: apnsOutcome,
});
