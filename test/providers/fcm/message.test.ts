import t from 'tap';
import { checkMessage } from '../../../packages/simulator/src/fcm/fcm-message.ts';
import type { Message, Payload } from '../../../src/domain/notification.ts';
import { fcmContent, renderFcm } from '../../../src/providers/fcm/message.ts';
import { fcmCredential } from '../../support/provider-credentials.ts';

const NOW_MS = 1_700_000_000_000;
const credential = fcmCredential();

const messageOf = (payload: Partial<Payload>, more: Partial<Message> = {}): Message => ({
  notificationId: 'n',
  payload: { data: {}, ...payload },
  dueAtMs: NOW_MS,
  expiresAtMs: null,
  ...more,
});
const render = (payload: Partial<Payload>, more?: Partial<Message>) => {
  const message = messageOf(payload, more);
  const rendered = renderFcm(message, credential, NOW_MS);
  t.equal(rendered.fid.bodyAfter, rendered.token.bodyAfter, 'one content for both forms');
  t.equal(
    rendered.fid.bodyBefore.toString(),
    rendered.token.bodyBefore.toString().replace('token', 'fid'),
  );
  const template = rendered.token;
  t.equal(template.tokenIn, 'body');
  t.equal(template.pathBefore, '/v1/projects/news-project/messages:send');
  t.equal(template.payloadBytes, Buffer.byteLength(fcmContent(message, NOW_MS)));
  const body = JSON.parse(
    `${template.bodyBefore.toString()}the token${template.bodyAfter.toString()}`,
  );
  t.same(Object.keys(body), ['message']);
  t.equal(body.message.token, 'the token');
  const { token: _, ...rest } = body.message;
  return rest;
};

t.test('everything at once', (t) => {
  t.same(
    render({
      title: 'Goal',
      message: '1:0 ⚽',
      url: 'https://example.com/1',
      image: 'https://example.com/1.png',
      badge: 1,
      sound: 'default',
      ttlSeconds: 60,
      priority: 'high',
      collapseId: 'match-1',
      data: { text: 'a', number: 1.5, yes: true, deep: { a: [1] }, list: [1], none: null },
    }),
    {
      notification: { title: 'Goal', body: '1:0 ⚽', image: 'https://example.com/1.png' },
      data: {
        title: 'Goal',
        message: '1:0 ⚽',
        url: 'https://example.com/1',
        image: 'https://example.com/1.png',
        text: 'a',
        number: '1.5',
        yes: 'true',
        deep: '{"a":[1]}',
        list: '[1]',
        pushId: 'n',
      },
      android: {
        ttl: '60s',
        priority: 'HIGH',
        collapse_key: 'match-1',
        notification: { sound: 'default', tag: 'match-1' },
      },
    },
  );
  t.end();
});

t.test('nothing at all', (t) => {
  t.same(render({}), { data: { pushId: 'n' } });
  t.end();
});

t.test('silent is data only', (t) => {
  t.same(
    render({ silent: true, title: 'Goal', message: '1:0', image: 'i', sound: 's', url: 'u' }),
    { data: { title: 'Goal', message: '1:0', image: 'i', url: 'u', pushId: 'n' } },
  );
  t.end();
});

t.test('the identity of an alert is its tag: the job, or its collapseId', (t) => {
  const tagOf = (payload: Partial<Payload>) => render(payload).android?.notification?.tag;
  t.equal(tagOf({ title: 'Goal' }), 'n');
  t.equal(tagOf({ message: '1:0', collapseId: 'match-1' }), 'match-1');
  t.equal(tagOf({ fcm: { notification: { title_loc_key: 'GOAL' } } }), 'n');
  t.equal(tagOf({ fcm: { android: { notification: { body_loc_key: 'GOAL' } } } }), 'n');
  const own = { android: { notification: { tag: 'theirs' } } };
  t.equal(tagOf({ title: 'Goal', fcm: own }), 'theirs');
  for (const without of [
    { title: 'Goal', silent: true },
    { data: { a: 1 } },
    { sound: 'ding' },
    { title: 'Goal', present: { replaceable: false } },
    { title: 'Goal', replaceableDefault: false } as const,
  ]) {
    t.equal(tagOf(without), undefined, JSON.stringify(without));
  }
  t.equal(tagOf({ title: 'Goal', present: { replaceable: true }, replaceableDefault: false }), 'n');
  const asBefore = { title: 'Goal', collapseId: 'match-1', present: { replaceable: false } };
  t.same(render(asBefore).android, { collapse_key: 'match-1' });
  t.end();
});

t.test('payload.fcm lies over what we made and cannot choose the target', (t) => {
  t.same(
    render({
      title: 'Goal',
      data: { a: 1 },
      fcm: {
        token: 'another',
        topic: 'all',
        condition: "'a' in topics",
        fid: 'f',
        notification: { body: 'over' },
        data: { b: 2, c: { d: 1 } },
        android: { direct_boot_ok: true },
      },
    }),
    {
      notification: { title: 'Goal', body: 'over' },
      data: { title: 'Goal', a: '1', b: '2', c: '{"d":1}', pushId: 'n' },
      android: { direct_boot_ok: true, notification: { tag: 'n' } },
    },
  );
  t.end();
});

t.test('the id of the push is ours, wherever a device would read data', (t) => {
  const theirs = { pushId: 'theirs' };
  t.equal(render({ data: theirs }).data.pushId, 'n');
  t.equal(render({ fcm: { data: theirs } }).data.pushId, 'n');
  t.equal(render({ fcm: { data: null } }).data.pushId, 'n');
  // In its place Android gets its own data.
  const { data, android } = render({ fcm: { android: { data: { a: '1', ...theirs } } } });
  t.same(data, { pushId: 'n' });
  t.same(android, { data: { a: '1', pushId: 'n' } });
  t.end();
});

t.test('a caller who names a data entry like a copy has meant it', (t) => {
  t.match(render({ title: 'Goal', data: { title: 'Own' } }), {
    notification: { title: 'Goal' },
    data: { title: 'Own' },
  });
  t.end();
});

t.test('copies are left out where they alone are too much', (t) => {
  const whole = render({ message: 'x'.repeat(1_990), url: 'u' });
  t.equal(whole.data.message.length, 1_990);
  const long = render({ message: 'x'.repeat(2_100), title: 'Goal', url: 'u' });
  t.equal(long.notification.body.length, 2_100);
  t.same(long.data, { url: 'u', pushId: 'n' });
  const silent = render({ message: 'x'.repeat(3_000), silent: true });
  t.equal(silent.data.message.length, 3_000, 'what stands there only is no copy');
  t.end();
});

t.test('the identity is left out before a copy is, unless it is asked for', (t) => {
  const full = (bytesLeft: number, present: Payload['present'] = {}) => {
    const made = (message: string) => messageOf({ message, present });
    const withoutTag = { message: '', present: { ...present, replaceable: false } };
    const frame = Buffer.byteLength(fcmContent(messageOf(withoutTag), NOW_MS));
    // The text stands there twice.
    const content = fcmContent(made('x'.repeat((4_096 - frame - bytesLeft) / 2)), NOW_MS);
    return JSON.parse(content);
  };
  const tag = Buffer.byteLength(',"android":{"notification":{"tag":"n"}}');
  t.match(full(tag), { data: { message: /x/ }, android: { notification: { tag: 'n' } } });
  const { data, android } = full(tag - 2);
  t.match(data, { message: /x/ });
  t.equal(android, undefined);
  const wanted = full(tag - 2, { replaceable: true });
  t.same(wanted.data, { pushId: 'n' });
  t.match(wanted.android, { notification: { tag: 'n' } });
  t.end();
});

t.test('ttl is what is left until the earlier of both ends', (t) => {
  const at = (ttlSeconds: number | undefined, expiresInMs: number | null) =>
    render(ttlSeconds === undefined ? {} : { ttlSeconds }, {
      expiresAtMs: expiresInMs === null ? null : NOW_MS + expiresInMs,
    }).android?.ttl;
  t.equal(at(undefined, null), undefined);
  t.equal(at(100, null), '100s');
  t.equal(at(100, 50_000), '50s');
  t.equal(at(undefined, 49_001), '50s');
  t.equal(at(0, null), '0s');
  t.equal(at(undefined, -5), '0s');
  t.equal(at(undefined, 10 ** 12), '2419200s');
  t.end();
});

t.test('a project id cannot leave its place in the path', (t) => {
  const account = { ...credential.serviceAccount, project_id: '../x?y#z' };
  const { token } = renderFcm(messageOf({}), { ...credential, serviceAccount: account }, NOW_MS);
  t.equal(token.pathBefore, '/v1/projects/..%2Fx%3Fy%23z/messages:send');
  t.end();
});

t.test('empty objects as PHP writes them take nothing away, and are objects', (t) => {
  const shown = render({ title: 'a', data: { x: '1' }, fcm: { notification: [], data: [] } });
  t.same(shown, render({ title: 'a', data: { x: '1' } }));
  t.same(render({ fcm: { android: [], apns: { headers: [] } } }), {
    ...render({}),
    android: {},
    apns: { headers: {} },
  });
  t.same(render({ fcm: { android: { notification: [], data: [] } } }).android, {
    notification: {},
    data: { pushId: 'n' },
  });
  const listed = { android: { notification: { body_loc_args: [] } } };
  t.same(render({ fcm: listed }).android, listed.android, 'a list stays one');
  t.end();
});

t.test('how it is shown', (t) => {
  const present = {
    interruption: 'passive',
    thread: 'match-1',
    relevance: 0.5,
    channel: 'goals',
    subtitle: 'Second half',
    actions: [{ id: 'open', title: 'Open', url: 'https://example.com' }],
    actionCategory: 'MATCH',
    appBadge: 3,
    mutable: true,
  } as const;
  const data = {
    interruption: 'passive',
    group: 'match-1',
    subtitle: 'Second half',
    actions: '[{"id":"open","title":"Open","url":"https://example.com"}]',
    actionCategory: 'MATCH',
    pushId: 'n',
  };
  const content = JSON.parse(
    fcmContent(messageOf({ sound: 'ding', image: 'https://example.com/1.png', present }), NOW_MS),
  );
  t.same(content, {
    notification: { image: 'https://example.com/1.png' },
    data: { ...data, image: 'https://example.com/1.png' },
    android: {
      notification: {
        sound: 'ding',
        notification_priority: 'PRIORITY_LOW',
        channel_id: 'goals',
        notification_count: 3,
        tag: 'n',
      },
    },
  });
  const checked = checkMessage({ message: { ...content, token: 'one' } }, 0);
  t.equal(checked.kind, 'valid', JSON.stringify(checked));
  t.same(JSON.parse(fcmContent(messageOf({ silent: true, present }), NOW_MS)), { data });
  t.same(JSON.parse(fcmContent(messageOf({ present }), NOW_MS)), { data }, 'no empty alert');
  const fcm = { notification: { title: 'Theirs' } };
  t.match(JSON.parse(fcmContent(messageOf({ present, fcm }), NOW_MS)), {
    android: { notification: { channel_id: 'goals' } },
  });
  const theirs = { group: 'theirs' };
  t.equal(
    JSON.parse(fcmContent(messageOf({ present, data: theirs }), NOW_MS)).data.group,
    'theirs',
  );
  t.end();
});
