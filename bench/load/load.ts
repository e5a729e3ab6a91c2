/** `npm run bench -- load`: what a running deployment can take. */

import { setTimeout as sleep } from 'node:timers/promises';
import { TagcastClient } from '../../packages/client/src/client.ts';
import { ProblemError } from '../../packages/client/src/problem.ts';
import { printTable } from '../report.ts';
import type { Driven } from './drive.ts';
import { drive } from './drive.ts';
import type { LoadOptions } from './options.ts';
import { readOptions, USAGE, UsageError } from './options.ts';
import type { LoadRequest } from './requests.ts';
import { KNOWN_DEVICES, LoadDevices, mixed, pushes } from './requests.ts';
import type { Sends } from './sends.ts';
import { followSends } from './sends.ts';
import { writeReport } from './write-report.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** The clocks of two machines differ; the title marks the pushes of this load. */
const CLOCKS_APART_MS = 60_000;
/** The limits of a client count by the second: what follows the load is not refused for it. */
const REST_MS = 1_000;

/** Answers the exit code. */
export async function load(argv: readonly string[]): Promise<number> {
  try {
    const options = await readOptions(argv);
    if (options === null) {
      console.log(USAGE);
      return 0;
    }
    return await run(options);
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`${error.message}\n\nnpm run bench -- load --help tells all options.`);
      return EXIT_USAGE;
    }
    if (error instanceof ProblemError) {
      console.error(`The deployment refused: ${error.status} ${error.problem.detail}`);
      return EXIT_FAILED;
    }
    throw error;
  }
}

async function run(options: LoadOptions): Promise<number> {
  const startedAt = new Date().toISOString();
  const { answered, sends } =
    options.profile === 'send' ? await loadSends(options) : await loadDevices(options);
  print(answered, sends);
  const { baseUrl: url, profile, connections, rate, folder } = options;
  const page = writeReport(folder, {
    startedAt,
    url,
    profile,
    connections,
    rate,
    answered,
    sends,
  });
  console.log(`\nThe report is in ${page}; load.json beside it has the numbers.`);
  const isGood = Object.keys(answered.statuses).every((status) => status.startsWith('2'));
  return isGood && answered.answers > 0 ? 0 : EXIT_FAILED;
}

interface Loaded {
  readonly answered: Driven;
  readonly sends: Sends | null;
}

async function loadDevices(options: LoadOptions): Promise<Loaded> {
  const devices = new LoadDevices(options);
  try {
    let next = (): LoadRequest => devices.registerNew();
    if (options.profile === 'mixed') {
      await drive(options, { amount: KNOWN_DEVICES }, next);
      next = mixed(devices);
    }
    return { answered: await driveShown(options, next), sends: null };
  } finally {
    if (!options.keepsDevices) await unsubscribeAll(options, devices);
  }
}

/** Also when the load has failed: others who send to these tags have no such devices. */
async function unsubscribeAll(options: LoadOptions, devices: LoadDevices): Promise<void> {
  const { count } = devices;
  if (count === 0) return;
  console.log(`Unsubscribing the ${count.toLocaleString('en')} devices of this load …`);
  await sleep(REST_MS);
  let number = 0;
  const { statuses } = await drive(options, { amount: count }, () => {
    number += 1;
    return devices.unsubscribe(number - 1);
  });
  const left = count - (statuses['200'] ?? 0);
  if (left > 0) console.error(`${left} of them were not unsubscribed, and keep their tags.`);
}

async function loadSends(options: LoadOptions): Promise<Loaded> {
  const { baseUrl, token, client: name, tagIds } = options;
  const client = new TagcastClient({ baseUrl, token, client: name });
  await checkAudience(client, options);
  const title = `Load test ${Math.random().toString(36).slice(2)}`;
  const sinceMs = Date.now() - CLOCKS_APART_MS;
  const answered = await driveShown(options, pushes({ tagIds }, title));
  await sleep(REST_MS);
  const sends = await followSends(client, title, sinceMs, (left) =>
    console.log(`${left.toLocaleString('en')} pushes or more have not ended yet …`),
  );
  return { answered, sends };
}

/** A load test that reaches a million phones is a mistake. */
async function checkAudience(
  client: TagcastClient,
  { tagIds, audienceMax }: LoadOptions,
): Promise<void> {
  const { body } = await client.request('POST', '/push-api/v3/{client}/notifications/estimate', {
    body: { tagIds: tagIds.slice(0, 1) },
  });
  const devices = body.audience.reduce((sum, { count }) => sum + count, 0);
  console.log(`Tag ${tagIds[0]} has ${devices.toLocaleString('en')} devices.`);
  if (devices <= audienceMax) return;
  throw new UsageError(
    `Each push would reach ${devices} devices; more than ${audienceMax} must be meant: --audience-max=${devices}.`,
  );
}

function driveShown(options: LoadOptions, next: () => LoadRequest): Promise<Driven> {
  const { seconds, rate, connections, profile, baseUrl } = options;
  console.log(`${profile}: ${seconds} s from ${connections} connections to ${baseUrl} …`);
  return drive(options, { seconds, rate }, next, ({ second, answers, refusals, p99Ms }) => {
    const refused = refusals === 0 ? '' : `, ${refusals} refused`;
    console.log(
      `  second ${second + 1}: ${answers} answers${refused}, 99 % within ${p99Ms?.toFixed(1) ?? '–'} ms`,
    );
  });
}

function print(answered: Driven, sends: Sends | null): void {
  const { answers, perSecond, p50Ms, p99Ms, mostMs, statuses, refusals } = answered;
  console.log();
  printTable([{ answers, perSecond, p50Ms, p99Ms, mostMs }]);
  for (const [status, count] of Object.entries(statuses)) {
    if (status.startsWith('2')) continue;
    console.log(`\n${count} ${status === 'none' ? 'without an answer' : `answered ${status}`}`);
    if (refusals[status] !== undefined) console.log(`  ${refusals[status]}`);
  }
  if (sends === null) return;
  console.log();
  printTable([{ ...sends }]);
}
