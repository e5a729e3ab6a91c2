/** Measures the running service and prints what it measured. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compare } from './beside.ts';
import { load } from './load/load.ts';
import { printTable } from './report.ts';
import type { Options, Ratios, Result, Scenario } from './scenario.ts';
import { Stage } from './scenario.ts';
import { attributes } from './scenarios/attributes.ts';
import { credential } from './scenarios/credential.ts';
import { fanOut } from './scenarios/fan-out.ts';
import { importing } from './scenarios/import.ts';
import { index } from './scenarios/index.ts';
import { latency } from './scenarios/latency.ts';
import { moving } from './scenarios/move.ts';
import { recover } from './scenarios/recover.ts';
import { register } from './scenarios/register.ts';
import { sender } from './scenarios/sender.ts';
import { sizing } from './scenarios/sizing.ts';
import { smallSends } from './scenarios/small-sends.ts';
import { soak } from './scenarios/soak.ts';

const RESULTS = join(import.meta.dirname, '..', '..', 'bench', 'results');
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;
const USAGE = `npm run bench                      every scenario but the long ones
npm run bench -- register fan-out  these
npm run bench -- latency/fcm       one part of a scenario that has parts; only prints
npm run bench -- soak --minutes=40 [--store=embedded|postgres]
npm run bench -- register --store=embedded   one store; small-sends, too
npm run bench -- small-sends --waiting=1000 [--store=…]   no more than so many at once
npm run bench -- load --help       a deployment that runs already, by autocannon
npm run bench -- register/ours fan-out/ours --before=../tagcast-before
                                   this checkout beside another one, which is built; only prints
npm run bench -- register/ours --json=ours.json   what it measured goes to this file instead

Each scenario writes bench/results/<scenario>.json. The machines this runs on are shared and noisy:
compare within one run. docs/internals/bench.md says how each measures.`;
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  index,
  register,
  'fan-out': fanOut,
  attributes,
  'small-sends': smallSends,
  recover,
  sender,
  latency,
  credential,
  sizing,
  import: importing,
  move: moving,
  soak,
};
const SCENARIOS_AND_PARTS: Readonly<Record<string, Scenario>> = Object.fromEntries(
  Object.entries(SCENARIOS).flatMap(([name, scenario]) => [
    [name, scenario],
    ...Object.entries(scenario.parts ?? {}).map(([part, run]) => [
      `${name}/${part}`,
      { summary: scenario.summary, run },
    ]),
  ]),
);

if (process.argv[2] === 'load') process.exit(await load(process.argv.slice(3)));

const { values, positionals } = readArguments();
if (values.help) {
  console.log(USAGE);
  process.exit();
}
const options: Options = {
  minutes: values.minutes === undefined ? null : Number(values.minutes),
  store: values.store ?? null,
  waiting: values.waiting === undefined ? null : Number(values.waiting),
};
const unknown = positionals.filter((name) => SCENARIOS_AND_PARTS[name] === undefined);
if (unknown.length > 0) {
  const known = Object.keys(SCENARIOS_AND_PARTS).join(', ');
  console.error(`No such scenario: ${unknown.join(', ')}. There are: ${known}.`);
  process.exit(EXIT_USAGE);
}

let stage: Stage | null = null;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    const closed = stage?.close() ?? Promise.resolve();
    void closed.then(() => process.exit(EXIT_INTERRUPTED));
  });
}

mkdirSync(RESULTS, { recursive: true });
const short = Object.keys(SCENARIOS).filter((name) => SCENARIOS[name]?.isLong !== true);
const chosen = positionals.length === 0 ? short : positionals;
for (const [name, scenario] of Object.entries(SCENARIOS_AND_PARTS)) {
  if (!chosen.includes(name)) continue;
  console.log(`\n${name}: ${scenario.summary}`);
  stage = new Stage();
  try {
    if (values.before !== undefined) {
      printTable(await compare(stage, name, resolve(values.before)));
      continue;
    }
    const result = await scenario.run(stage, options);
    print(result);
    if (SCENARIOS[name] === undefined && values.json === undefined) continue;
    const { figures, ...rest } = result;
    const file = JSON.stringify({ ...rest, ...figures }, null, 2);
    writeFileSync(values.json ?? join(RESULTS, `${name}.json`), `${file}\n`);
  } finally {
    await stage.close();
  }
}

function print({ rows, ratios, figures }: Result): void {
  printTable(rows);
  const numbers = [...Object.entries(ratios ?? {}), ...Object.entries(figures ?? {}).flatMap(flat)];
  if (numbers.length === 0) return;
  console.log();
  printTable([Object.fromEntries(numbers)]);
}

/** `name` and a number, or `name.part` and a number for each part. */
function flat([name, figure]: [string, number | null | Ratios]): [string, number | null][] {
  return figure === null || typeof figure === 'number'
    ? [[name, figure]]
    : Object.entries(figure).map(([part, value]) => [`${name}.${part}`, value]);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        minutes: { type: 'string' },
        store: { type: 'string' },
        waiting: { type: 'string' },
        before: { type: 'string' },
        json: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    // The error of parseArgs names the option.
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(EXIT_USAGE);
  }
}
