import t from 'tap';
import type { Payload } from '../../../src/domain/notification.ts';
import { sentIdentityOf, withIdentity } from '../../../src/push/accept/sent-identity.ts';

const payload = (more: Partial<Payload> = {}): Payload => ({ title: 'x', data: {}, ...more });
const sent = (...payloads: Payload[]) => ({
  sent: payloads.map((one) => ({ payload: one, templated: null })),
});

t.test('one identity for all that was sent, or none', (t) => {
  t.same(sentIdentityOf(sent(payload())), { kind: 'identity', collapseId: undefined });
  const named = payload({ collapseId: 'a' });
  t.same(sentIdentityOf(sent(named, named)), { kind: 'identity', collapseId: 'a' });
  t.same(sentIdentityOf(sent(named, payload())), { kind: 'several' });
  const templated = { given: {}, payloads: { '1.3': payload({ collapseId: 'b' }) } };
  t.same(sentIdentityOf({ sent: [{ payload: named, templated }] }), { kind: 'several' });
  const inGerman = { language: 'de', payload: payload({ silent: true }) };
  t.same(sentIdentityOf(sent(payload({ languages: [inGerman] }))), { kind: 'none' });
  t.same(sentIdentityOf(sent(payload({ replaceableDefault: false }))), { kind: 'none' });
  t.same(sentIdentityOf(sent(payload({ present: { replaceable: false } }))), { kind: 'none' });
  t.end();
});

t.test('a payload is given it, in each language', (t) => {
  const languages = [{ language: 'de', payload: payload({ collapseId: 'own' }) }];
  const replacing = payload({ collapseId: 'a', present: { replaceable: true } });
  t.same(withIdentity(payload({ languages }), 'a'), {
    ...replacing,
    languages: [{ language: 'de', payload: replacing }],
  });
  t.same(withIdentity(payload({ collapseId: 'own' }), undefined), {
    title: 'x',
    data: {},
    present: { replaceable: true },
  });
  t.end();
});
