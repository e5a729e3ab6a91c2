/** How long it takes to ask how many of ten million devices an expression of four tags is for. */

import { post } from '../../../test/support/client.ts';
import type { EngineProcess } from '../../../test/support/processes.ts';
import { median } from '../../median.ts';
import type { FanOutGrounds } from './population.ts';
import { DEVICES_FEW, DEVICES_FIRST, DEVICES_MOST, FEW_APART } from './population.ts';

const TIMES = 9;
/** The first ones prepare the statements, and fill what is cached. */
const TIMES_FIRST = 3;

/** Those of the many who have none of the others: few are among the first. */
const EXPECTED =
  DEVICES_MOST - DEVICES_FIRST - (DEVICES_FEW - Math.ceil(DEVICES_FIRST / FEW_APART));

/** Medians, of whole requests. Throws when the exact answer is another one. */
export async function measureEstimate(
  grounds: FanOutGrounds,
): Promise<{ devices: number; exactMs: number; approximateMs: number }> {
  const engine = await grounds.start('redis', grounds.simulator.environment);
  const { one, many, first, few } = grounds.tags;
  const audience = `(#${one} || #${many}) && !#${first} && !#${few}`;
  const exactMs = await middleOf(() => ask(grounds, engine, { audience }, EXPECTED));
  const approximateMs = await middleOf(() =>
    ask(grounds, engine, { audience, approximate: true }, null),
  );
  await engine.end('SIGTERM');
  return { devices: EXPECTED, exactMs, approximateMs };
}

async function middleOf(measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < TIMES_FIRST + TIMES; time += 1) {
    const ms = await measure();
    if (time >= TIMES_FIRST) times.push(ms);
  }
  return median(times);
}

/** Milliseconds until the answer. */
async function ask(
  { demo }: FanOutGrounds,
  { baseUrl }: EngineProcess,
  question: object,
  expected: number | null,
): Promise<number> {
  const url = `${baseUrl}/push-api/v3/${demo.clientId}/notifications/estimate`;
  const startMs = performance.now();
  const answer = await post(url, demo.superUser.token, question);
  const text = await answer.text();
  const ms = performance.now() - startMs;
  const { audience } = JSON.parse(text) as { readonly audience?: readonly { count: number }[] };
  const counted = audience?.reduce((sum, { count }) => sum + count, 0);
  if (counted === undefined || (expected !== null && counted !== expected)) {
    throw new Error(`${expected ?? 'some'} devices should have been counted: ${text}`);
  }
  return ms;
}
