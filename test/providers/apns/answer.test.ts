import t from 'tap';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { apnsOutcome } from '../../../src/providers/apns/answer.ts';
import type { Answer } from '../../../src/transport/transport.ts';

const ask = (status: number, body: unknown, retryAfterMs: number | null = null) =>
  apnsOutcome({
    status,
    retryAfterMs,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  } satisfies Answer);

/**
 * Every status and reason of Apple's page (internals/providers.md, "APNs: answers"), and those of
 * broadcasts (1.7) that a push to a device could be answered with, each with its reaction.
 */
const REACTIONS: readonly (readonly [number, string, Outcome])[] = [
  // Quarantined: maybe another environment or app, so the device is kept and its refusals are
  // counted.
  [400, 'BadDeviceToken', { kind: 'bad-token', reason: 'BadDeviceToken' }],
  [400, 'DeviceTokenNotForTopic', { kind: 'bad-token', reason: 'DeviceTokenNotForTopic' }],
  // Bad message: stops the scope.
  ...(
    [
      [400, 'BadCollapseId'],
      [400, 'BadExpirationDate'],
      [400, 'BadMessageId'],
      [400, 'BadPriority'],
      [400, 'InvalidPushType'],
      [400, 'MissingPushType'],
      [400, 'BadRequestParams'],
      [400, 'BadRequestPayload'],
      [400, 'DuplicateHeaders'],
      [400, 'PayloadEmpty'],
      [405, 'MethodNotAllowed'],
      [413, 'PayloadTooLarge'],
    ] as const
  ).map(([status, reason]) => [status, reason, { kind: 'bad-message', reason }] as const),
  // The token is the end of the path: they may be its own.
  ...(
    [
      [400, 'MissingDeviceToken'],
      [404, 'BadPath'],
    ] as const
  ).map(
    ([status, reason]) =>
      [status, reason, { kind: 'bad-message', reason, mayBeDevice: true }] as const,
  ),
  // Bad credential: stops the scope and surfaces.
  ...(
    [
      [400, 'BadTopic'],
      [400, 'MissingTopic'],
      [400, 'TopicDisallowed'],
      [403, 'TopicMismatch'],
      [403, 'InvalidProviderToken'],
      [403, 'MissingProviderToken'],
      [403, 'Forbidden'],
      [403, 'BadCertificate'],
      [403, 'BadCertificateEnvironment'],
      [403, 'UnrelatedKeyIdInToken'],
      [403, 'BadEnvironmentKeyIdInToken'],
      [403, 'BadEnvironmentKeyInToken'],
    ] as const
  ).map(([status, reason]) => [status, reason, { kind: 'bad-credential', reason }] as const),
  // Refreshed credential.
  [403, 'ExpiredProviderToken', { kind: 'expired-authorization', reason: 'ExpiredProviderToken' }],
  // Throttled device: only this token waits.
  [
    429,
    'TooManyRequests',
    { kind: 'throttled-device', reason: 'TooManyRequests', retryAfterMs: null },
  ],
  // Throttled target: the whole team waits for 20 minutes.
  [
    429,
    'TooManyProviderTokenUpdates',
    { kind: 'throttled-target', reason: 'TooManyProviderTokenUpdates', retryAfterMs: 1_200_000 },
  ],
  // Retry later.
  ...(
    [
      [500, 'InternalServerError'],
      [503, 'ServiceUnavailable'],
      [503, 'Service Unavailable'],
    ] as const
  ).map(
    ([status, reason]) =>
      [status, reason, { kind: 'unavailable', reason, retryAfterMs: null }] as const,
  ),
  // Retry now, on another connection.
  [400, 'IdleTimeout', { kind: 'refused', reason: 'IdleTimeout' }],
  [503, 'Shutdown', { kind: 'refused', reason: 'Shutdown' }],
];

t.test('accepted', (t) => {
  t.same(ask(200, ''), { kind: 'delivered' });
  t.end();
});

for (const [status, reason, outcome] of REACTIONS) {
  t.test(`${status} ${reason} is ${outcome.kind}`, (t) => {
    t.same(ask(status, { reason }), outcome);
    t.end();
  });
}

t.test('410 drops the token, if it was registered before its timestamp', (t) => {
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
    [410, 'bad-token'],
    [418, 'bad-message'],
    [429, 'throttled-target'],
    [500, 'unavailable'],
    [502, 'unavailable'],
    [599, 'unavailable'],
  ];
  for (const [status, kind] of kinds) {
    t.match(ask(status, { reason: 'SomethingNew' }), {
      kind,
      reason: 'SomethingNew',
      unfamiliarStatus: status,
      ...(kind === 'bad-message' ? { mayBeDevice: true } : {}),
    });
    for (const body of ['', '<html>502</html>', '{"reason":', '[]', 'null', '{"reason":7}']) {
      t.match(ask(status, body), { kind, reason: `status ${status}` });
    }
  }
  for (const status of [401, 403, 404]) {
    t.match(ask(status, { reason: 'SomethingNew' }), {
      kind: status === 404 ? 'bad-message' : 'bad-credential',
      reason: 'SomethingNew',
      unfamiliarStatus: status,
    });
    for (const body of ['', '<html>403</html>', '{"reason":', '[]', 'null', '{"reason":7}']) {
      t.same(
        ask(status, body),
        {
          kind: 'unavailable',
          reason: `status ${status}`,
          retryAfterMs: 30_000,
          isWordless: true,
          unfamiliarStatus: status,
        },
        'not in the words of APNs: a proxy may have said it',
      );
    }
  }
  t.equal(
    (ask(400, { reason: 'x'.repeat(10_000) }) as { reason: string }).reason.length,
    100,
    'a reason is stored and counted by: it has an end',
  );
  t.end();
});
