/** Templates that make more than there is room for. */

import t from 'tap';
import { holdsUpNobody, made, openEvaluation } from '../../support/evaluation.ts';

const { evaluate } = openEvaluation(t);

/** Each ends, and what comes after it in its push is not evaluated. */
const HUGE: Readonly<Record<string, string>> = {
  'a huge range': '[1..1e7]',
  'a huge range of objects': '[1..9999999].{"n": $}',
  'a huge text': '$pad("x", 400000000)',
  'lists that double': '($f := function($x) { $f($append($x, $x)) }; $f([1..1000]))',
};

for (const [name, expression] of Object.entries(HUGE)) {
  t.test(`${name} ends, and holds up neither this thread nor others`, (t) =>
    holdsUpNobody(t, evaluate, expression),
  );
}

t.test('texts that double end at the longest there is', async (t) => {
  t.match(await evaluate(['($f := function($x) { $f($x & $x) }; $f("ab"))']), [{ ok: false }]);
});

t.test('an expression that is nested too deeply fails, and no more', async (t) => {
  t.match(await evaluate(['('.repeat(16_000), '"after"']), [{ ok: false }, made('after')]);
});
