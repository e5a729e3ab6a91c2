/** Every answer that the facts know of push services, and what it means. */

import t from 'tap';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { webPushOutcome } from '../../../src/providers/webpush/answer.ts';

const apple = (reason: string): string => JSON.stringify({ reason });
const mozilla = (code: number, errno: number, message = ''): string =>
  JSON.stringify({ code, errno, error: 'An Error', message, more_info: 'http://autopush' });

type Row = readonly [
  status: number,
  body: string,
  outcome: Partial<Outcome>,
  retryAfterMs?: number,
];

const gone = (reason: string): Outcome => ({ kind: 'gone', reason, sinceMs: null });
const badToken = (reason: string): Outcome => ({ kind: 'bad-token', reason });
/** Only the status is known to us: it says nothing of the subscription. */
const unfamiliar = (reason: string, unfamiliarStatus: number): Outcome => ({
  kind: 'bad-token',
  reason,
  isInconclusive: true,
  unfamiliarStatus,
});
const tooLarge = (reason: string): Outcome => ({ kind: 'bad-token', reason, isInconclusive: true });
const badMessage = (reason: string): Outcome => ({ kind: 'bad-message', reason });
const badCredential = (reason: string): Outcome => ({ kind: 'bad-credential', reason });
const unavailable = (reason: string, retryAfterMs: number | null = null): Outcome => ({
  kind: 'unavailable',
  reason,
  retryAfterMs,
});

const GOOGLE_OTHER_KEY =
  'the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.\n';

const ROWS: readonly Row[] = [
  [200, '', { kind: 'delivered' }],
  [201, '', { kind: 'delivered' }],
  [202, '', { kind: 'delivered' }],
  // The subscription has ended.
  [404, '', gone('status 404')],
  [410, '', gone('status 410')],
  [410, 'push subscription has unsubscribed or expired.\n', gone('status 410')],
  [410, apple('Unregistered'), gone('Unregistered')],
  [404, mozilla(404, 102), gone('errno 102')],
  ...[103, 105, 106].map((errno): Row => [410, mozilla(410, errno), gone(`errno ${errno}`)]),
  // Apple.
  [403, apple('BadJwtToken'), badCredential('BadJwtToken')],
  [400, apple('BadVapidPublicKey'), badCredential('BadVapidPublicKey')],
  [403, apple('VapidPkHashMismatch'), badToken('VapidPkHashMismatch')],
  [400, apple('VapidPkHashMismatch'), badToken('VapidPkHashMismatch')],
  [400, apple('BadTtl'), badMessage('BadTtl')],
  [400, apple('BadUrgency'), badMessage('BadUrgency')],
  [400, apple('BadWebPushTopic'), badMessage('BadWebPushTopic')],
  [403, apple('SomethingNew'), badCredential('SomethingNew')],
  [400, apple('SomethingNew'), unfamiliar('SomethingNew', 400)],
  [500, apple('InternalServerError'), unavailable('InternalServerError')],
  // Mozilla.
  ...[101, 110, 111, 112, 113].map(
    (errno): Row => [400, mozilla(400, errno), badMessage(`errno ${errno}`)],
  ),
  [400, mozilla(400, 108), badToken('errno 108')],
  [401, mozilla(401, 109), badCredential('errno 109')],
  [401, mozilla(401, 109, 'VAPID public key mismatch'), badToken('errno 109')],
  [413, mozilla(413, 104), tooLarge('errno 104')],
  [
    429,
    mozilla(429, 201),
    { kind: 'throttled-target', reason: 'errno 201', retryAfterMs: 120_000 },
    120_000,
  ],
  [500, mozilla(500, 999), unavailable('errno 999')],
  ...[900, 901, 902, 903].map(
    (errno): Row => [502, mozilla(502, errno), unavailable(`errno ${errno}`)],
  ),
  [503, mozilla(503, 201), unavailable('errno 201', 5_000), 5_000],
  [503, mozilla(503, 202), unavailable('errno 202')],
  // Google.
  [403, GOOGLE_OTHER_KEY, badToken('status 403')],
  [403, '', badToken('status 403')],
  [401, '', badCredential('status 401')],
  [400, '', unfamiliar('status 400', 400)],
  [413, '', tooLarge('status 413')],
  [429, '', { kind: 'throttled-target', reason: 'status 429', retryAfterMs: null }],
  // Microsoft: throttled for hours, without a time.
  [406, '', { kind: 'throttled-device', reason: 'status 406', retryAfterMs: 600_000 }],
  [406, '', { kind: 'throttled-device', reason: 'status 406', retryAfterMs: 7_000 }, 7_000],
  // Whatever else stands in the way.
  [302, '', unavailable('status 302')],
  [405, '', badMessage('status 405')],
  [418, '', unfamiliar('status 418', 418)],
  [502, '<!DOCTYPE html><title>Error 502</title>', unavailable('status 502')],
  [503, '', unavailable('status 503', 9_000), 9_000],
  [400, 'no such subscription', { kind: 'bad-token', reason: 'status 400', unfamiliarStatus: 400 }],
  [403, '{"reason":7}', badCredential('status 403')],
  [400, `{"reason":"${'x'.repeat(500)}"}`, unfamiliar('x'.repeat(100), 400)],
];

const wns = (state: string, description?: string) => ({
  'x-wns-status': state,
  ...(description === undefined ? {} : { 'x-wns-error-description': description }),
});
const CONFLICT = 'Ttl value conflicts with X-WNS-Cache-Policy.';

t.test('Microsoft’s words are in header fields', (t) => {
  const rows: readonly (readonly [number, Readonly<Record<string, string>>, Outcome])[] = [
    [201, wns('received'), { kind: 'delivered' }],
    [201, wns('dropped'), { kind: 'bad-token', reason: 'dropped', isInconclusive: true }],
    [200, wns('dropped', 'Away'), { kind: 'bad-token', reason: 'Away', isInconclusive: true }],
    [
      201,
      wns('channelThrottled'),
      { kind: 'throttled-device', reason: 'channelthrottled', retryAfterMs: 600_000 },
    ],
    [400, wns('dropped', CONFLICT), unfamiliar(CONFLICT, 400)],
    [
      400,
      wns('dropped', 'The channel is not of this application.'),
      {
        kind: 'bad-token',
        reason: 'The channel is not of this application.',
        unfamiliarStatus: 400,
      },
    ],
    [410, wns('dropped', 'Channel expired'), gone('Channel expired')],
    [403, wns('dropped', 'Bad key'), badCredential('Bad key')],
  ];
  for (const [status, fields, outcome] of rows) {
    t.same(webPushOutcome({ status, body: '', retryAfterMs: null, fields }), outcome);
  }
  t.end();
});

for (const [status, body, outcome, retryAfterMs = null] of ROWS) {
  t.test(`${status} ${body.slice(0, 60)}`, (t) => {
    t.same(webPushOutcome({ status, body, retryAfterMs }), outcome);
    t.end();
  });
}
