/** Templates in real processes: what they make, and what they cannot reach. */

import t from 'tap';
import { TEMPLATED_LENGTH_MAX } from '../../../src/domain/template.ts';
import { HOSTILE, made, OTHER, openEvaluation, resultsOf } from '../../support/evaluation.ts';

const { evaluator, evaluate } = openEvaluation(t);

t.test('each expression makes something of the payload', async (t) => {
  const payload = { home: 'FCB', away: 'BVB', goals: [1, 2] };
  t.strictSame(
    await evaluate(['{"title": home & "–" & away}', '{"badge": $sum(goals)}', 'goals'], payload),
    [made({ title: 'FCB–BVB' }), made({ badge: 3 }), made([1, 2])],
  );
});

t.test('what fails is told with its position, and the others are evaluated', async (t) => {
  t.match(
    await evaluate(['{"a": $upper(1)}', '1 +', '$uppercase(goals)', '"fine"'], { goals: 1 }),
    [
      {
        ok: false,
        fault: { why: 'Attempted to invoke a non-function (T1006).', position: Number },
      },
      { ok: false, fault: { why: 'Unexpected end of expression (S0207).', position: 3 } },
      { ok: false, fault: { why: /argument 1/i, position: Number } },
      made('fine'),
    ],
  );
});

t.test('what makes nothing, or too much, or what JSON has no words for, fails', async (t) => {
  const [nothing, much, function_] = await evaluate([
    'absent',
    `$pad("x", ${TEMPLATED_LENGTH_MAX})`,
    'function($x) { $x }',
  ]);
  t.match(nothing, { ok: false, fault: { why: /^It makes nothing/ } });
  t.match(much, { ok: false, fault: { why: /the limit is 65536\.$/ } });
  t.match(function_, { ok: false, fault: { why: /JSON has no words for/ } });
});

t.test('base64 is not there, and says so', async (t) => {
  for (const name of ['base64encode', 'base64decode']) {
    t.match(await evaluate([`$${name}("YQ==")`]), [
      { ok: false, fault: { why: `$${name} is not available in templates.` } },
    ]);
  }
});
t.test('nothing of an evaluation is there in the next one', async (t) => {
  const leaving = [
    '($leak := secret; {"kept": $leak})',
    '{"__proto__": {"leak": secret}, "constructor": {"prototype": {"leak": secret}}}',
    '$ ~> |$|{"__proto__": {"leak": secret}}|',
    '$spread({"__proto__": {"leak": secret}})',
    '$merge([{"__proto__": {"leak": secret}}, {"leak": secret}])',
    '$eval("$leak := secret")',
  ];
  const finding = '{"found": [$leak, leak, secret, $exists({}.leak), "".leak, [].leak]}';
  for (const expression of leaving) {
    await evaluate([expression], { secret: 'of a tenant' }, HOSTILE);
    for (const clientId of [HOSTILE, OTHER]) {
      t.strictSame(
        await evaluate([finding], {}, clientId),
        [made({ found: [false] })],
        `${expression}, then client ${clientId}`,
      );
    }
  }
});

t.test('an expression reaches nothing of its process', async (t) => {
  for (const expression of [
    'process',
    '$process',
    'globalThis',
    '"".constructor.constructor("return process")()',
    '$string.constructor("return process")()',
    '($f := function() { 1 }; $f.constructor.constructor("return this")())',
    '$lookup({}, "constructor")("return process")()',
    '$lookup($string, "constructor")',
  ]) {
    t.match(await evaluate([expression]), [{ ok: false }], expression);
  }
});

t.test('a check looks at the form alone', async (t) => {
  const check = async (expression: string) => resultsOf(await evaluator.check(OTHER, expression));
  t.match(await check('$absent(1)'), [{ ok: true }]);
  t.match(await check('{"title": }'), [{ ok: false, fault: { position: 10 } }]);
  t.match(await check('$match("a", /(/)'), [{ ok: false }]);
});
