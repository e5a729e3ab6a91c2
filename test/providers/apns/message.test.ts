import t from 'tap';
import type { Message, Payload } from '../../../src/domain/notification.ts';
import { apnsContent, renderApns } from '../../../src/providers/apns/message.ts';
import { parsePayload } from '../../support/parse-payload.ts';
import { apnsCredential } from '../../support/provider-credentials.ts';

const NOW_MS = 1_700_000_000_000;
const credential = apnsCredential();

const messageOf = (payload: Partial<Payload>, more: Partial<Message> = {}): Message => ({
  notificationId: 'n',
  payload: { data: {}, ...payload },
  dueAtMs: NOW_MS,
  expiresAtMs: null,
  ...more,
});
const render = (payload: Partial<Payload>, more?: Partial<Message>) => {
  const template = renderApns(messageOf(payload, more), credential, NOW_MS);
  const { bodyBefore, bodyAfter, lastingFields, messageFields, payloadBytes, ...rest } = template;
  t.equal(bodyAfter.length, 0);
  t.equal(payloadBytes, bodyBefore.length);
  t.same(rest, { tokenIn: 'path', pathBefore: '/3/device/' });
  return { body: JSON.parse(bodyBefore.toString()), lastingFields, messageFields };
};

t.test('everything at once', (t) => {
  const { body, lastingFields, messageFields } = render({
    title: 'Goal',
    message: '1:0 ⚽',
    url: 'https://example.com/1',
    image: 'https://example.com/1.png',
    badge: 0,
    sound: 'default',
    ttlSeconds: 60,
    priority: 'normal',
    collapseId: 'match-1',
    data: { match: 1, deep: { a: [1] } },
  });
  t.same(body, {
    aps: {
      alert: { title: 'Goal', body: '1:0 ⚽' },
      badge: 0,
      sound: 'default',
      'mutable-content': 1,
    },
    url: 'https://example.com/1',
    image: 'https://example.com/1.png',
    match: 1,
    deep: { a: [1] },
    pushId: 'n',
  });
  t.same(lastingFields, {
    'apns-topic': 'com.example.news',
    'apns-push-type': 'alert',
    'apns-priority': '5',
  });
  t.same(messageFields, { 'apns-expiration': '1700000060', 'apns-collapse-id': 'match-1' });
  t.end();
});

t.test('the identity of an alert is its collapse id: the job, or its collapseId', (t) => {
  const idOf = (payload: Partial<Payload>) => render(payload).messageFields['apns-collapse-id'];
  t.equal(idOf({ title: 'Goal' }), 'n');
  t.equal(idOf({ apns: { aps: { alert: { 'loc-key': 'GOAL' } } } }), 'n');
  t.equal(idOf({ title: 'Goal', collapseId: 'match-1' }), 'match-1');
  for (const without of [
    { title: 'Goal', silent: true },
    { badge: 3 },
    { data: { a: 1 } },
    { title: 'Goal', apns: { aps: { alert: null } } },
    { title: 'Goal', apnsPushType: 'voip' } as const,
    { title: 'Goal', present: { replaceable: false } },
    { title: 'Goal', replaceableDefault: false } as const,
  ]) {
    t.equal(idOf(without), undefined, JSON.stringify(without));
  }
  t.equal(idOf({ title: 'Goal', present: { replaceable: true }, replaceableDefault: false }), 'n');
  t.equal(idOf({ silent: true, collapseId: 'match-1' }), 'match-1', 'as before');
  const asBefore = { title: 'Goal', collapseId: 'match-1', present: { replaceable: false } };
  t.equal(idOf(asBefore), 'match-1');
  t.end();
});

t.test('nothing at all', (t) => {
  const { body, lastingFields, messageFields } = render({});
  t.same(body, { aps: {}, pushId: 'n' });
  t.same(messageFields, {});
  t.same(lastingFields, {
    'apns-topic': 'com.example.news',
    'apns-push-type': 'alert',
    'apns-priority': '10',
  });
  t.end();
});

t.test('silent: background, priority 5, nothing shown, the text for the app', (t) => {
  const { body, lastingFields } = render({
    silent: true,
    title: 'Goal',
    message: '1:0',
    badge: 3,
    sound: 'default',
    priority: 'high',
    data: { match: 1 },
  });
  t.same(body, {
    aps: { 'content-available': 1 },
    title: 'Goal',
    message: '1:0',
    match: 1,
    pushId: 'n',
  });
  t.match(lastingFields, { 'apns-push-type': 'background', 'apns-priority': '5' });
  t.end();
});

t.test('payload.apns lies over what we made', (t) => {
  const { body } = render({
    title: 'Goal',
    data: { match: 1 },
    apns: { aps: { 'thread-id': 'm', alert: { subtitle: 'now' } }, match: 2 },
  });
  t.same(body, {
    aps: { alert: { title: 'Goal', subtitle: 'now' }, 'thread-id': 'm' },
    match: 2,
    pushId: 'n',
  });
  t.end();
});

t.test('the id of the push is ours, whatever a caller calls so', (t) => {
  t.equal(render({ data: { pushId: 'theirs' } }).body.pushId, 'n');
  t.equal(render({ apns: { pushId: 'theirs' } }).body.pushId, 'n');
  t.end();
});

t.test('a key __proto__ stays a key', (t) => {
  const parsed = parsePayload('{"data":{"__proto__":{"a":1}},"apns":{"__proto__":{"b":2}}}');
  t.ok(parsed.ok);
  if (!parsed.ok) return;
  const { bodyBefore } = renderApns(messageOf(parsed.payload), credential, NOW_MS);
  t.equal(bodyBefore.toString(), '{"__proto__":{"a":1,"b":2},"aps":{},"pushId":"n"}');
  t.end();
});

t.test('expiration is the earlier of ttl and the notification, 0 when past', (t) => {
  const at = (ttlSeconds: number | undefined, expiresInMs: number | null) =>
    render(ttlSeconds === undefined ? {} : { ttlSeconds }, {
      expiresAtMs: expiresInMs === null ? null : NOW_MS + expiresInMs,
    }).messageFields['apns-expiration'];
  t.equal(at(undefined, null), undefined);
  t.equal(at(100, null), '1700000100');
  t.equal(at(undefined, 50_500), '1700000050');
  t.equal(at(100, 50_000), '1700000050');
  t.equal(at(10, 50_000), '1700000010');
  t.equal(at(0, null), '0', 'one attempt and no more');
  t.equal(at(undefined, -1), '0');
  t.end();
});

t.test('bytes, not characters, count', (t) => {
  t.equal(
    Buffer.byteLength(apnsContent(messageOf({ title: 'ü' }))),
    '{"aps":{"alert":{"title":"u"}},"pushId":"n"}'.length + 1,
  );
  t.end();
});

/** The labels of a payload as a publisher writes it. */
const labels = (given: object): readonly (string | undefined)[] => {
  const parsed = parsePayload(given);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  const { lastingFields, messageFields } = render(parsed.payload);
  return [
    lastingFields['apns-push-type'],
    lastingFields['apns-priority'],
    lastingFields['apns-topic'],
    messageFields['apns-expiration'],
  ].filter((value) => value !== undefined);
};
const TOPIC = 'com.example.news';

t.test('type and priority follow the merged aps', (t) => {
  const wake = { 'content-available': 1 };
  t.same(labels({ data: { a: 1 }, apns: { aps: wake } }), ['background', '5', TOPIC]);
  t.same(labels({ title: 'a', apns: { aps: wake } }), ['alert', '10', TOPIC]);
  t.same(labels({ silent: true, apns: { aps: { alert: 'a' } } }), ['alert', '10', TOPIC]);
  t.same(labels({ silent: true, apns: { aps: { badge: 0 } } }), ['alert', '10', TOPIC]);
  const normal = { silent: true, priority: 'normal', apns: { aps: { sound: 'a' } } };
  t.same(labels(normal), ['alert', '5', TOPIC]);
  const taken = { title: 'a', apns: { aps: { ...wake, alert: null } } };
  t.same(labels(taken), ['background', '5', TOPIC], 'null takes away');
  t.same(labels({ data: { a: 1 } }), ['alert', '10', TOPIC]);
  t.end();
});

t.test('a type that the publisher names sets topic, priority and end', (t) => {
  const typed = (apnsPushType: string, more: object = {}) =>
    labels({ data: { a: 1 }, apnsPushType, ...more });
  t.same(typed('voip'), ['voip', '10', `${TOPIC}.voip`]);
  t.same(typed('voip', { priority: 'normal', ttl: 60 }), [
    'voip',
    '5',
    `${TOPIC}.voip`,
    '1700000060',
  ]);
  t.same(typed('complication'), ['complication', '10', `${TOPIC}.complication`]);
  t.same(typed('location'), ['location', '10', `${TOPIC}.location-query`]);
  t.same(typed('pushtotalk', { priority: 'normal' }), [
    'pushtotalk',
    '10',
    `${TOPIC}.voip-ptt`,
    '0',
  ]);
  t.same(typed('background', { silent: true }), ['background', '5', TOPIC]);
  t.same(typed('alert', { title: 'a' }), ['alert', '10', TOPIC]);
  t.end();
});

t.test('how it is shown', (t) => {
  const present = {
    interruption: 'timeSensitive',
    thread: 'match-1',
    relevance: 0.5,
    channel: 'goals',
    subtitle: 'Second half',
    actions: [{ id: 'open', title: 'Open' }],
    actionCategory: 'MATCH',
    appBadge: 3,
    mutable: true,
  } as const;
  t.same(render({ title: 'Goal', badge: 1, present }).body, {
    aps: {
      alert: { title: 'Goal', subtitle: 'Second half' },
      badge: 3,
      'mutable-content': 1,
      'interruption-level': 'time-sensitive',
      'thread-id': 'match-1',
      category: 'MATCH',
      'relevance-score': 0.5,
    },
    pushId: 'n',
  });
  const over = { aps: { 'thread-id': 'theirs', 'relevance-score': null } };
  t.match(render({ title: 'Goal', present, apns: over }).body.aps, {
    'thread-id': 'theirs',
    'relevance-score': undefined,
  });
  t.same(render({ silent: true, present }).body.aps, { 'content-available': 1 });
  t.end();
});
