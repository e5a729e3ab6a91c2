/** Writes how files ended as one TAP stream. */

import type { Writable } from 'node:stream';
import type { Ended } from './lanes.ts';
import { withSourcePlaces } from './source-places.ts';

const PLAN = /^ {4}1\.\.(\d+)/;

/** Counts of assertions, over all files. */
export interface Totals {
  total: number;
  pass: number;
  fail: number;
  skip: number;
  todo: number;
}

export class TapStream {
  readonly totals: Totals = { total: 0, pass: 0, fail: 0, skip: 0, todo: 0 };
  readonly #out: Writable;
  #files = 0;

  constructor(out: Writable) {
    this.#out = out;
    out.write('TAP version 14\n');
  }

  /** `faults`: what the file did wrong besides its own tests; a failed assertion each. */
  write({ report, lines }: Ended, faults: readonly string[]): void {
    this.#files += 1;
    for (const key of Object.keys(this.totals) as (keyof Totals)[]) this.totals[key] += report[key];
    this.totals.total += faults.length;
    this.totals.fail += faults.length;
    const isOk = report.fail === 0 && faults.length === 0;
    const text = [
      `# Subtest: ${report.file}`,
      ...(isOk ? lines : [withSourcePlaces(withFaults(lines, faults).join('\n'))]),
      `${isOk ? 'ok' : 'not ok'} ${this.#files} - ${report.file} # time=${Math.round(report.ms)}ms`,
      '',
    ];
    this.#out.write(`${text.join('\n')}\n`);
  }

  end(): void {
    const { total, pass, ...others } = this.totals;
    const some = Object.entries(others).filter(([, count]) => count > 0);
    const counts = [['total', total], ['pass', pass], ...some].map((one) => one.join(': '));
    this.#out.write(`1..${this.#files}\n# { ${counts.join(', ')} }\n`);
    if (this.#out !== process.stdout) this.#out.end();
  }
}

/** Adds failed assertions after those of the file, whose plan grows by them. */
function withFaults(lines: readonly string[], faults: readonly string[]): readonly string[] {
  if (faults.length === 0) return lines;
  const at = lines.findLastIndex((line) => PLAN.test(line));
  const planned = Number(PLAN.exec(lines[at] ?? '')?.[1] ?? 0);
  const added = faults.map((fault, n) => `    not ok ${planned + n + 1} - ${fault}`);
  const others = at < 0 ? lines : lines.toSpliced(at, 1);
  return [...others, ...added, `    1..${planned + faults.length}`];
}
