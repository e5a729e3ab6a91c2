import type { Test } from 'tap';
import t from 'tap';
import type { Admission } from '../../../src/providers/webpush/allow-list.ts';
import {
  AllowList,
  DEFAULT_PUSH_HOSTS,
  isPushHost,
} from '../../../src/providers/webpush/allow-list.ts';

function check(t: Test, entries: readonly string[], cases: Readonly<Record<string, Admission>>) {
  const list = new AllowList(entries);
  for (const [origin, admission] of Object.entries(cases)) {
    t.equal(list.admissionOf(new URL(origin).origin), admission, origin);
  }
  t.end();
}

t.test('the services of the browsers’ makers, and nobody else', (t) =>
  check(t, DEFAULT_PUSH_HOSTS, {
    'https://fcm.googleapis.com/fcm/send/x': 'public',
    'https://FCM.googleapis.com:443/wp/x': 'public',
    'https://jmt17.google.com/x': 'public',
    'https://updates.push.services.mozilla.com/wpush/v2/x': 'public',
    'https://other.push.services.mozilla.com/': 'public',
    'https://web.push.apple.com/x': 'public',
    'https://wns2-par02p.notify.windows.com/w/?token=x': 'public',
    'https://fcm.googleapis.com:8443/': 'no',
    'http://fcm.googleapis.com/': 'no',
    'https://fcm.googleapis.com./': 'no',
    'https://googleapis.com/': 'no',
    'https://oauth2.googleapis.com/': 'no',
    'https://fcm.googleapis.com.example.net/': 'no',
    'https://evilnotify.windows.com/': 'no',
    'https://notify.windows.com/': 'no',
    'https://wns2.notify.windows.com:444/': 'no',
    'https://localhost/': 'no',
    'https://127.0.0.1/': 'no',
    'https://[::1]/': 'no',
  }),
);

t.test('an entry with a port names one place, wherever it is', (t) =>
  check(t, ['localhost:8443', '127.0.0.1:9000', '[::1]:9000', 'push.internal:4430', '10.0.0.7'], {
    'https://localhost:8443/': 'named',
    'https://localhost:8444/': 'no',
    'https://localhost/': 'no',
    'https://127.0.0.1:9000/': 'named',
    'https://127.1:9000/': 'named',
    'https://[0:0::1]:9000/': 'named',
    'https://push.internal:4430/': 'named',
    'https://10.0.0.7/': 'public',
    'https://fcm.googleapis.com/': 'no',
  }),
);

t.test('what an operator may write', (t) => {
  const good = ['a.example', 'localhost:1', '*.push.example.com', '127.0.0.1:9', '[::1]:9'];
  for (const entry of [...good, ...DEFAULT_PUSH_HOSTS]) t.equal(isPushHost(entry), true, entry);
  const bad = [
    '',
    '*',
    '*.',
    '*.com',
    '*.a.b:443',
    'https://a.example',
    'a.example/x',
    'u@a.example',
  ];
  for (const entry of [...bad, 'a b', 'a.example:99999', '*.*.example.com']) {
    t.equal(isPushHost(entry), false, entry);
  }
  t.end();
});
