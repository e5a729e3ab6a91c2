/** Push services that refuse a key or a message: how often they are asked again, and by whom. */

import t from 'tap';
import type { Message } from '../../../../src/domain/notification.ts';
import type { Outcome } from '../../../../src/domain/outcome.ts';
import { REFUSALS_IN_A_ROW } from '../../../../src/providers/webpush/settings.ts';
import { until } from '../../../support/poll.ts';
import { answer } from '../../../support/provider-peer.ts';
import {
  deviceAt,
  message,
  peerFor,
  send,
  senderTo,
  subscriptionAt,
} from '../../../support/web-push-sending.ts';

t.test('a failure of the only service is everybody’s', async (t) => {
  const peer = await peerFor(t, (request) => answer(request, 503));
  const outcome = await send(senderTo(t, [peer]), subscriptionAt(peer.origin));
  t.same(outcome, { kind: 'unavailable', reason: 'status 503', retryAfterMs: null });
});

t.test('a key that a service refuses again and again is hardly shown to it any more', async (t) => {
  const refusing = await peerFor(t, (request) => answer(request, 403, { reason: 'BadJwtToken' }));
  const good = await peerFor(t, (request) => answer(request, 201));
  const sender = senderTo(t, [refusing, good]);
  for (let sent = 0; sent < REFUSALS_IN_A_ROW; sent += 1) {
    t.same(await send(sender, subscriptionAt(refusing.origin)), {
      kind: 'bad-credential',
      reason: 'BadJwtToken',
      isOneHost: true,
    });
  }
  for (let sent = 0; sent < 20; sent += 1) {
    t.same(
      await send(sender, subscriptionAt(refusing.origin)),
      { kind: 'unavailable', reason: 'BadJwtToken', retryAfterMs: null, isOneHost: true },
      'whom the service was not asked about is tried again',
    );
  }
  t.equal(refusing.received.length, REFUSALS_IN_A_ROW);
  t.same(await send(sender, subscriptionAt(good.origin)), { kind: 'delivered' });
});

t.test('refusals that anybody can register end nobody else', async (t) => {
  const peer = await peerFor(t, (request) =>
    request.headers[':path']?.startsWith('/bad/')
      ? answer(request, 401, { errno: 107 })
      : answer(request, 201),
  );
  const sender = senderTo(t, [peer]);
  const bad = deviceAt(`${peer.origin}/bad/1`);
  const good = deviceAt(`${peer.origin}/push/1`);
  await send(sender, good);
  for (let sent = 0; sent < REFUSALS_IN_A_ROW * 2; sent += 1) {
    t.match(await send(sender, bad), { kind: 'bad-credential' });
  }
  t.same(await send(sender, good), { kind: 'delivered' }, 'it worked a moment ago');

  const fresh = senderTo(t, [peer]);
  for (let sent = 0; sent < REFUSALS_IN_A_ROW; sent += 1) await send(fresh, bad);
  t.match(await send(fresh, good), { kind: 'unavailable' }, 'nothing is known of it yet');
  await until('it is tried again', async () =>
    (await send(fresh, good)).kind === 'delivered' ? true : null,
  );
  for (let sent = 0; sent < REFUSALS_IN_A_ROW * 2; sent += 1) await send(fresh, bad);
  t.same(await send(fresh, good), { kind: 'delivered' });
});

t.test('one message: subscriptions that answer for it end nobody else', async (t) => {
  const peer = await peerFor(t, (request) =>
    request.headers[':path']?.startsWith('/bad/') ? answer(request, 405) : answer(request, 201),
  );
  const sender = senderTo(t, [peer]);
  const rendered = sender.render(message());
  const sendIt = (path: string): Promise<Outcome> =>
    new Promise((resolve) =>
      sender.send(rendered, deviceAt(`${peer.origin}${path}`), 0, (_, outcome) => resolve(outcome)),
    );
  for (let sent = 0; sent < REFUSALS_IN_A_ROW; sent += 1) {
    t.match(await sendIt('/bad/1'), { kind: 'bad-message' });
  }
  t.match(await sendIt('/push/1'), { kind: 'unavailable', isOneHost: true });
  await until('it is tried again', async () =>
    (await sendIt('/push/1')).kind === 'delivered' ? true : null,
  );
  for (let sent = 0; sent < REFUSALS_IN_A_ROW * 2; sent += 1) await sendIt('/bad/1');
  t.same(await sendIt('/push/1'), { kind: 'delivered' }, 'somebody has it: the message is good');
});

t.test('one subscription of another key says nothing of the others', async (t) => {
  const peer = await peerFor(t, (request) =>
    request.number % 2 === 0 ? answer(request, 201) : answer(request, 401, { errno: 109 }),
  );
  const sender = senderTo(t, [peer]);
  const sends = REFUSALS_IN_A_ROW * 4;
  for (let sent = 0; sent < sends; sent += 1) await send(sender, subscriptionAt(peer.origin));
  t.equal(peer.received.length, sends, 'all of them were asked about');
});

t.test('a message that a service refuses is not repeated there; the next one is', async (t) => {
  const peer = await peerFor(t, (request) =>
    request.headers['urgency'] === 'normal'
      ? answer(request, 400, { reason: 'BadUrgency' })
      : answer(request, 201),
  );
  const sender = senderTo(t, [peer]);
  const round = async (of: Message, sends: number): Promise<readonly Outcome[]> => {
    const rendered = sender.render(of);
    const outcomes: Outcome[] = [];
    for (let sent = 0; sent < sends; sent += 1) {
      const outcome = await new Promise<Outcome>((resolve) =>
        sender.send(rendered, subscriptionAt(peer.origin), sent, (_, settled) => resolve(settled)),
      );
      outcomes.push(outcome);
    }
    return outcomes;
  };
  const refused = await round(message({ priority: 'normal' }), REFUSALS_IN_A_ROW + 5);
  t.ok(refused.every(({ isOneHost }) => isOneHost));
  t.same(
    refused.map(({ kind }) => kind),
    [
      ...Array.from({ length: REFUSALS_IN_A_ROW }, () => 'bad-message'),
      ...Array.from({ length: 5 }, () => 'unavailable'),
    ],
  );
  t.equal(peer.received.length, REFUSALS_IN_A_ROW);
  t.match(await round(message(), 2), [{ kind: 'delivered' }, { kind: 'delivered' }]);
});
