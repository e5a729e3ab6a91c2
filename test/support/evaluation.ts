/** Templates evaluated in processes of their own, for one test file. */

import { pino } from 'pino';
import type { Test } from 'tap';
import type { EvaluationLimits } from '../../src/templates/evaluation.ts';
import type { Evaluation, TemplateResult } from '../../src/templates/evaluator.ts';
import { Evaluator } from '../../src/templates/evaluator.ts';
import { PATIENT_LIMITS } from './evaluator.ts';
import type { Lifetime } from './lifetime.ts';

export const HOSTILE = 1;
export const OTHER = 2;

export const resultsOf = (evaluation: Evaluation): readonly TemplateResult[] => {
  if (evaluation.kind !== 'evaluated') throw new Error(evaluation.kind);
  return evaluation.results;
};
export const made = (value: unknown): TemplateResult => ({ ok: true, json: JSON.stringify(value) });

/** An evaluator for the life of the tests of a file. */
export function openEvaluation(t: Lifetime, limits: EvaluationLimits = PATIENT_LIMITS) {
  const evaluator = new Evaluator(pino({ level: 'silent' }), limits);
  t.teardown(() => evaluator.close());
  const evaluate = async (
    expressions: readonly string[],
    input: unknown = {},
    clientId = OTHER,
  ): Promise<readonly TemplateResult[]> =>
    resultsOf(await evaluator.evaluate(clientId, expressions, JSON.stringify(input)));
  return { evaluator, evaluate };
}

/** It takes all the time that there is. */
export const ENDLESS_RECURSION = '($f := function($x) { $f($x) }; $f(1))';

/** It ends, the rest of its push is not evaluated, and no other client waits for it. */
export async function holdsUpNobody(
  t: Test,
  evaluate: ReturnType<typeof openEvaluation>['evaluate'],
  expression: string,
): Promise<void> {
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
}
