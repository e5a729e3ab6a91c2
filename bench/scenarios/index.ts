/**
 * The cost of the tag index in Redis and in the engine, beside the designs that come to mind first:
 * a set of tokens for each tag, or a set of ids.
 */

import type { Scenario } from '../scenario.ts';
import { measureDensities } from './index/densities.ts';
import { measureForms } from './index/forms.ts';
import { measureMix } from './index/mix.ts';

export const index: Scenario = {
  summary:
    'tag index in Redis: bytes by Redis’ own figures, resolved devices a second, CPU of the client, longest time Redis was held; medians of rounds in turns',
  async run(stage) {
    const densities = await measureDensities(stage);
    const mix = await measureMix(stage);
    return {
      rows: [...densities.rows, ...mix.rows],
      figures: {
        ...densities.figures,
        ...mix.figures,
        redisHeldMsMax: Math.max(densities.redisHeldMsMax, mix.redisHeldMsMax),
      },
    };
  },
  parts: {
    forms: measureForms,
    densities: measureDensities,
    mix: measureMix,
  },
};
