/** How much of the server one caller gets, and what is left for the others. */

import t from 'tap';
import type { Holder } from '../../src/api/admission.ts';
import { Admission } from '../../src/api/admission.ts';

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

t.test('one alone has less than half of the requests, and leaves room for whoever comes', (t) => {
  const admission = new Admission(LIMITS);
  t.equal(takeAll(admission, 'a').length, 5);
  t.equal(takeAll(admission, 'b').length, 3);
  for (const name of ['c', 'd', 'e', 'f']) t.equal(takeAll(admission, name).length, 1, name);
  t.equal(admission.enter('g'), null, 'twelve are all there are');
  t.end();
});

t.test('after fifty who took all they may, there is room for one that has none', (t) => {
  const admission = new Admission({ requestsMax: 20_000, bodyBytesMax: 268_435_456 });
  for (let n = 0; n < 50; n += 1) {
    const held = takeAll(admission, `hog ${n}`);
    const [holder] = held;
    if (holder === undefined) throw new Error('one of them had none');
    while (admission.keeps(holder, 65_536));
  }
  const held = takeAll(admission, 'another');
  t.ok(held.length >= 5, `${held.length} requests`);
  const [holder] = held;
  t.ok(holder !== undefined && admission.keeps(holder, 65_536), 'a body of 64 KiB');
  t.end();
});

t.test('what was given back may be had again', (t) => {
  const admission = new Admission(LIMITS);
  for (const holder of takeAll(admission, 'a')) admission.leave(holder, 0);
  t.equal(takeAll(admission, 'b').length, 5);
  t.end();
});

t.test('bytes of bodies have the same share', (t) => {
  const admission = new Admission(LIMITS);
  const [a, b] = [admission.enter('a'), admission.enter('b')];
  if (a === null || b === null) throw new Error('there is room for both');
  t.equal(admission.keeps(a, 450), true);
  t.equal(admission.keeps(a, 10), false);
  t.equal(admission.keeps(b, 200), true, 'another one');
  admission.leave(a, 460);
  t.equal(admission.keeps(b, 250), true, 'as soon as it is gone');
  t.end();
});
