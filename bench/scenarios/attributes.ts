/** The cost of attributes: of a device, of a registration, and of a send that tests them. */

import type { Lifetime } from '../../test/support/lifetime.ts';
import type { Result, Scenario } from '../scenario.ts';
import { measureRegistrations } from './attributes/registrations.ts';
import { measureSends } from './attributes/sends.ts';

export const attributes: Scenario = {
  summary:
    'attributes: bytes of a device in PostgreSQL and Redis, the CPU of a registration that repeats them, and a send to a million devices that tests them; rounds in turns, medians',
  async run(stage: Lifetime): Promise<Result> {
    const registrations = await measureRegistrations(stage);
    const sends = await measureSends(stage);
    return {
      rows: [...registrations.rows, ...sends.rows],
      ratios: { ...registrations.ratios, ...sends.ratios },
      figures: { ...sends.figures },
    };
  },
  parts: { registrations: measureRegistrations, sends: measureSends },
};
