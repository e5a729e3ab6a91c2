/** Reports a run of mutants, while it runs and at its end. */

import type { Mutant } from './mutants.ts';
import type { Verdict } from './try-mutant.ts';

/** A mutant and what became of it. */
export interface Tried {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
  readonly seconds: number;
}

/** One line of progress. */
export function progressLine({ mutant, verdict, seconds }: Tried): string {
  return `${verdict.kind.padEnd(11)}  ${mutant.place}  ${seconds} s  ${detailOf(verdict)}`;
}

function detailOf(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'noticed':
      return `by ${verdict.by}`;
    case 'unnoticed':
      return verdict.tests === 0 ? 'no test reaches it' : `${verdict.tests} test files passed`;
    case 'out of time':
      return `${verdict.tests} test files passed, ${verdict.left} had not ended`;
  }
}

/** The lists of what was not noticed, and the share that was. */
export function summary(tried: readonly Tried[], failing: ReadonlySet<string>): string {
  const count = tried.filter(({ verdict }) => verdict.kind === 'noticed').length;
  const percent = tried.length === 0 ? 0 : Math.round((100 * count) / tried.length);
  return [
    section('Not noticed', tried, 'unnoticed'),
    section('Not noticed within the budget', tried, 'out of time'),
    failing.size === 0
      ? ''
      : `Failed without any change, and were left out:\n${[...failing].map((file) => `  ${file}\n`).join('')}\n`,
    `${count} of ${tried.length} noticed (${percent} %)\n`,
  ].join('');
}

function section(title: string, tried: readonly Tried[], kind: Verdict['kind']): string {
  const shown = tried.filter(({ verdict }) => verdict.kind === kind);
  if (shown.length === 0) return '';
  const entries = shown.map(
    ({ mutant: { place, original, changed }, verdict }) =>
      `  ${place}  (${detailOf(verdict)})\n    - ${original}\n    + ${changed}\n`,
  );
  return `${title}:\n${entries.join('')}\n`;
}

/** For `--json`: two runs with the same seed have their entries in the same order. */
export function toJson(tried: readonly Tried[], failing: ReadonlySet<string>): string {
  const mutants = tried.map(({ mutant: { place, original, changed }, verdict, seconds }) => ({
    place,
    original,
    changed,
    ...verdict,
    seconds,
  }));
  return `${JSON.stringify({ mutants, failing: [...failing] }, null, 2)}\n`;
}
