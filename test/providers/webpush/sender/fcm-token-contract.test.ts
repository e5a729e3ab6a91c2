/** The contract of every sender, kept towards FCM, for the browsers that have one of its tokens. */

import t from 'tap';
import { createSender } from '../../../../src/providers/create-sender.ts';
import { TRANSPORTS } from '../../../../src/transport/transport.ts';
import { senderContract } from '../../../contract/sender.ts';
import { DEFAULT_ORIGINS } from '../../../support/default-origins.ts';
import { credentialForFcmTokens } from '../../../support/web-push-sending.ts';

for (const transport of TRANSPORTS) {
  const credential = credentialForFcmTokens();
  senderContract(t, {
    name: `webpush to FCM tokens on ${transport}`,
    make: (peer, limits = {}) => {
      const origins = { ...DEFAULT_ORIGINS, fcm: peer.origin, ca: peer.ca };
      return createSender(credential, { origins, transport, authorization: 'Bearer x', limits });
    },
    token: (number) => `token:${number}`,
    tokenOf: ({ body }) => JSON.parse(body).message.token,
    expiredAuthorization: {
      status: 401,
      body: { error: { code: 401, status: 'UNAUTHENTICATED' } },
    },
  });
}
