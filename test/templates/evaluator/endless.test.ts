/** Templates that do not end: their processes do. */

import t from 'tap';
import {
  ENDLESS_RECURSION,
  holdsUpNobody,
  OTHER,
  openEvaluation,
} from '../../support/evaluation.ts';

const { evaluate } = openEvaluation(t);

/** Each ends, and what comes after it in its push is not evaluated. */
const ENDLESS: Readonly<Record<string, string>> = {
  'endless recursion': ENDLESS_RECURSION,
  'recursion that piles up': '($f := function($x) { $f($x) + 1 }; $f(1))',
  'a regular expression that backtracks': `$match("${'a'.repeat(60)}!", /(a+)+$/)`,
  'a loop in a loop': '$map([1..100000], function($x) { $map([1..100000], function($y) { $y }) })',
};

for (const [name, expression] of Object.entries(ENDLESS)) {
  t.test(`${name} ends, and holds up neither this thread nor others`, (t) =>
    holdsUpNobody(t, evaluate, expression),
  );
}

t.test('what an expression uses up of the time is told as that', async (t) => {
  const [result] = await evaluate([ENDLESS_RECURSION]);
  t.match(result, {
    ok: false,
    fault: { why: /^It does not end within the 1000 ms of a processor/ },
  });
});

t.test(
  'time that passes while the machine does something else is no fault of theirs',
  async (t) => {
    // The second one loads the library again, also on a busy machine.
    const { evaluator } = openEvaluation(t, { processorMs: 60_000, wallMs: 1_500 });
    const expressions = ['1', ENDLESS_RECURSION];
    t.strictSame(await evaluator.evaluate(OTHER, expressions, '{}'), { kind: 'busy' });
    t.match(await evaluator.evaluate(OTHER, ['1'], '{}'), { kind: 'evaluated' });
  },
);
