/** A process that evaluates templates, without environment; its output is not read. */

import type { EvaluationTask } from './evaluation.ts';
import { READY } from './evaluation.ts';
import { ProcessorTime, processorMs } from './processor-time.ts';
import type { Evaluated } from './sandbox.ts';
import { Sandbox } from './sandbox.ts';

const processorTime = new ProcessorTime();

/** Resolves when it is on its way: the process may end at the next expression. */
const tell = (message: Evaluated | typeof READY): Promise<unknown> =>
  new Promise((resolve) => process.send?.(message, resolve));

async function evaluate({ expressions, input, limits }: EvaluationTask): Promise<void> {
  const sandbox = new Sandbox(input);
  const processorEndMs = processorMs() + limits.processorMs;
  const endMs = performance.now() + limits.wallMs;
  for (const expression of expressions) {
    const evaluated = processorTime.until(processorEndMs, () =>
      sandbox.evaluate(expression, endMs - performance.now()),
    );
    if (evaluated.kind !== 'stopped') {
      await tell(evaluated);
      continue;
    }
    await tell({ kind: processorMs() < processorEndMs ? 'held-up' : 'too-long' });
    return;
  }
}

process.on('message', (task: EvaluationTask) => void evaluate(task));
// The engine is gone, in whatever way.
process.on('disconnect', () => process.exit());
void tell(READY);
