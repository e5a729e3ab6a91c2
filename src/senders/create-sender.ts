/** Which sender, for which credential, to which origin: the one place that knows all providers. */

import type { ApnsCredential, ProviderCredential } from '../domain/credential.ts';
import { apnsOutcome } from './apns/answer.ts';
import { createApnsSender } from './apns/sender.ts';
import { APNS_LIMITS } from './apns/settings.ts';
import { CompatTransport } from './compat/transport.ts';
import { fcmOutcome } from './fcm/answer.ts';
import { createFcmSender } from './fcm/sender.ts';
import { FCM_LIMITS } from './fcm/settings.ts';
import type { ProviderOrigins } from './origins.ts';
import type { Sender } from './sender.ts';
import type { TransportLimits } from './transport.ts';

/**
 * A sender that has not connected yet; it does with the first `whenReady`. `limits` replaces single limits of the
 * provider's settings (tests cannot wait for the real ones).
 */
export function createSender(
  credential: ProviderCredential,
  origins: ProviderOrigins,
  authorization: string,
  limits: Partial<TransportLimits> = {},
): Sender {
  const { ca } = origins;
  switch (credential.kind) {
    case 'apns': {
      const transport = new CompatTransport({
        origin: apnsOriginOf(credential, origins),
        ca,
        authorization,
        limits: { ...APNS_LIMITS, ...limits },
        outcomeOf: apnsOutcome,
      });
      return createApnsSender(credential, transport);
    }
    case 'fcm': {
      const transport = new CompatTransport({
        origin: origins.fcm,
        ca,
        authorization,
        limits: { ...FCM_LIMITS, ...limits },
        outcomeOf: fcmOutcome,
      });
      return createFcmSender(credential, transport);
    }
  }
}

function apnsOriginOf(credential: ApnsCredential, origins: ProviderOrigins): string {
  switch (credential.environment) {
    case 'production':
      return origins.apnsProduction;
    case 'sandbox':
      return origins.apnsSandbox;
  }
}
