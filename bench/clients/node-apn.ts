/** `@parse/node-apn`, the client that Node programs have sent to APNs with for ten years. */

import { ALERT } from '../push.ts';
import { inProcess } from './in-process.ts';
import { loadPeer } from './peer.ts';

interface NodeApn {
  readonly Provider: new (
    options: object,
  ) => {
    send(
      notification: object,
      tokens: readonly string[],
    ): Promise<{ readonly failed: readonly object[] }>;
    shutdown(): void;
  };
  readonly Notification: new (fields: object) => object;
}

/**
 * Tokens in one call of `send`: the notification is then made into JSON once for them, a quarter
 * faster than one each.
 */
const BATCH = 100;

export const nodeApn = inProcess('@parse/node-apn', (sink, settled) => {
  const { Provider, Notification } = loadPeer('@parse/node-apn') as NodeApn;
  const { privateKey: key, keyId, teamId, bundleId } = sink.credential;
  const provider = new Provider({
    address: sink.host,
    port: sink.port,
    ca: sink.ca,
    token: { key, keyId, teamId },
  });
  const notification = new Notification({
    alert: ALERT,
    topic: bundleId,
    pushType: 'alert',
    priority: 10,
  });
  let tokens: string[] = [];
  let positions: number[] = [];

  /** Its answer does not say which in what order; when none has failed that does not matter. */
  const send = async (tokens: readonly string[], positions: readonly number[]): Promise<void> => {
    const { failed } = await provider.send(notification, tokens);
    for (const position of positions) settled(position, failed[0]);
  };
  const flush = (): void => {
    if (tokens.length === 0) return;
    void send(tokens, positions);
    tokens = [];
    positions = [];
  };
  return Promise.resolve({
    push: (token, position) => {
      tokens.push(token);
      positions.push(position);
      if (tokens.length === BATCH) flush();
      // The last ones of a round may be fewer.
      else if (tokens.length === 1) setImmediate(flush);
    },
    close: () => provider.shutdown(),
  });
});
