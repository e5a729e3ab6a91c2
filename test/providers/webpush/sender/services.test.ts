/** Several push services of one sender: none holds up another. */

import t from 'tap';
import type { Outcome } from '../../../../src/domain/outcome.ts';
import type { Sender } from '../../../../src/providers/sender.ts';
import { SERVICES_MAX } from '../../../../src/providers/webpush/settings.ts';
import { answer, startProviderPeer } from '../../../support/provider-peer.ts';
import {
  deviceAt,
  message,
  peerFor,
  send,
  senderTo,
  subscriptionAt,
} from '../../../support/web-push-sending.ts';

/** Sends to these services in turn as a worker does, and collects how each ended. */
class Round {
  readonly outcomes = new Map<number, Outcome>();
  readonly #sender: Sender;
  #wake: () => void = () => undefined;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  async send(origins: readonly string[], sends: number): Promise<void> {
    const rendered = this.#sender.render(message());
    for (let position = 0; position < sends; ) {
      if (this.#sender.capacity === 0) {
        await this.#sender.whenReady();
        continue;
      }
      const device = deviceAt(`${origins[position % origins.length]}/push/${position}`);
      this.#sender.send(rendered, device, position, (of, outcome) => {
        if (this.outcomes.has(of)) throw new Error(`settled ${of} twice`);
        this.outcomes.set(of, outcome);
        this.#wake();
      });
      position += 1;
    }
  }

  async until(isReached: () => boolean): Promise<void> {
    while (!isReached()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  count(kind: Outcome['kind']): number {
    return [...this.outcomes.values()].filter((outcome) => outcome.kind === kind).length;
  }
}

t.test('a service that answers nothing does not hold up another', async (t) => {
  const silent = await peerFor(t, () => undefined);
  const good = await peerFor(t, (request) => answer(request, 201));
  const sender = senderTo(t, [silent, good]);
  const round = new Round(sender);
  const sends = 6_000;
  await round.send([silent.origin, good.origin], sends);
  await round.until(() => round.count('delivered') === sends / 2);
  t.equal(round.count('unknown'), 0, 'long before the first time-out');
  const left = [...round.outcomes.values()].filter(({ kind }) => kind === 'unavailable');
  t.ok(left.length > 1_000, `${left.length} were not kept waiting for it`);
  t.match(left[0], { reason: 'PushServiceSilent', isOneHost: true });
  await sender.close();
  t.equal(round.outcomes.size, sends, 'each has had its end');
});

t.test('whoever has no turn left in a row of sends has the next one', async (t) => {
  const peers = await Promise.all(
    Array.from({ length: 3 }, () => peerFor(t, (request) => answer(request, 201))),
  );
  const sender = senderTo(t, peers);
  const [first = '', second = '', third = ''] = peers.map(({ origin }) => origin);
  const round = new Round(sender);
  // Connected, so that nothing but its turn is waited for.
  await round.send([first, second, third], 3);
  await round.until(() => round.outcomes.size === 3);
  round.outcomes.clear();
  // The first two are through when the row is: two of its 32 places are left, and ten sends to the
  // third.
  await round.send([first, second, third, third], 40);
  await round.until(() => round.outcomes.size === 40);
  t.equal(round.count('delivered'), 40);
});

t.test('a service that is not there does not stop another', async (t) => {
  const away = await startProviderPeer({ script: () => undefined });
  await away.close();
  const good = await peerFor(t, (request) => answer(request, 201));
  const sender = senderTo(t, [away, good]);
  const round = new Round(sender);
  await round.send([good.origin], 1);
  await round.until(() => round.outcomes.size === 1);
  round.outcomes.clear();
  await round.send([away.origin, good.origin], 1_000);
  await round.until(() => round.outcomes.size === 1_000);
  t.equal(round.count('delivered'), 500);
  const failed = [...round.outcomes.values()].filter(({ kind }) => kind !== 'delivered');
  t.ok(failed.every(({ isOneHost }) => isOneHost));
});

t.test('more services than it keeps connections to', async (t) => {
  const ports = Array.from({ length: SERVICES_MAX + 10 }, (_, index) => 60_000 + index);
  const nobody = ports.map((port) => ({ origin: `https://localhost:${port}`, ca: '' }));
  const peer = await peerFor(t, (request) => answer(request, 201));
  const sender = senderTo(t, [peer, ...nobody], { limits: { connectTimeoutMs: 2_000 } });
  for (const { origin } of nobody) {
    t.not((await send(sender, subscriptionAt(origin))).kind, 'delivered');
  }
  t.match(await send(sender, subscriptionAt(peer.origin)), { kind: 'delivered' });
});
