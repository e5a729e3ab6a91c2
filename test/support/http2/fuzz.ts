/**
 * Plays random conversations with our HTTP/2 client for minutes instead of the seconds that a test
 * takes, lawful and harmed ones by turns, and says how to play again what fails:
 *
 *     npm run fuzz -- [--minutes 3] [--seed 1]
 */

import { parseArgs } from 'node:util';
import * as fc from 'fast-check';
import { someHarmedPlan, somePlan } from './played/plan.ts';
import { play } from './played/play.ts';
import { playHarmed } from './played/play-harmed.ts';

const MINUTES = '3';
/** One line of progress for so many runs. */
const RUNS_PER_ROUND = 2_000;

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: MINUTES }, seed: { type: 'string' } },
});
const firstSeed = Number(values.seed ?? Date.now() % 2 ** 31);
const endMs = performance.now() + Number(values.minutes) * 60_000;
if (!Number.isFinite(firstSeed + endMs)) throw new TypeError('--minutes and --seed are numbers');

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** One round of a property; false: it has failed, and was reported. */
async function round(name: string, property: fc.IAsyncProperty<unknown>, seed: number) {
  const interruptAfterTimeLimit = Math.max(1, endMs - performance.now());
  const details = await fc.check(property, {
    seed,
    numRuns: RUNS_PER_ROUND,
    interruptAfterTimeLimit,
    markInterruptAsFailure: false,
  });
  const residentMiB = Math.round(process.memoryUsage().rss / 2 ** 20);
  say(`${name}: seed ${seed}, ${details.numRuns} runs, ${residentMiB} MiB resident`);
  // When the time is over it counts as failed too, but without an example.
  const hasFailed = details.counterexample !== null;
  if (hasFailed) say(fc.defaultReportMessage(details) ?? 'failed');
  return !hasFailed;
}

const lawful = fc.asyncProperty(somePlan, play);
const harmed = fc.asyncProperty(someHarmedPlan, playHarmed);
for (let seed = firstSeed; performance.now() < endMs; seed += 1) {
  const isSound = (await round('lawful', lawful, seed)) && (await round('harmed', harmed, seed));
  if (isSound) continue;
  say(`Again: npm run fuzz -- --seed ${seed}`);
  process.exitCode = 1;
  break;
}
