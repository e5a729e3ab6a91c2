/** Forms that refuse what they do not know, and measure before they look. */

import t from 'tap';
import { z } from 'zod';
import { formFaults, measured, strictForm } from '../../src/std/strict-form.ts';

/** A schema of entries that counts how many were looked at. */
function counting() {
  let looked = 0;
  const entry = z.string().refine(() => {
    looked += 1;
    return true;
  });
  return { entry, looked: () => looked };
}

t.test('a list that is too long is one fault, and none of its entries is looked at', (t) => {
  const { entry, looked } = counting();
  const form = strictForm({ ids: measured(3, z.array(entry)).optional() });
  const read = form.safeParse({ ids: Array(100_000).fill({}) });
  t.same(read.error && formFaults(read.error), [
    { path: 'ids', message: 'must have 3 entries at most' },
  ]);
  t.equal(looked(), 0);
  t.same(form.parse({ ids: ['a', 'b', 'c'] }), { ids: ['a', 'b', 'c'] });
  t.equal(looked(), 3);
  t.same(form.parse({}), {});
  t.equal(form.safeParse({ ids: 'a' }).success, false);
  t.end();
});

t.test('and so is a map', (t) => {
  const { entry, looked } = counting();
  const form = measured(2, z.record(entry, entry));
  t.equal(form.safeParse({ a: '1', b: '2', c: '3' }).success, false);
  t.equal(looked(), 0);
  t.same(form.parse({ a: '1', b: '2' }), { a: '1', b: '2' });
  t.equal(form.safeParse(null).success, false);
  t.end();
});
