/** Known devices that register what they have, without attributes and with five built-in ones. */

import autocannon from 'autocannon';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import { startEngine } from '../../../test/support/processes.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { Target } from '../../loads/load.ts';
import { knownDevice } from '../../loads/load.ts';
import { bodyOf } from '../../loads/registrations.ts';
import { median } from '../../median.ts';
import { processCpuMicros } from '../../processes.ts';
import type { Result } from '../../scenario.ts';
import { FEW_TAGS, startStores, targetDataOf } from '../register/grounds.ts';

const DEVICES = 4_000;
const CONNECTIONS = 64;
/** Odd: the median is a pair that was measured. */
const ROUNDS = 7;
const ROUND_SECONDS = 3;
/** Devices with other attributes are other devices. */
const APART = 1_000_000;

interface Round {
  readonly cpuMicros: number;
  /** With PostgreSQL and Redis. */
  readonly allCpuMicros: number;
}

interface Side {
  readonly name: 'none' | 'five built-in';
  readonly bodies: readonly string[];
}

export async function measureRegistrations(stage: Lifetime): Promise<Result> {
  const stores = await startStores(stage);
  if (stores === null) return { rows: [] };
  const engine = await startEngine(stage, temporaryDirectory(stage), stores.environment);
  const target = { ...(await targetDataOf(engine)), baseUrl: engine.baseUrl };
  const sides: readonly Side[] = [
    { name: 'none', bodies: bodiesOf(target, 0, () => null) },
    { name: 'five built-in', bodies: bodiesOf(target, APART, attributesOf) },
  ];
  const pid = engine.child.pid ?? 0;
  const round = async ({ bodies }: Side, amount: object): Promise<Round> => {
    const before = processCpuMicros(pid);
    const storesBefore = stores.storesCpuMicros();
    const answered = await load(target, bodies, amount);
    const cpuMicros = (processCpuMicros(pid) - before) / answered;
    return {
      cpuMicros,
      allCpuMicros: cpuMicros + (stores.storesCpuMicros() - storesBefore) / answered,
    };
  };
  for (const side of sides) {
    await round(side, { amount: DEVICES });
    await round(side, { duration: ROUND_SECONDS });
  }
  const turns: Map<Side['name'], Round>[] = [];
  for (let n = 0; n < ROUNDS; n += 1) {
    // A, B, B, A: a machine that grows slower from turn to turn is as slow for both.
    const inOrder = n % 2 === 0 ? sides : sides.toReversed();
    const turn = new Map<Side['name'], Round>();
    for (const side of inOrder) turn.set(side.name, await round(side, { duration: ROUND_SECONDS }));
    turns.push(turn);
  }
  const of = (name: Side['name'], figure: keyof Round): readonly number[] =>
    turns.flatMap((turn) => turn.get(name)?.[figure] ?? []);
  const ratio = (figure: keyof Round): number => {
    const without = of('none', figure);
    return median(of('five built-in', figure).map((value, n) => value / (without[n] ?? 1)));
  };
  return {
    rows: sides.map(({ name }) => ({
      what: 'registration that changes nothing',
      attributes: name,
      cpuMicros: median(of(name, 'cpuMicros')),
      allCpuMicros: median(of(name, 'allCpuMicros')),
    })),
    ratios: {
      registrationCpu: ratio('cpuMicros'),
      registrationAllCpu: ratio('allCpuMicros'),
    },
  };
}

const bodiesOf = (
  target: Target,
  from: number,
  attributes: (number: number) => object | null,
): readonly string[] =>
  Array.from({ length: DEVICES }, (_, number) => {
    const body = bodyOf(target, knownDevice(from + number, FEW_TAGS), FEW_TAGS, 0);
    const given = attributes(number);
    return given === null ? body : JSON.stringify({ ...JSON.parse(body), attributes: given });
  });

const attributesOf = (number: number): object => ({
  language: number % 20 === 0 ? 'de-AT' : 'de-DE',
  timezone: 'Europe/Berlin',
  country: number % 20 === 0 ? 'AT' : 'DE',
  appVersion: `5.${number % 15}`,
  osVersion: `18.${number % 7}`,
});

/** Answers how many were answered. */
async function load(
  { baseUrl, token }: Target,
  bodies: readonly string[],
  amount: object,
): Promise<number> {
  let next = 0;
  const result = await autocannon({
    url: `${baseUrl}/push-api/reg`,
    method: 'POST',
    connections: CONNECTIONS,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    requests: [
      {
        setupRequest(request) {
          const body = bodies[next % bodies.length] ?? '';
          next += 1;
          return { ...request, body };
        },
      },
    ],
    ...amount,
  });
  if (result.non2xx > 0) throw new Error(`${result.non2xx} registrations were refused`);
  return result['2xx'];
}
