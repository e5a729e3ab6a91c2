/**
 * `web-push`, what Node programs send Web Push with: HTTPS/1.1, a request on a connection at a
 * time.
 */

import { Agent, globalAgent } from 'node:https';
import type { WebPushCredential } from '../../src/providers/webpush/credential.ts';
import { pushContent } from '../../src/providers/webpush/message.ts';
import { NEWS } from '../push.ts';
import type { Open } from './flow.ts';
import { loadPeer } from './peer.ts';

interface WebPush {
  sendNotification(subscription: object, payload: string, options: object): Promise<unknown>;
}

/** Requests at a time, each on a connection. Its one thread is busy with a tenth of them. */
const IN_FLIGHT = 50;

/** With an agent that keeps connections for later, or with the default. */
export const webPush =
  (hasAgent: boolean): Open<WebPushCredential> =>
  (sink, settled) => {
    const { sendNotification } = loadPeer('web-push') as WebPush;
    globalAgent.options.ca = sink.ca;
    const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT, ca: sink.ca });
    const { vapid: vapidDetails } = sink.credential;
    const options = { vapidDetails, TTL: 60, ...(hasAgent ? { agent } : {}) };
    const subscriptions = new Map(sink.tokens.map((token) => [token, JSON.parse(token) as object]));
    const payload = pushContent(NEWS);
    return Promise.resolve({
      hasRoom: (underWay) => underWay < IN_FLIGHT,
      push: (token, position) => {
        sendNotification(subscriptions.get(token) ?? {}, payload, options).then(
          () => settled(position),
          (error: unknown) => settled(position, error),
        );
      },
      close: () => agent.destroy(),
    });
  };
