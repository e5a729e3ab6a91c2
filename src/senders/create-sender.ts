/** Which sender, for which credential, to which origin, on which transport: the one place that knows all of them. */

import type { ApnsCredential, ProviderCredential } from '../domain/credential.ts';
import { apnsOutcome } from './apns/answer.ts';
import { createApnsSender } from './apns/sender.ts';
import { APNS_LIMITS } from './apns/settings.ts';
import { dial as dialCompat } from './compat/dial.ts';
import { fcmOutcome } from './fcm/answer.ts';
import { createFcmSender } from './fcm/sender.ts';
import { FCM_LIMITS } from './fcm/settings.ts';
import { dial as dialHttp2 } from './http2/dial.ts';
import type { ProviderOrigins } from './origins.ts';
import type { Dial } from './provider-connection.ts';
import { ProviderTransport } from './provider-transport.ts';
import type { Sender } from './sender.ts';
import type { TransportLimits, TransportName } from './transport.ts';
import { isPublicAddress } from './webpush/public-address.ts';
import { WebPushSender } from './webpush/sender.ts';
import { WEB_PUSH_LIMITS } from './webpush/settings.ts';

export interface SenderOptions {
  readonly origins: ProviderOrigins;
  readonly transport: TransportName;
  /** The first value; `authorize` brings later ones. */
  readonly authorization: string;
  /** In place of single limits of the provider's settings: tests cannot wait for the real ones. */
  readonly limits?: Partial<TransportLimits>;
}

/** A sender that has not connected yet; it does with the first `whenReady`. */
export function createSender(credential: ProviderCredential, options: SenderOptions): Sender {
  const { origins, authorization, limits } = options;
  const dial = DIALS[options.transport];
  const { ca } = origins;
  switch (credential.kind) {
    case 'apns': {
      const transport = new ProviderTransport(dial, {
        origin: apnsOriginOf(credential, origins),
        ca,
        authorization,
        limits: { ...APNS_LIMITS, ...limits },
        admits: null,
        outcomeOf: apnsOutcome,
      });
      return createApnsSender(credential, transport);
    }
    case 'fcm': {
      const transport = new ProviderTransport(dial, {
        origin: origins.fcm,
        ca,
        authorization,
        limits: { ...FCM_LIMITS, ...limits },
        admits: null,
        outcomeOf: fcmOutcome,
      });
      return createFcmSender(credential, transport);
    }
    case 'webpush':
      return new WebPushSender(credential, {
        hosts: origins.webPushHosts,
        fcmOrigin: origins.fcm,
        authorization,
        waitMsMax: { ...WEB_PUSH_LIMITS, ...limits }.requestTimeoutMs,
        makeTransport: (kind, origin, admission, outcomeOf) =>
          new ProviderTransport(dial, {
            origin,
            ca,
            authorization: '',
            limits: { ...(kind === 'fcm' ? FCM_LIMITS : WEB_PUSH_LIMITS), ...limits },
            admits: admission === 'public' ? isPublicAddress : null,
            outcomeOf,
          }),
      });
  }
}

const DIALS: Readonly<Record<TransportName, Dial>> = { http2: dialHttp2, compat: dialCompat };

function apnsOriginOf(credential: ApnsCredential, origins: ProviderOrigins): string {
  switch (credential.environment) {
    case 'production':
      return origins.apnsProduction;
    case 'sandbox':
      return origins.apnsSandbox;
  }
}
