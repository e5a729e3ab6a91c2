import t from 'tap';
import type { Payload } from '../../../src/domain/notification.ts';
import {
  identityFaults,
  replacing,
  sentIdentityOf,
  withIdentity,
} from '../../../src/push/accept/sent-identity.ts';

const ANDROID = { appId: 1, platformId: 15 } as const;
const payload = (more: Partial<Payload> = {}): Payload => ({ title: 'x', data: {}, ...more });
const sent = (...payloads: Payload[]) =>
  sentIdentityOf(
    payloads.map((one) => ({ payload: one, templated: null })),
    [ANDROID],
  );
const onAndroid = (tag: string | null) => ({ fcm: { android: { notification: { tag } } } });

t.test('one identity for all that was sent, or none', (t) => {
  t.same(sent(payload()), { kind: 'identity', own: {} });
  const named = payload({ collapseId: 'a' });
  t.same(sent(named, named), { kind: 'identity', own: { collapseId: 'a' } });
  t.same(sent(named, payload()), { kind: 'several' });
  const templated = { given: {}, payloads: { '1.3': payload({ collapseId: 'b' }) } };
  t.same(sentIdentityOf([{ payload: named, templated }], [ANDROID]), { kind: 'several' });
  const inGerman = { language: 'de', payload: payload({ silent: true }) };
  t.same(sent(payload({ languages: [inGerman] })), { kind: 'none' });
  t.same(sent(payload({ replaceableDefault: false })), { kind: 'none' });
  t.same(sent(payload({ present: { replaceable: false } })), { kind: 'none' });
  t.end();
});

t.test('tags of overlays are of it', (t) => {
  const tagged = payload({ ...onAndroid('a'), webpush: { tag: 'b' } });
  t.same(sent(tagged), { kind: 'identity', own: { androidTag: 'a', webTag: 'b' } });
  t.same(sent(tagged, payload()), { kind: 'several' });
  t.same(sent(payload(onAndroid(null))), { kind: 'none' }, 'taken away');
  t.end();
});

t.test('a message that was too large for one has none', (t) => {
  t.same(sent(payload({ message: 'x'.repeat(3_960) })), { kind: 'none' });
  t.same(sent(payload({ message: 'x'.repeat(1_500) })), { kind: 'identity', own: {} });
  t.end();
});

t.test('a payload is given it, in each language', (t) => {
  const languages = [{ language: 'de', payload: payload({ collapseId: 'own' }) }];
  const made = payload({ collapseId: 'a', present: { replaceable: true } });
  t.same(replacing(payload({ languages }), { collapseId: 'a' }), {
    ...made,
    languages: [{ language: 'de', payload: made }],
  });
  t.same(withIdentity(payload({ collapseId: 'own', ...onAndroid('own') }), {}), {
    title: 'x',
    data: {},
    fcm: { android: { notification: {} } },
  });
  t.same(withIdentity(payload({ fcm: { data: {} } }), { androidTag: 'a', webTag: 'b' }), {
    title: 'x',
    data: {},
    fcm: { data: {}, android: { notification: { tag: 'a' } } },
    webpush: { tag: 'b' },
  });
  t.end();
});

t.test('another one is a fault, the same and none are not', (t) => {
  const faultsOf = (more: Partial<Payload>) =>
    identityFaults(payload(more), { collapseId: 'a', webTag: 'b' }, 'a correction').map(
      ({ path }) => path,
    );
  t.same(faultsOf({}), []);
  t.same(faultsOf({ collapseId: 'a', webpush: { tag: 'b' } }), []);
  t.same(faultsOf({ collapseId: 'c', webpush: { tag: 'a' }, ...onAndroid('a') }), [
    'payload.collapseId',
    'payload.fcm.android.notification.tag',
    'payload.webpush.tag',
  ]);
  t.end();
});
