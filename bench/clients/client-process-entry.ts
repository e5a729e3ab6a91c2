/**
 * The other end of `ClientProcess`: measures the rounds that it is asked for, one after the other,
 * until there are no more.
 */

import type { Report, Task } from './client-process.ts';
import { measureFlow } from './flow.ts';
import { SENDINGS } from './sendings.ts';

process.on('message', ({ client, sink, times }: Task) => {
  measureFlow(SENDINGS[client], sink, times).then(
    (round) => report({ round }),
    (error: unknown) => report({ error: error instanceof Error ? error.message : String(error) }),
  );
});

const report = (report: Report): void => {
  process.send?.(report);
};
