/**
 * The engine's own senders, filled as a worker thread fills them: as long as there is capacity,
 * then wait for it.
 */

import { createSender } from '../../src/providers/create-sender.ts';
import type { ProviderCredential } from '../../src/providers/providers.ts';
import type { Settle, TransportLimits } from '../../src/transport/transport.ts';
import { DEFAULT_ORIGINS } from '../../test/support/default-origins.ts';
import { NEWS } from '../push.ts';
import type { Sink } from '../sinks/sink.ts';
import { originOf } from '../sinks/sink.ts';
import type { Open } from './flow.ts';

export const ours =
  (limits: Partial<TransportLimits>): Open =>
  (sink, settled) => {
    const sender = createSender(sink.credential, {
      origins: originsOf(sink),
      transport: 'http2',
      authorization: sink.authorization,
      limits,
    });
    const rendered = sender.render(NEWS);
    const settle: Settle = (position, outcome) =>
      settled(position, outcome.kind === 'delivered' ? undefined : outcome);
    return Promise.resolve({
      hasRoom: () => sender.capacity > 0,
      whenRoom: () => sender.whenReady(),
      push: (token, position) => sender.send(rendered, token, position, settle),
      close: () => sender.close(),
    });
  };

function originsOf(sink: Sink<ProviderCredential>) {
  const origin = originOf(sink);
  const webPushHosts = [`${sink.host}:${sink.port}`];
  return { ...DEFAULT_ORIGINS, apnsProduction: origin, fcm: origin, webPushHosts, ca: sink.ca };
}
