/** How much of the server one caller gets, and what is left for the others. */

import t from 'tap';
import type { Holder } from '../../src/http/admission.ts';
import { Admission } from '../../src/http/admission.ts';

const LIMITS = { requestsMax: 12, bodyBytesMax: 1_200 };

/** Requests that a caller gets in until he is refused. */
function takeAll(admission: Admission, name: string): readonly Holder[] {
  const held: Holder[] = [];
  for (;;) {
    const holder = admission.enter(name);
    if (holder === null) return held;
    held.push(holder);
  }
}

t.test('one alone has half of the requests, and leaves room for whoever comes', (t) => {
  const admission = new Admission(LIMITS);
  t.equal(takeAll(admission, 'a').length, 6);
  t.equal(takeAll(admission, 'b').length, 3);
  for (const name of ['c', 'd', 'e']) t.ok(admission.enter(name) !== null, name);
  t.equal(admission.enter('f'), null, 'twelve are all there are');
  t.end();
});

t.test('what was given back may be had again', (t) => {
  const admission = new Admission(LIMITS);
  for (const holder of takeAll(admission, 'a')) admission.leave(holder, 0);
  t.equal(takeAll(admission, 'b').length, 6);
  t.end();
});

t.test('bytes of bodies have the same share', (t) => {
  const admission = new Admission(LIMITS);
  const [a, b] = [admission.enter('a'), admission.enter('b')];
  if (a === null || b === null) throw new Error('there is room for both');
  t.equal(admission.keeps(a, 600), true);
  t.equal(admission.keeps(a, 1), false);
  t.equal(admission.keeps(b, 290), true, 'another one');
  admission.leave(a, 601);
  t.equal(admission.keeps(b, 300), true, 'as soon as it is gone');
  t.end();
});
