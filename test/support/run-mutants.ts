/**
 * Changes the built code in one place at a time, and lists the changes that no test notices. It
 * works on a copy of what was built. `--help` has the options.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { progressLine, summary, toJson } from './mutants/report.ts';
import { openStores } from './mutants/stores.ts';
import { tryAll } from './mutants/try-all.ts';
import { temporaryParent } from './temporary-parent.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const HELP = `npm run test:mutants -- [options]

Changes one operator, constant or condition at a time in the built code, runs the tests that reach
it, nearest first, and lists the changes that no test noticed. Some of them change nothing that
anybody could notice; that is for you to judge.

  --seed <number>          which changes are chosen (1); the same ones each time for the same build
  --count <number>         how many (60)
  --only <part of a path>  only in files whose path has this in it, as src/push/
  --seconds-each <number>  the budget for the tests of one change (60)
  --json <file>            also writes the outcome there
`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '60' },
    only: { type: 'string', default: '' },
    'seconds-each': { type: 'string', default: '60' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(HELP);
else await main();

async function main(): Promise<void> {
  const seed = numberOf('seed');
  const count = numberOf('count');
  const budgetMs = numberOf('seconds-each') * 1_000;
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
  // The server, too, makes its directory there.
  const parent = temporaryParent();
  process.env['TMPDIR'] = parent;
  const stores = await openStores(parent);
  try {
    let number = 0;
    const { tried, failing } = await tryAll({
      root: ROOT,
      parent,
      seed,
      count,
      only: values.only,
      budgetMs,
      environment: { ...process.env, ...stores.environment },
      signal: interrupted.signal,
      onTried(one, total) {
        number += 1;
        process.stdout.write(`${String(number).padStart(4)}/${total}  ${progressLine(one)}\n`);
      },
    });
    process.stdout.write(`\n${summary(tried, failing)}`);
    if (values.json !== undefined) writeFileSync(values.json, toJson(tried, failing));
  } finally {
    await stores.stop();
  }
}

function numberOf(name: 'seed' | 'count' | 'seconds-each'): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  process.stderr.write(`--${name} must be a whole number, as in --${name} 7; see --help.\n`);
  process.exit(2);
}
