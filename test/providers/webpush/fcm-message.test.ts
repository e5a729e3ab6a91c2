import t from 'tap';
import type { Payload } from '../../../src/domain/notification.ts';
import { renderForFcm } from '../../../src/providers/webpush/fcm-message.ts';
import { fcmCredential } from '../../support/provider-credentials.ts';

const NOW_MS = 1_700_000_000_000;
const { serviceAccount } = fcmCredential();

function render(payload: Partial<Payload>) {
  const message = {
    notificationId: 'n',
    payload: { data: {}, ...payload },
    expiresAtMs: null,
    dueAtMs: NOW_MS,
  };
  const { bodyBefore, bodyAfter } = renderForFcm(message, serviceAccount, NOW_MS).token;
  return JSON.parse(`${bodyBefore}token${bodyAfter}`);
}

t.test('data only: what is shown is the business of the worker', (t) => {
  const payload: Partial<Payload> = {
    title: 'Goal!',
    message: '1:0',
    image: 'https://example.com/goal.png',
    url: 'https://example.com/game',
    ttlSeconds: 60,
    priority: 'normal',
    collapseId: 'game',
    data: { game: 7 },
    webpush: { icon: '/i.png', actions: [] },
    fcm: { android: { ttl: '1s' }, topic: 'all' },
  };
  const { message } = render(payload);
  t.same(message.data, {
    title: 'Goal!',
    message: '1:0',
    url: 'https://example.com/game',
    image: 'https://example.com/goal.png',
    game: '7',
    icon: '/i.png',
    actions: '[]',
    tag: 'game',
    pushId: 'n',
  });
  t.match(message.webpush.headers, { TTL: '60', Urgency: 'normal', Topic: /^[\w-]{32}$/ });
  t.same(Object.keys(message), ['token', 'data', 'webpush']);
  t.same(Object.keys(message.webpush), ['headers'], 'nothing that Firebase would show itself');
  t.end();
});

t.test('a silent one shows nothing', (t) => {
  t.same(render({ silent: true, title: 'x', webpush: { icon: '/i.png' } }), {
    message: {
      token: 'token',
      data: { title: 'x', icon: '/i.png', pushId: 'n' },
      webpush: { headers: { TTL: '2419200', Urgency: 'low' } },
    },
  });
  t.end();
});

t.test(
  'payload.webpush lies over it, in the names of data, and brings no key that FCM refuses',
  (t) => {
    const webpush = {
      title: 'On the web',
      body: 'There',
      from: 'x',
      data: { more: 1, 'google.x': 1, pushId: 'theirs' },
    };
    t.same(render({ title: 'x', message: 'y', data: { a: 1 }, webpush }).message.data, {
      title: 'On the web',
      message: 'There',
      tag: 'n',
      a: '1',
      more: '1',
      pushId: 'n',
    });
    t.end();
  },
);
