/** Which sender, for which credential, to which origin, on which transport: the one place that knows all of them. */

import type { ApnsCredential, ApnsEnvironment, ProviderCredential } from '../domain/credential.ts';
import { dial as dialCompat } from '../transport/compat/dial.ts';
import { dial as dialHttp2 } from '../transport/http2/dial.ts';
import type { Dial } from '../transport/provider-connection.ts';
import { ProviderTransport } from '../transport/provider-transport.ts';
import type { TransportLimits, TransportName } from '../transport/transport.ts';
import { apnsOutcome } from './apns/answer.ts';
import { createApnsSender } from './apns/sender.ts';
import { APNS_LIMITS } from './apns/settings.ts';
import { fcmOutcome } from './fcm/answer.ts';
import { createFcmSender } from './fcm/sender.ts';
import { FCM_LIMITS } from './fcm/settings.ts';
import type { ProviderOrigins } from './origins.ts';
import { trustedAt } from './origins.ts';
import type { Sender } from './sender.ts';
import { TwoEnvironments } from './two-environments.ts';
import { isPublicAddress } from './webpush/public-address.ts';
import { WebPushSender } from './webpush/sender.ts';
import { WEB_PUSH_LIMITS } from './webpush/settings.ts';

export interface SenderOptions {
  readonly origins: ProviderOrigins;
  readonly transport: TransportName;
  /** The first value; `authorize` brings later ones. */
  readonly authorization: string;
  /** In place of single limits of the provider's settings: the operator's, or those of tests, which cannot wait for the real ones. */
  readonly limits?: Partial<TransportLimits>;
}

/** A sender that has not connected yet; it does with the first `whenReady`. */
export function createSender(credential: ProviderCredential, options: SenderOptions): Sender {
  const { origins, authorization, limits } = options;
  const dial = DIALS[options.transport];
  switch (credential.kind) {
    case 'apns':
      return apnsSender(credential, options);
    case 'fcm': {
      const transport = new ProviderTransport(dial, {
        origin: origins.fcm,
        ca: trustedAt(origins.fcm, origins),
        authorization,
        limits: { ...FCM_LIMITS, ...limits },
        admits: null,
        outcomeOf: fcmOutcome,
      });
      return createFcmSender(credential, transport, origins.fcmTarget);
    }
    case 'webpush':
      return new WebPushSender(credential, {
        hosts: origins.webPushHosts,
        fcmOrigin: origins.fcm,
        fcmTarget: origins.fcmTarget,
        authorization,
        makeTransport: (kind, origin, admission, outcomeOf) =>
          new ProviderTransport(dial, {
            origin,
            ca: trustedAt(origin, origins),
            authorization: '',
            limits: kind === 'fcm' ? { ...FCM_LIMITS, ...limits } : webPushLimits(limits),
            admits: admission === 'public' ? isPublicAddress : null,
            outcomeOf,
          }),
      });
  }
}

/** One push service of many: what is allowed for APNs is not more than enough for it. */
const webPushLimits = (limits: Partial<TransportLimits> = {}): TransportLimits => ({
  ...WEB_PUSH_LIMITS,
  ...limits,
  connectionsMax: Math.min(
    WEB_PUSH_LIMITS.connectionsMax,
    limits.connectionsMax ?? WEB_PUSH_LIMITS.connectionsMax,
  ),
});

const DIALS: Readonly<Record<TransportName, Dial>> = { http2: dialHttp2, compat: dialCompat };

/** In the credential's environment, and for tokens that are strangers there in the other one, where that is another place. */
function apnsSender(credential: ApnsCredential, options: SenderOptions): Sender {
  const { origins, authorization, limits } = options;
  const { environment } = credential;
  const inEnvironment = (origin: string, firstAuthorization: string): Sender => {
    const transport = new ProviderTransport(DIALS[options.transport], {
      origin,
      ca: trustedAt(origin, origins),
      authorization: firstAuthorization,
      limits: { ...APNS_LIMITS, ...limits },
      admits: null,
      outcomeOf: apnsOutcome,
    });
    return createApnsSender(credential, transport);
  };
  const originOf: Readonly<Record<ApnsEnvironment, string>> = {
    production: origins.apnsProduction,
    sandbox: origins.apnsSandbox,
  };
  const own = inEnvironment(originOf[environment], authorization);
  const otherOrigin = originOf[environment === 'production' ? 'sandbox' : 'production'];
  if (otherOrigin === originOf[environment]) return own;
  return new TwoEnvironments({
    own,
    ownEnvironment: environment,
    makeOther: (latest) => inEnvironment(otherOrigin, latest),
    authorization,
  });
}

/** Where pushes with this credential go. */
export function apnsOriginOf(credential: ApnsCredential, origins: ProviderOrigins): string {
  switch (credential.environment) {
    case 'production':
      return origins.apnsProduction;
    case 'sandbox':
      return origins.apnsSandbox;
  }
}
