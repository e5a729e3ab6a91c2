import t from 'tap';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { fcmOutcome } from '../../../src/providers/fcm/answer.ts';

const ask = (status: number, body: unknown, retryAfterMs: number | null = null) =>
  fcmOutcome({
    status,
    retryAfterMs,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

interface GoogleError {
  readonly status?: string;
  readonly errorCode?: string;
  readonly message?: string;
  readonly more?: readonly unknown[];
}

const google = (
  code: number,
  { status, errorCode, message = 'Some sentence.', more = [] }: GoogleError,
) => ({
  error: {
    code,
    message,
    status,
    details: [
      ...(errorCode === undefined
        ? []
        : [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }]),
      ...more,
    ],
  },
});

const violation = (field: string) => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: [{ field, description: 'Invalid' }],
});
const quota = (subject: string, description: string) => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ subject, description }],
});

/**
 * Every error of Google's pages (internals/providers.md, "FCM: errors" and "FCM: connections"),
 * each with its reaction.
 */
const ERRORS: readonly (readonly [number, GoogleError, Outcome])[] = [
  // Bad message, or this device: nothing says which, so several devices have to be answered so.
  [
    400,
    { status: 'INVALID_ARGUMENT', errorCode: 'INVALID_ARGUMENT' },
    { kind: 'bad-message', reason: 'INVALID_ARGUMENT', mayBeDevice: true },
  ],
  // Too large: no details at all.
  [
    400,
    { status: 'INVALID_ARGUMENT' },
    { kind: 'bad-message', reason: 'INVALID_ARGUMENT', mayBeDevice: true },
  ],
  // Bad message: the field is named.
  [
    400,
    { status: 'INVALID_ARGUMENT', more: [violation('message.data[0].value')] },
    { kind: 'bad-message', reason: 'INVALID_ARGUMENT' },
  ],
  // Quarantined.
  [
    400,
    {
      status: 'INVALID_ARGUMENT',
      errorCode: 'INVALID_ARGUMENT',
      more: [violation('message.token')],
    },
    { kind: 'bad-token', reason: 'INVALID_ARGUMENT' },
  ],
  // So is the installation id that stands in a token's place.
  [
    400,
    {
      status: 'INVALID_ARGUMENT',
      errorCode: 'INVALID_ARGUMENT',
      more: [violation('message.fid')],
    },
    { kind: 'bad-token', reason: 'INVALID_ARGUMENT' },
  ],
  [
    400,
    {
      status: 'INVALID_ARGUMENT',
      errorCode: 'INVALID_ARGUMENT',
      message: 'The registration token is not a valid FCM registration token',
    },
    { kind: 'bad-token', reason: 'INVALID_ARGUMENT' },
  ],
  [
    403,
    { status: 'PERMISSION_DENIED', errorCode: 'SENDER_ID_MISMATCH' },
    { kind: 'bad-token', reason: 'SENDER_ID_MISMATCH' },
  ],
  [
    403,
    { status: 'PERMISSION_DENIED', message: 'SenderId mismatch' },
    { kind: 'bad-token', reason: 'SENDER_ID_MISMATCH' },
  ],
  // A key of Apple's or of Web Push in the project: Android phones get theirs.
  [
    401,
    { status: 'UNAUTHENTICATED', errorCode: 'THIRD_PARTY_AUTH_ERROR' },
    { kind: 'bad-message', reason: 'THIRD_PARTY_AUTH_ERROR', mayBeDevice: true },
  ],
  // Bad credential.
  [403, { status: 'PERMISSION_DENIED' }, { kind: 'bad-credential', reason: 'PERMISSION_DENIED' }],
  [404, { status: 'NOT_FOUND' }, { kind: 'bad-credential', reason: 'NOT_FOUND' }],
  // A 404 without FCM's own word removes no device.
  [
    404,
    { status: 'UNREGISTERED' },
    { kind: 'bad-credential', reason: 'UNREGISTERED', unfamiliarStatus: 404 },
  ],
  // Refreshed credential.
  [
    401,
    { status: 'UNAUTHENTICATED' },
    { kind: 'expired-authorization', reason: 'UNAUTHENTICATED' },
  ],
  // Dropped.
  [
    404,
    { status: 'NOT_FOUND', errorCode: 'UNREGISTERED' },
    { kind: 'gone', reason: 'UNREGISTERED', sinceMs: null },
  ],
  // Throttled project.
  [
    429,
    { status: 'RESOURCE_EXHAUSTED', errorCode: 'QUOTA_EXCEEDED' },
    { kind: 'throttled-target', reason: 'QUOTA_EXCEEDED', retryAfterMs: 60_000 },
  ],
  [
    429,
    { status: 'RESOURCE_EXHAUSTED' },
    { kind: 'throttled-target', reason: 'RESOURCE_EXHAUSTED', retryAfterMs: 60_000 },
  ],
  [
    429,
    { errorCode: 'QUOTA_EXCEEDED', more: [quota('project:1', 'Message rate exceeded.')] },
    { kind: 'throttled-target', reason: 'QUOTA_EXCEEDED', retryAfterMs: 60_000 },
  ],
  // Throttled device.
  [
    429,
    { errorCode: 'QUOTA_EXCEEDED', more: [quota('device:1', 'Device message rate exceeded.')] },
    { kind: 'throttled-device', reason: 'QUOTA_EXCEEDED', retryAfterMs: 60_000 },
  ],
  // Retry later.
  [
    500,
    { status: 'INTERNAL', errorCode: 'INTERNAL' },
    { kind: 'unavailable', reason: 'INTERNAL', retryAfterMs: null },
  ],
  [
    503,
    { status: 'UNAVAILABLE', errorCode: 'UNAVAILABLE' },
    { kind: 'unavailable', reason: 'UNAVAILABLE', retryAfterMs: null },
  ],
  [
    500,
    { errorCode: 'UNSPECIFIED_ERROR' },
    { kind: 'unavailable', reason: 'UNSPECIFIED_ERROR', retryAfterMs: null },
  ],
];

t.test('accepted', (t) => {
  t.same(ask(200, { name: 'projects/p/messages/1' }), { kind: 'delivered' });
  t.end();
});

for (const [status, error, outcome] of ERRORS) {
  t.test(`${status} ${JSON.stringify(error)} is ${outcome.kind}`, (t) => {
    t.same(ask(status, google(status, error)), outcome);
    t.end();
  });
}

t.test('retry-after is obeyed', (t) => {
  const busy = google(429, { errorCode: 'QUOTA_EXCEEDED' });
  t.match(ask(429, busy, 90_000), { kind: 'throttled-target', retryAfterMs: 90_000 });
  t.match(ask(503, google(503, { status: 'UNAVAILABLE' }), 4_000), { retryAfterMs: 4_000 });
  t.end();
});

t.test('bodies that are not Google errors go by the class of the status', (t) => {
  const kinds: readonly (readonly [number, Outcome['kind']])[] = [
    [302, 'unavailable'],
    [400, 'bad-message'],
    [401, 'expired-authorization'],
    [413, 'bad-message'],
    [429, 'throttled-target'],
    [500, 'unavailable'],
    [503, 'unavailable'],
  ];
  const bodies = ['', '<!DOCTYPE html>', '{"error":', '{"error":"no"}', '[]', 'null'];
  for (const [status, kind] of kinds) {
    for (const body of bodies) t.match(ask(status, body), { kind, reason: `status ${status}` });
    t.match(ask(status, google(status, { errorCode: 'SOMETHING_NEW' })), {
      kind,
      reason: 'SOMETHING_NEW',
      unfamiliarStatus: status,
      ...(kind === 'bad-message' ? { mayBeDevice: true } : {}),
    });
  }
  for (const status of [403, 404]) {
    for (const body of bodies) {
      t.same(
        ask(status, body),
        {
          kind: 'unavailable',
          reason: `status ${status}`,
          retryAfterMs: 30_000,
          isWordless: true,
          unfamiliarStatus: status,
        },
        'not in the words of Google: a proxy may have said it',
      );
    }
    t.match(ask(status, google(status, { errorCode: 'SOMETHING_NEW' })), {
      kind: 'bad-credential',
      reason: 'SOMETHING_NEW',
      unfamiliarStatus: status,
    });
  }
  t.same(ask(502, '<p>Please try again in 30 seconds.'), {
    kind: 'unavailable',
    reason: 'status 502',
    retryAfterMs: 30_000,
  });
  t.end();
});

t.test('a body of strange types is read as far as it goes', (t) => {
  const body = { error: { code: 'x', message: 7, status: 9, details: [null, { '@type': 3 }] } };
  t.match(ask(400, body), { kind: 'bad-message', reason: 'status 400' });
  t.end();
});
