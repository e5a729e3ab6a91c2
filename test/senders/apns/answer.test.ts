import t from 'tap';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { apnsOutcome } from '../../../src/senders/apns/answer.ts';
import type { Answer } from '../../../src/senders/transport.ts';

const ask = (status: number, body: unknown, retryAfterMs: number | null = null) =>
  apnsOutcome({
    status,
    retryAfterMs,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  } satisfies Answer);

/** Every reason that Apple names, with its status. */
const REASONS: readonly (readonly [number, string, Outcome['kind']])[] = [
  [400, 'BadDeviceToken', 'bad-token'],
  [400, 'DeviceTokenNotForTopic', 'bad-token'],
  [400, 'MissingDeviceToken', 'bad-token'],
  [400, 'BadTopic', 'bad-credential'],
  [400, 'MissingTopic', 'bad-credential'],
  [400, 'TopicDisallowed', 'bad-credential'],
  [400, 'BadCollapseId', 'bad-message'],
  [400, 'BadExpirationDate', 'bad-message'],
  [400, 'BadMessageId', 'bad-message'],
  [400, 'BadPriority', 'bad-message'],
  [400, 'InvalidPushType', 'bad-message'],
  [400, 'DuplicateHeaders', 'bad-message'],
  [400, 'PayloadEmpty', 'bad-message'],
  [400, 'IdleTimeout', 'refused'],
  [403, 'ExpiredProviderToken', 'expired-authorization'],
  [403, 'InvalidProviderToken', 'bad-credential'],
  [403, 'MissingProviderToken', 'bad-credential'],
  [403, 'Forbidden', 'bad-credential'],
  [403, 'BadCertificate', 'bad-credential'],
  [403, 'BadCertificateEnvironment', 'bad-credential'],
  [403, 'UnrelatedKeyIdInToken', 'bad-credential'],
  [403, 'BadEnvironmentKeyIdInToken', 'bad-credential'],
  [403, 'BadEnvironmentKeyInToken', 'bad-credential'],
  [404, 'BadPath', 'bad-message'],
  [405, 'MethodNotAllowed', 'bad-message'],
  [413, 'PayloadTooLarge', 'bad-message'],
  [429, 'TooManyProviderTokenUpdates', 'throttled-target'],
  [429, 'TooManyRequests', 'throttled-device'],
  [500, 'InternalServerError', 'unavailable'],
  [503, 'ServiceUnavailable', 'unavailable'],
  [503, 'Shutdown', 'refused'],
];

t.test('accepted', (t) => {
  t.same(ask(200, ''), { kind: 'delivered' });
  t.end();
});

for (const [status, reason, kind] of REASONS) {
  t.test(`${status} ${reason} is ${kind}`, (t) => {
    t.match(ask(status, { reason }), { kind, reason });
    t.end();
  });
}

t.test('410 tells since when', (t) => {
  for (const reason of ['Unregistered', 'ExpiredToken']) {
    t.same(ask(410, { reason, timestamp: 1_700_000_000_123 }), {
      kind: 'gone',
      reason,
      sinceMs: 1_700_000_000_123,
    });
    t.equal(ask(410, { reason }).kind, 'bad-token', 'without its time it proves nothing');
    t.equal(ask(410, { reason, timestamp: 'soon' }).kind, 'bad-token');
  }
  t.equal(ask(410, '<html>Gone</html>').kind, 'bad-token', 'a proxy removes no device');
  t.end();
});

t.test('pauses', (t) => {
  t.match(ask(429, { reason: 'TooManyProviderTokenUpdates' }), { retryAfterMs: 1_200_000 });
  t.match(ask(429, { reason: 'TooManyRequests' }, 5_000), { retryAfterMs: 5_000 });
  t.match(ask(503, { reason: 'ServiceUnavailable' }, 9_000), { retryAfterMs: 9_000 });
  t.end();
});

t.test('unknown reasons and foreign bodies go by the class of the status', (t) => {
  const kinds: readonly (readonly [number, Outcome['kind']])[] = [
    [302, 'unavailable'],
    [400, 'bad-message'],
    [401, 'bad-credential'],
    [403, 'bad-credential'],
    [404, 'bad-message'],
    [410, 'bad-token'],
    [418, 'bad-message'],
    [429, 'throttled-target'],
    [500, 'unavailable'],
    [502, 'unavailable'],
    [599, 'unavailable'],
  ];
  for (const [status, kind] of kinds) {
    t.match(ask(status, { reason: 'SomethingNew' }), { kind, reason: 'SomethingNew' });
    for (const body of ['', '<html>502</html>', '{"reason":', '[]', 'null', '{"reason":7}']) {
      t.match(ask(status, body), { kind, reason: `status ${status}` });
    }
  }
  t.equal(
    (ask(400, { reason: 'x'.repeat(10_000) }) as { reason: string }).reason.length,
    100,
    'a reason is stored and counted by: it has an end',
  );
  t.end();
});
