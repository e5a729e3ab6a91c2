/** A sender of Web Push towards push services of a test, and the browsers that it sends to. */

import type { Test } from 'tap';
import { PushSubscriptions } from '../../packages/simulator/src/webpush/push-subscriptions.ts';
import type { Message, Payload } from '../../src/domain/notification.ts';
import type { Outcome } from '../../src/domain/outcome.ts';
import { createSender } from '../../src/providers/create-sender.ts';
import type { Sender } from '../../src/providers/sender.ts';
import type { WebPushCredential } from '../../src/providers/webpush/credential.ts';
import type { TransportLimits, TransportName } from '../../src/transport/transport.ts';
import { DEFAULT_ORIGINS } from './default-origins.ts';
import { fcmCredential, webPushCredential } from './provider-credentials.ts';
import type { ProviderPeer, Script } from './provider-peer.ts';
import { startProviderPeer } from './provider-peer.ts';

export const message = (payload: Partial<Payload> = {}): Message => ({
  notificationId: 'n',
  payload: { title: 'Goal!', message: '1:0', data: { game: 7 }, ...payload },
  expiresAtMs: null,
  dueAtMs: Date.now(),
});

export const hostOf = (origin: string): string => new URL(origin).host;

interface SenderOptions {
  readonly transport?: TransportName;
  readonly limits?: Partial<TransportLimits>;
  readonly credential?: WebPushCredential;
}

export function senderTo(
  t: Test,
  peers: readonly Pick<ProviderPeer, 'origin' | 'ca'>[],
  { transport = 'http2', limits = {}, credential = webPushCredential() }: SenderOptions = {},
): Sender {
  const sender = createSender(credential, {
    origins: {
      ...DEFAULT_ORIGINS,
      webPushHosts: peers.map(({ origin }) => hostOf(origin)),
      ca: peers.map(({ ca }) => ca).join('\n'),
    },
    transport,
    authorization: '',
    limits: { drainTimeoutMs: 100, ...limits },
  });
  t.teardown(() => sender.close());
  return sender;
}

export async function peerFor(t: Test, script: Script): Promise<ProviderPeer> {
  const peer = await startProviderPeer({ script });
  t.teardown(() => peer.close());
  return peer;
}

export const browsers = new PushSubscriptions();
export const subscriptionAt = (origin: string): string =>
  JSON.stringify(browsers.subscribe(origin, undefined));

export const ANY_SUBSCRIPTION = subscriptionAt('https://push.example.com');
/** All of these have the same keys, which cost more than a sender's work. */
export const deviceAt = (endpoint: string): string =>
  JSON.stringify({ endpoint, keys: JSON.parse(ANY_SUBSCRIPTION).keys });

/** One send; the caller has nothing else under way. */
export async function send(sender: Sender, deviceId: string, of = message()): Promise<Outcome> {
  await sender.whenReady();
  return new Promise((resolve) =>
    sender.send(sender.render(of), deviceId, 0, (_, outcome) => resolve(outcome)),
  );
}

/** Without a VAPID key: it sends to FCM tokens only. */
export const credentialForFcmTokens = (): WebPushCredential => ({
  kind: 'webpush',
  vapid: null,
  serviceAccount: fcmCredential().serviceAccount,
});
