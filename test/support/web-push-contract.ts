/** The contract of every sender, for Web Push on one transport. */

import type { Test } from 'tap';
import { createSender } from '../../src/providers/create-sender.ts';
import type { TransportName } from '../../src/transport/transport.ts';
import { senderContract } from '../contract/sender.ts';
import { DEFAULT_ORIGINS } from './default-origins.ts';
import { webPushCredential } from './provider-credentials.ts';
import { deviceAt, hostOf } from './web-push-sending.ts';

export function webPushContract(t: Test, transport: TransportName): void {
  let origin = '';
  senderContract(t, {
    name: `webpush on ${transport}`,
    make: (peer, limits = {}) => {
      origin = peer.origin;
      const credential = webPushCredential();
      const origins = { ...DEFAULT_ORIGINS, webPushHosts: [hostOf(peer.origin)], ca: peer.ca };
      return createSender(credential, { origins, transport, authorization: '', limits });
    },
    token: (number) => deviceAt(`${origin}/push/${number}`),
    longToken: () => deviceAt(`${origin}/push/${'x'.repeat(2_000)}`),
    tokenOf: ({ headers }) => deviceAt(`${origin}${headers[':path']}`),
    expiredAuthorization: null,
  });
}
