import t from 'tap';
import type { Payload } from '../../src/domain/notification.ts';
import { isReplaceable, withReplaceableDefault } from '../../src/domain/replaceable.ts';

const payload = (more: Partial<Payload> = {}): Payload => ({ title: 'Goal!', data: {}, ...more });

t.test('the publisher decides, then the operator; by default it is replaceable', (t) => {
  const off = { replaceableDefault: false } as const;
  t.ok(isReplaceable(payload()));
  t.notOk(isReplaceable(payload(off)));
  t.ok(isReplaceable(payload({ present: { thread: 'a' } })));
  t.ok(isReplaceable(payload({ ...off, present: { replaceable: true } })));
  t.notOk(isReplaceable(payload({ present: { replaceable: false } })));
  t.notOk(isReplaceable(payload({ silent: true, present: { replaceable: true } })));
  t.end();
});

t.test("the operator's word is kept in each language, and only where it is no", (t) => {
  const german = { tagSourceId: 'de', payload: payload({ title: 'Tor!' }) };
  const whole = payload({ present: { replaceable: true }, languages: [german] });
  t.equal(withReplaceableDefault(whole, true), whole);
  t.same(withReplaceableDefault(payload(), false), { ...payload(), replaceableDefault: false });
  t.same(withReplaceableDefault(whole, false), {
    ...whole,
    replaceableDefault: false,
    languages: [{ ...german, payload: { ...german.payload, replaceableDefault: false } }],
  });
  t.end();
});
