/** The audience of a wave: of its job those devices whose moment it is. */

import type { AskedAudience, AskedCondition, AskedTest } from './asked-audience.ts';
import { TIMEZONE_ID } from './attributes.ts';
import type { Moment } from './waves.ts';

export type WaveDevices = Pick<Moment, 'zones' | 'hasOthers'>;

export function inWave(audience: AskedAudience, { zones, hasOthers }: WaveDevices): AskedAudience {
  const inZones: AskedTest = { ...TIMEZONE, operator: 'in', values: zones };
  const ofWave: AskedCondition = hasOthers ? { or: [inZones, WITHOUT_TIMEZONE] } : inZones;
  const { condition } = audience;
  return {
    ...audience,
    condition:
      condition === undefined || condition === null ? ofWave : { and: [condition, ofWave] },
  };
}

const TIMEZONE = { subject: TIMEZONE_ID, type: 'zone' } as const;
const WITHOUT_TIMEZONE: AskedTest = { ...TIMEZONE, operator: 'has', values: [], isExcluded: true };
