import t from 'tap';
import type { Message, Payload } from '../../../src/domain/notification.ts';
import { pushContent, pushFields, renderPush } from '../../../src/providers/webpush/message.ts';

const NOW_MS = 1_700_000_000_000;

const message = (payload: Partial<Payload>, expiresAtMs: number | null = null): Message => ({
  notificationId: 'n',
  payload: { data: {}, ...payload },
  expiresAtMs,
  dueAtMs: NOW_MS - 10_000,
});

const read = (payload: Partial<Payload>) => JSON.parse(pushContent(message(payload)));

const DECLARED = {
  web_push: 8030,
  notification: {
    title: 'Goal!',
    body: '1:0',
    image: 'https://example.com/goal.png',
    tag: 'n',
    navigate: 'https://example.com/game',
  },
  app_badge: 3,
};

t.test('what the service worker gets', (t) => {
  const whole: Partial<Payload> = {
    title: 'Goal!',
    message: '1:0',
    url: 'https://example.com/game',
    image: 'https://example.com/goal.png',
    badge: 3,
    sound: 'whistle',
    data: { game: 7, nested: { a: [1] } },
    apns: { aps: {} },
    fcm: { android: {} },
  };
  t.same(read(whole), {
    ...DECLARED,
    pushId: 'n',
    title: 'Goal!',
    body: '1:0',
    url: 'https://example.com/game',
    image: 'https://example.com/goal.png',
    badge: 3,
    sound: 'whistle',
    tag: 'n',
    data: { game: 7, nested: { a: [1] } },
  });
  const webpush = { title: 'On the web', icon: '/i.png', data: { more: 1 } };
  t.same(read({ title: 'x', data: { a: 1 }, webpush }), {
    pushId: 'n',
    title: 'On the web',
    icon: '/i.png',
    tag: 'n',
    data: { a: 1, more: 1 },
  });
  t.same(read({ silent: true, title: 'x' }), { title: 'x', silent: true, pushId: 'n' });
  t.same(read({}), { pushId: 'n' });
  t.same(read({ data: {}, webpush: { pushId: 'theirs' } }), { pushId: 'n' });
  t.end();
});

t.test(
  'declarative: with a title and an absolute url, and what it shows is what the worker would',
  (t) => {
    const url = 'https://example.com/game';
    const isDeclarative = (payload: Partial<Payload>) => 'web_push' in read(payload);
    t.ok(isDeclarative({ title: 'x', url }));
    t.ok(isDeclarative({ title: 'x', url: 'http://localhost:3000/' }));
    t.notOk(isDeclarative({ title: 'x' }));
    t.notOk(isDeclarative({ url }));
    t.notOk(isDeclarative({ title: 'x', url: '/game' }));
    t.notOk(isDeclarative({ title: 'x', url: 'app://game' }), 'no browser goes there');
    t.notOk(isDeclarative({ title: 'x', url, silent: true }), 'it would be shown');
    const webpush = { title: 'On the web', icon: '/i.png', tag: 't', requireInteraction: true };
    const { notification, app_badge } = read({ title: 'x', message: 'y', url, badge: 0, webpush });
    t.same(notification, {
      title: 'On the web',
      body: 'y',
      icon: '/i.png',
      tag: 't',
      requireInteraction: true,
      navigate: url,
    });
    t.equal(app_badge, 0);
    const own = { notification: { navigate: 'https://example.com/own' }, mutable: true };
    t.match(read({ title: 'x', url, webpush: own }), {
      web_push: 8030,
      mutable: true,
      notification: { title: 'x', navigate: 'https://example.com/own' },
    });
    t.end();
  },
);

t.test('the declarative copy is left out where it alone is too much', (t) => {
  const url = 'https://example.com/game';
  t.ok('web_push' in read({ title: 'x', url, message: 'y'.repeat(1_800) }));
  t.same(read({ title: 'x', url, message: 'y'.repeat(3_000) }), {
    title: 'x',
    url,
    body: 'y'.repeat(3_000),
    tag: 'n',
    pushId: 'n',
  });
  t.end();
});

t.test('TTL: four weeks, or until the earlier of both ends', (t) => {
  const ttl = (of: Message) => pushFields(of, NOW_MS).ttl;
  t.equal(ttl(message({})), '2419200');
  t.equal(ttl(message({ ttlSeconds: 60 })), '50', 'it began when the push was due');
  t.equal(ttl(message({ ttlSeconds: 5 })), '0');
  t.equal(ttl(message({}, NOW_MS + 1_500)), '2');
  t.equal(ttl(message({ ttlSeconds: 60 }, NOW_MS + 5_000)), '5');
  t.equal(ttl(message({}, NOW_MS + 1e12)), '2419200');
  t.end();
});

t.test('urgency', (t) => {
  const urgency = (payload: Partial<Payload>) => pushFields(message(payload), NOW_MS).urgency;
  t.equal(urgency({}), 'high');
  t.equal(urgency({ priority: 'high' }), 'high');
  t.equal(urgency({ priority: 'normal' }), 'normal');
  t.equal(urgency({ silent: true, priority: 'high' }), 'low');
  t.end();
});

t.test('a topic is 32 characters of base64url, another for each collapseId', (t) => {
  const topic = (collapseId: string) => pushFields(message({ collapseId }), NOW_MS).topic ?? '';
  t.equal(pushFields(message({}), NOW_MS).topic, undefined);
  const topics = ['a', 'b', 'x'.repeat(64), 'with spaces & signs'].map(topic);
  for (const one of topics) t.match(one, /^[\w-]{32}$/);
  t.equal(new Set(topics).size, topics.length);
  t.equal(topic('a'), topics[0]);
  t.end();
});

t.test('the identity of an alert is its tag and its topic: the job, or its collapseId', (t) => {
  const identityOf = (payload: Partial<Payload>) => ({
    tag: read(payload).tag,
    topic: pushFields(message(payload), NOW_MS).topic,
  });
  const topicOf = (collapseId: string) => pushFields(message({ collapseId }), NOW_MS).topic;
  t.same(identityOf({ title: 'Goal' }), { tag: 'n', topic: topicOf('n') });
  const named = { message: '1:0', collapseId: 'match-1' };
  t.same(identityOf(named), { tag: 'match-1', topic: topicOf('match-1') });
  t.equal(identityOf({ webpush: { body: 'On the web' } }).tag, 'n');
  t.equal(identityOf({ title: 'Goal', webpush: { tag: 'theirs' } }).tag, 'theirs');
  const none = { tag: undefined, topic: undefined };
  t.same(identityOf({ title: 'Goal', silent: true }), none);
  t.same(identityOf({ data: { a: 1 } }), none);
  t.same(identityOf({ title: 'Goal', present: { replaceable: false } }), none);
  t.same(identityOf({ title: 'Goal', replaceableDefault: false }), none);
  t.same(identityOf({ ...named, present: { replaceable: false } }), {
    tag: undefined,
    topic: topicOf('match-1'),
  });
  t.end();
});

t.test('the identity is left out before the declarative copy is, unless it is asked for', (t) => {
  const url = 'https://example.com/game';
  const withText = (octets: number, more: Partial<Payload> = {}) =>
    read({ title: 'x', url, message: 'y'.repeat(octets), ...more });
  const longest = Array.from({ length: 1_000 }, (_, index) => 1_500 + index).findLast(
    (octets) => 'web_push' in withText(octets, { replaceableDefault: false }),
  );
  t.ok(longest);
  const { web_push, tag } = withText(longest ?? 0);
  t.equal(web_push, 8030);
  t.equal(tag, undefined);
  const wanted = withText(longest ?? 0, { present: { replaceable: true } });
  t.equal(wanted.web_push, undefined);
  t.equal(wanted.tag, 'n');
  t.end();
});

t.test('the request: what is its own goes apart from what lasts', (t) => {
  t.match(renderPush(message({ title: 'ü', collapseId: 'c' }), NOW_MS), {
    tokenIn: 'path',
    pathBefore: '',
    hasOwnBody: true,
    payloadBytes: 37,
    lastingFields: {
      'content-encoding': 'aes128gcm',
      urgency: 'high',
      'x-wns-cache-policy': 'cache',
    },
    messageFields: { ttl: '2419200', topic: String },
  });
  t.end();
});

t.test('an empty object as PHP writes it takes nothing away', (t) => {
  const data = { x: 1 };
  t.same(read({ data, webpush: { data: [] } }), read({ data }));
  t.end();
});

t.test('how it is shown', (t) => {
  const present = {
    interruption: 'passive',
    thread: 'match-1',
    actions: [{ id: 'open', title: 'Open', url: 'https://example.com/1' }],
    appBadge: 4,
    mutable: true,
  } as const;
  const actions = [{ action: 'open', title: 'Open', navigate: 'https://example.com/1' }];
  const shown = { title: 'Goal', silent: true, actions, app_badge: 4, mutable: true, tag: 'n' };
  t.same(read({ title: 'Goal', present }), { ...shown, pushId: 'n' });
  const url = 'https://example.com/game';
  t.same(read({ title: 'Goal', url, badge: 1, present }), {
    ...shown,
    url,
    badge: 1,
    web_push: 8030,
    notification: { title: 'Goal', silent: true, actions, tag: 'n', navigate: url },
    pushId: 'n',
  });
  const urgencyOf = (payload: Partial<Payload>) => pushFields(message(payload), NOW_MS).urgency;
  t.equal(urgencyOf({ present }), 'low');
  t.equal(urgencyOf({ present, priority: 'high' }), 'high');
  t.equal(urgencyOf({ present: { interruption: 'timeSensitive' } }), 'high');
  t.end();
});
