/** Five tags, from everybody's to hardly anybody's, in three layouts. */

import type { Audience } from '../../../src/domain/notification.ts';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import type { Row } from '../../scenario.ts';
import type { Layout, LayoutName } from './layouts.ts';
import { openLayout } from './layouts.ts';
import { subscribersOf } from './population.ts';
import type { MeasuredRedis } from './redis.ts';
import { startMeasuredRedis } from './redis.ts';
import type { Resolved } from './resolving.ts';
import { resolveInTurns } from './resolving.ts';

const DEVICES = 500_000;
const LAYOUTS: readonly LayoutName[] = ['ours', 'set of tokens', 'set of ids'];

interface Density {
  readonly figure: string;
  readonly share: number;
}
const DENSITIES: readonly Density[] = [
  { figure: 'dense', share: 1 },
  { figure: 'tenPercent', share: 0.1 },
  { figure: 'onePercent', share: 0.01 },
  { figure: 'tenthOfAPercent', share: 0.001 },
  { figure: 'hundredthOfAPercent', share: 0.0001 },
];
/** For audiences of several tags. */
const SHARE_OF_SEVERAL = 0.1;
const SEVERAL = [11, 12, 13, 14, 15];
const AUDIENCES: readonly (readonly [name: string, Audience])[] = [
  ['5-way OR', { anyTagIds: SEVERAL, allTagIds: [], noneTagIds: [] }],
  ['OR AND NOT', { anyTagIds: [11, 12], allTagIds: [13], noneTagIds: [14] }],
];

export async function measureDensities(stage: Lifetime) {
  const entrants: Entrant[] = [];
  for (const name of LAYOUTS) {
    const redis = await startMeasuredRedis(stage);
    const layout = await openLayout(stage, name, redis.url);
    const before = await redis.memoryOctets();
    await layout.fillDevices(DEVICES);
    const octetsPerDevice = ((await redis.memoryOctets()) - before) / DEVICES;
    entrants.push({ redis, layout, octetsPerDevice });
  }
  const rows: Row[] = [];
  const bytesPerSubscription: Record<string, number> = {};
  for (const [at, { figure, share }] of DENSITIES.entries()) {
    const tagId = at + 1;
    const octets: number[] = [];
    for (const { redis, layout } of entrants) {
      const ordinals = [...subscribersOf(DEVICES, share, tagId)];
      const before = await redis.memoryOctets();
      await layout.fillTags(DEVICES, new Map([[tagId, ordinals]]));
      octets.push(((await redis.memoryOctets()) - before) / ordinals.length);
    }
    const resolved = await resolveInTurns(entrants, DEVICES, audienceOf(tagId));
    for (const [place, { layout, octetsPerDevice }] of entrants.entries()) {
      rows.push({
        layout: layout.name,
        audience: `${share * 100} %`,
        bytesPerSubscription: octets[place] ?? null,
        bytesPerDevice: octetsPerDevice,
        ...figuresOf(resolved[place]),
      });
    }
    bytesPerSubscription[figure] = octets[0] ?? Number.NaN;
  }
  rows.push(...(await measureAudiences(entrants)));
  const oursAt = (audience: string) =>
    rows.find((row) => row['layout'] === 'ours' && row['audience'] === audience);
  const dense = oursAt('100 %');
  return {
    rows,
    figures: {
      bytesPerSubscription,
      bytesPerApnsDevice: entrants[0]?.octetsPerDevice ?? null,
      resolvePerSecond: Number(dense?.['devicesPerSecond']),
      clientCpuMicros: Number(dense?.['clientCpuMicros']),
    },
    redisHeldMsMax: heldMax(rows),
  };
}

/** Tags that a tenth of the devices have, in every combination that a push can ask for. */
async function measureAudiences(entrants: readonly Entrant[]): Promise<readonly Row[]> {
  for (const tagId of SEVERAL) {
    const ordinals = [...subscribersOf(DEVICES, SHARE_OF_SEVERAL, tagId)];
    for (const { layout } of entrants) await layout.fillTags(DEVICES, new Map([[tagId, ordinals]]));
  }
  const rows: Row[] = [];
  for (const [name, audience] of AUDIENCES) {
    const resolved = await resolveInTurns(entrants, DEVICES, audience);
    for (const [place, { layout, octetsPerDevice }] of entrants.entries()) {
      rows.push({
        layout: layout.name,
        audience: `${name} of ${SHARE_OF_SEVERAL * 100} % each`,
        bytesPerSubscription: null,
        bytesPerDevice: octetsPerDevice,
        ...figuresOf(resolved[place]),
      });
    }
  }
  return rows;
}

interface Entrant {
  readonly layout: Layout;
  readonly redis: MeasuredRedis;
  readonly octetsPerDevice: number;
}

export const audienceOf = (tagId: number): Audience => ({
  anyTagIds: [tagId],
  allTagIds: [],
  noneTagIds: [],
});

export function figuresOf(resolved: Resolved | undefined) {
  if (resolved === undefined) throw new Error('a layout was not measured');
  return { ...resolved };
}

export const heldMax = (rows: readonly Row[]): number =>
  Math.max(
    ...rows.filter((row) => row['layout'] === 'ours').map((row) => Number(row['redisHeldMs'])),
  );
