/**
 * Plays a conversation between our client and a scripted peer: whole, octet by octet, and cut at
 * every octet if wanted.
 */

import type { Test } from 'tap';
import t from 'tap';
import type { ClientOptions } from '../../../packages/http2/src/client/client-connection.ts';
import type { Delivery } from './peer.ts';
import { ScriptedPeer } from './peer.ts';
import { RecordedClient } from './recorded-client.ts';
import { socketPair } from './socket-pair.ts';

export interface Scene {
  readonly t: Test;
  readonly peer: ScriptedPeer;
  readonly client: RecordedClient;
}

export type Script = (scene: Scene) => Promise<void>;

export interface ConversationOptions extends Partial<ClientOptions> {
  readonly firstStreamId?: number;
  /**
   * 'whole': too long, or about what comes in one piece. 'every-cut': once for each octet of the
   * peer's too.
   */
  readonly deliveries?: 'whole' | 'whole-and-octets' | 'every-cut';
}

/** For a conversation in which each waits for the other; no other one waits for it. */
const STUCK_AFTER_MS = 20_000;

/** The facts that must not depend on how the octets came. */
interface Outcome {
  readonly ends: unknown;
  readonly events: readonly string[];
  readonly octets: number;
}

/** A test named by what it shows. */
export function conversation(
  name: string,
  script: Script,
  options: ConversationOptions = {},
): void {
  void t.test(name, async (t) => {
    const { deliveries = 'whole-and-octets' } = options;
    const whole = await play(t, script, options, { kind: 'whole' });
    if (deliveries === 'whole') return;
    t.same(await play(t, script, options, { kind: 'octets' }), whole, 'octet by octet');
    if (deliveries === 'whole-and-octets') return;
    for (let at = 1; at < whole.octets; at += 1) {
      t.same(await play(t, script, options, { kind: 'cut', at }), whole, `cut at octet ${at}`);
    }
  });
}

async function play(
  t: Test,
  script: Script,
  { firstStreamId, deliveries, ...clientOptions }: ConversationOptions,
  delivery: Delivery,
): Promise<Outcome> {
  const [ours, theirs] = socketPair();
  const peer = new ScriptedPeer(theirs, delivery);
  const client = new RecordedClient(ours, clientOptions, firstStreamId);
  let timer: NodeJS.Timeout | undefined;
  const stuck = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('nobody says anything')), STUCK_AFTER_MS);
  });
  try {
    await Promise.race([script({ t, peer, client }), stuck]);
    client.finish();
  } finally {
    clearTimeout(timer);
    client.connection.destroy('the conversation has failed');
    theirs.destroy();
  }
  const ends = [...client.ends].map(([streamId, { ends }]) => [streamId, ends]);
  return { ends, events: client.events, octets: peer.sentOctets };
}
