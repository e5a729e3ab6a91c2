/** Finds out whether the engine can work: its stores, and whether it is about to stop. */

import { Readiness } from '../../api/open/readiness.ts';
import { WriteProbe } from '../../database/write-probe.ts';
import { systemClock } from '../../std/clock.ts';
import type { EngineParts } from './parts.ts';
import type { OpenTagIndex } from './tag-index.ts';

interface Health {
  readonly readiness: Readiness;
  beginDrain(): void;
  stop(): Promise<void>;
}

export function createHealth(
  { store, log }: EngineParts,
  { isReachable }: Pick<OpenTagIndex, 'isReachable'>,
): Health {
  const writeProbe = new WriteProbe(store.address);
  let isDraining = false;
  return {
    readiness: new Readiness({
      askStore: () => writeProbe.ask(),
      isIndexReachable: isReachable,
      isDraining: () => isDraining,
      clock: systemClock,
      log,
    }),
    beginDrain() {
      isDraining = true;
    },
    stop: () => writeProbe.close(),
  };
}
