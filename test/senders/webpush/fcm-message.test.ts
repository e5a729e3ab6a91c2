import t from 'tap';
import type { Payload } from '../../../src/domain/notification.ts';
import { renderForFcm } from '../../../src/senders/webpush/fcm-message.ts';
import { fcmCredential } from '../../support/provider-credentials.ts';

const NOW_MS = 1_700_000_000_000;
const { serviceAccount } = fcmCredential();

function render(payload: Partial<Payload>): unknown {
  const message = {
    notificationId: 'n',
    payload: { data: {}, ...payload },
    expiresAtMs: null,
    dueAtMs: NOW_MS,
  };
  const { bodyBefore, bodyAfter } = renderForFcm(message, serviceAccount, NOW_MS);
  return JSON.parse(`${bodyBefore}token${bodyAfter}`);
}

t.test('a message with a webpush block', (t) => {
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
  t.match(render(payload), {
    message: {
      token: 'token',
      notification: { title: 'Goal!', body: '1:0', image: 'https://example.com/goal.png' },
      data: { game: '7', url: 'https://example.com/game' },
      webpush: {
        headers: { TTL: '60', Urgency: 'normal', Topic: /^[\w-]{32}$/ },
        notification: { icon: '/i.png', actions: [] },
        fcm_options: { link: 'https://example.com/game' },
      },
      android: undefined,
      topic: undefined,
    },
  });
  t.end();
});

t.test('a silent one shows nothing', (t) => {
  t.same(render({ silent: true, title: 'x', webpush: { icon: '/i.png' } }), {
    message: {
      token: 'token',
      data: { title: 'x' },
      webpush: { headers: { TTL: '2419200', Urgency: 'low' } },
    },
  });
  t.end();
});

t.test('a link that FCM would refuse the message for is data only', (t) => {
  t.match(render({ url: 'app://game' }), {
    message: { data: { url: 'app://game' }, webpush: { fcm_options: undefined } },
  });
  t.end();
});
