import t from 'tap';
import type { DeletionGate, DeletionGateCounts } from '../../src/domain/deletion-gate.ts';
import { deletionGateOf } from '../../src/domain/deletion-gate.ts';

const CASES: readonly (readonly [DeletionGateCounts, DeletionGate, string])[] = [
  [{ delivered: 0, gone: 0, refused: 0, isFinished: true }, 'passes', 'nothing to judge'],
  [{ delivered: 0, gone: 99, refused: 0, isFinished: true }, 'passes', 'few, if all of them'],
  [{ delivered: 0, gone: 100, refused: 0, isFinished: true }, 'holds', 'all of a hundred'],
  [{ delivered: 400, gone: 100, refused: 0, isFinished: true }, 'passes', 'a fifth is believed'],
  [{ delivered: 399, gone: 100, refused: 0, isFinished: true }, 'holds', 'and no more'],
  [{ delivered: 399, gone: 1, refused: 99, isFinished: true }, 'holds', 'refused ones count'],
  [{ delivered: 999, gone: 0, refused: 0, isFinished: false }, 'waits', 'too few answers'],
  [{ delivered: 800, gone: 200, refused: 0, isFinished: false }, 'passes', 'enough answers'],
  [{ delivered: 700, gone: 300, refused: 0, isFinished: false }, 'waits', 'more may be delivered'],
  [{ delivered: 0, gone: 0, refused: 9_000, isFinished: false }, 'waits', 'the end decides'],
];

for (const [counts, gate, name] of CASES) {
  t.test(`${name}: ${gate}`, (t) => {
    t.equal(deletionGateOf(counts), gate);
    t.end();
  });
}
