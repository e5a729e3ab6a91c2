import t from 'tap';
import type { Message, Payload } from '../../../src/domain/notification.ts';
import { fcmPayloadBytes, renderFcm } from '../../../src/senders/fcm/message.ts';
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
  const template = renderFcm(message, credential, NOW_MS);
  t.equal(template.tokenIn, 'body');
  t.equal(template.pathBefore, '/v1/projects/news-project/messages:send');
  t.equal(template.payloadBytes, fcmPayloadBytes(message, NOW_MS));
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
        url: 'https://example.com/1',
        text: 'a',
        number: '1.5',
        yes: 'true',
        deep: '{"a":[1]}',
        list: '[1]',
      },
      android: {
        ttl: '60s',
        priority: 'HIGH',
        collapse_key: 'match-1',
        notification: { sound: 'default' },
      },
    },
  );
  t.end();
});

t.test('nothing at all', (t) => {
  t.same(render({}), {});
  t.end();
});

t.test('silent is data only', (t) => {
  t.same(
    render({ silent: true, title: 'Goal', message: '1:0', image: 'i', sound: 's', url: 'u' }),
    { data: { title: 'Goal', message: '1:0', image: 'i', url: 'u' } },
  );
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
      data: { a: '1', b: '2', c: '{"d":1}' },
      android: { direct_boot_ok: true },
    },
  );
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
  const { pathBefore } = renderFcm(
    messageOf({}),
    { ...credential, serviceAccount: account },
    NOW_MS,
  );
  t.equal(pathBefore, '/v1/projects/..%2Fx%3Fy%23z/messages:send');
  t.end();
});
