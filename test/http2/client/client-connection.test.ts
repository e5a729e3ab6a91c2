import * as fc from 'fast-check';
import t from 'tap';
import { somePlan } from '../../support/http2/played/plan.ts';
import { play } from '../../support/http2/played/play.ts';

t.test(
  'whatever a lawful server does, each request ends as it must',
  { timeout: 600_000 },
  async () => {
    await fc.assert(fc.asyncProperty(somePlan, play), { numRuns: 1000 });
  },
);
