/**
 * A process that evaluates templates, one push at a time. It has no environment, and nobody sees
 * what it writes.
 */

import type { EvaluationTask } from './evaluation.ts';
import { READY } from './evaluation.ts';
import type { Evaluated } from './sandbox.ts';
import { Sandbox } from './sandbox.ts';

/** Resolves when it is on its way: the process may end at the next expression. */
const tell = (message: Evaluated | typeof READY): Promise<unknown> =>
  new Promise((resolve) => process.send?.(message, resolve));

async function evaluate({ expressions, input, msMax }: EvaluationTask): Promise<void> {
  const sandbox = new Sandbox(input);
  const endMs = performance.now() + msMax;
  for (const expression of expressions) {
    const evaluated = sandbox.evaluate(expression, endMs - performance.now());
    await tell(evaluated);
    if (evaluated.kind === 'too-long') return;
  }
}

process.on('message', (task: EvaluationTask) => void evaluate(task));
// The engine is gone, in whatever way.
process.on('disconnect', () => process.exit());
void tell(READY);
