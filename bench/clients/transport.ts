/** The engine's own clients: a transport, as it stands under a sender. */

import { apnsOutcome } from '../../src/providers/apns/answer.ts';
import { APNS_LIMITS } from '../../src/providers/apns/settings.ts';
import type { Settle, Transport, TransportOptions } from '../../src/transport/transport.ts';
import { renderPush } from '../push.ts';
import { originOf } from '../sinks/sink.ts';
import type { Client } from './client.ts';
import { inProcess } from './in-process.ts';

export const transportClient = (
  name: string,
  make: (options: TransportOptions) => Transport,
): Client =>
  inProcess(name, async (sink, settled) => {
    const transport = make({
      origin: originOf(sink),
      ca: sink.ca,
      authorization: sink.authorization,
      limits: APNS_LIMITS,
      admits: null,
      outcomeOf: apnsOutcome,
    });
    await transport.whenReady();
    const template = renderPush(sink);
    const settle: Settle = (position, outcome) =>
      settled(position, outcome.kind === 'delivered' ? undefined : outcome);
    return {
      push: (token, position) => transport.send(template, token, position, settle),
      close: () => transport.close(),
    };
  });
