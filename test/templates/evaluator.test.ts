/** Templates in real processes: what they make, what bounds them, and what they cannot reach. */

import { pino } from 'pino';
import t from 'tap';
import { TEMPLATED_LENGTH_MAX } from '../../src/domain/template.ts';
import type { Evaluation, TemplateResult } from '../../src/templates/evaluator.ts';
import { Evaluator } from '../../src/templates/evaluator.ts';
import { PATIENT_LIMITS } from '../support/evaluator.ts';

const log = pino({ level: 'silent' });
const evaluator = new Evaluator(log, PATIENT_LIMITS);
t.teardown(() => evaluator.close());

const HOSTILE = 1;
const OTHER = 2;
/** Has had nothing evaluated before. */
const NEWCOMER = 3;

const resultsOf = (evaluation: Evaluation): readonly TemplateResult[] => {
  if (evaluation.kind !== 'evaluated') throw new Error(evaluation.kind);
  return evaluation.results;
};
const evaluate = async (expressions: readonly string[], input: unknown = {}, clientId = OTHER) =>
  resultsOf(await evaluator.evaluate(clientId, expressions, JSON.stringify(input)));
const made = (value: unknown): TemplateResult => ({ ok: true, json: JSON.stringify(value) });

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

/** Each ends, and what comes after it in its push is not evaluated. */
const ENDLESS: Readonly<Record<string, string>> = {
  'endless recursion': '($f := function($x) { $f($x) }; $f(1))',
  'recursion that piles up': '($f := function($x) { $f($x) + 1 }; $f(1))',
  'a regular expression that backtracks': `$match("${'a'.repeat(60)}!", /(a+)+$/)`,
  'a loop in a loop': '$map([1..100000], function($x) { $map([1..100000], function($y) { $y }) })',
};
const HUGE: Readonly<Record<string, string>> = {
  'a huge range': '[1..1e7]',
  'a huge range of objects': '[1..9999999].{"n": $}',
  'a huge text': '$pad("x", 400000000)',
  'lists that double': '($f := function($x) { $f($append($x, $x)) }; $f([1..1000]))',
};

for (const [name, expression] of Object.entries({ ...ENDLESS, ...HUGE })) {
  t.test(`${name} ends, and holds up neither this thread nor others`, async (t) => {
    let turns = 0;
    const turning = setInterval(() => {
      turns += 1;
    }, 1);
    const asked = evaluate([expression, '"after"'], {}, HOSTILE);
    t.strictSame(await evaluate(['"another client"']), [made('another client')]);
    const results = await asked;
    clearInterval(turning);
    t.ok(turns > 0, 'this thread had turns');
    t.match(results, [{ ok: false, fault: { why: /does not end within|more than 64 MiB/ } }]);
    t.equal(results.length, 1, 'what follows it is not evaluated');
    t.strictSame(await evaluate(['"again"'], {}, HOSTILE), [made('again')]);
  });
}

t.test('what an expression uses up of the time is told as that', async (t) => {
  const [result] = await evaluate([ENDLESS['endless recursion'] ?? '']);
  t.match(result, {
    ok: false,
    fault: { why: /^It does not end within the 1000 ms of a processor/ },
  });
});

t.test(
  'time that passes while the machine does something else is no fault of theirs',
  async (t) => {
    const hurried = new Evaluator(log, { processorMs: 60_000, wallMs: 200 });
    t.teardown(() => hurried.close());
    const endless = ENDLESS['endless recursion'] ?? '';
    t.strictSame(await hurried.evaluate(OTHER, ['1', endless], '{}'), { kind: 'busy' });
    t.match(await hurried.evaluate(OTHER, ['1'], '{}'), { kind: 'evaluated' });
  },
);

t.test('texts that double end at the longest there is', async (t) => {
  t.match(await evaluate(['($f := function($x) { $f($x & $x) }; $f("ab"))']), [{ ok: false }]);
});

t.test('an expression that is nested too deeply fails, and no more', async (t) => {
  t.match(await evaluate(['('.repeat(16_000), '"after"']), [{ ok: false }, made('after')]);
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

t.test('clients take turns: one that asks a lot waits for itself', async (t) => {
  const ended: number[] = [];
  const ask = (clientId: number) => evaluate(['1'], {}, clientId).then(() => ended.push(clientId));
  await Promise.all([...Array.from({ length: 40 }, () => ask(HOSTILE)), ask(OTHER)]);
  t.ok(ended.indexOf(OTHER) < 20, 'the one of the other client did not come last');
  t.equal(ended.length, 41);
});

t.test('one whose templates took no time comes before those that use up theirs', async (t) => {
  const slow = ENDLESS['endless recursion'] ?? '';
  const hogs = [101, 102, 103, 104, 105, 106];
  for (const clientId of hogs) await evaluate([slow], {}, clientId);
  const ended: number[] = [];
  const ask = async (expression: string, clientId: number) => {
    const { kind } = await evaluator.evaluate(clientId, [expression], '{}');
    if (kind === 'evaluated') ended.push(clientId);
  };
  const asked = hogs.map((clientId) => ask(slow, clientId));
  await ask('1', NEWCOMER);
  t.ok(ended.includes(NEWCOMER), 'its turn comes in time');
  t.ok(ended.indexOf(NEWCOMER) <= 2, `behind the two under way at most: ${ended}`);
  await Promise.all(asked);
});

t.test('one whose turn does not come is told so, and so are too many', async (t) => {
  const slow = ENDLESS['endless recursion'] ?? '';
  const asked = Array.from({ length: 1_100 }, () => evaluator.evaluate(HOSTILE, [slow], '{}'));
  const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
  t.ok(kinds.includes('evaluated'));
  t.ok(kinds.filter((kind) => kind === 'busy').length > 1_000);
});

t.test('after it was closed, it begins anew when it is asked', async (t) => {
  evaluator.close();
  t.strictSame(await evaluate(['1']), [made(1)]);
});
