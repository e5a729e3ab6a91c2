/**
 * Measures the running service and prints what it measured.
 *
 *     npm run bench                      every scenario
 *     npm run bench -- register fan-out  these
 *
 * Each writes bench/results/<scenario>.json. The machines this runs on are shared and noisy: compare within one run.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printTable } from './report.ts';
import type { Scenario } from './scenario.ts';
import { Stage } from './scenario.ts';
import { fanOut } from './scenarios/fan-out.ts';
import { latency } from './scenarios/latency.ts';
import { register } from './scenarios/register.ts';
import { sender } from './scenarios/sender.ts';

const RESULTS = join(import.meta.dirname, '..', '..', 'bench', 'results');
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  register,
  'fan-out': fanOut,
  sender,
  latency,
};

const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.filter((name) => SCENARIOS[name] === undefined);
if (unknown.length > 0) {
  console.error(
    `No such scenario: ${unknown.join(', ')}. There are: ${Object.keys(SCENARIOS).join(', ')}.`,
  );
  process.exit(2);
}

mkdirSync(RESULTS, { recursive: true });
for (const [name, scenario] of Object.entries(SCENARIOS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.log(`\n${name}: ${scenario.summary}`);
  const stage = new Stage();
  try {
    const result = await scenario.run(stage);
    const { rows, ratios, ...more } = result;
    printTable(rows);
    if (ratios !== undefined) {
      console.log();
      printTable([{ ...ratios, ...more }]);
    }
    writeFileSync(join(RESULTS, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await stage.close();
  }
}
