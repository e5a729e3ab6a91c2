import * as fc from 'fast-check';
import t from 'tap';
import { someHarmedPlan, somePlan } from '../../support/http2/played/plan.ts';
import { play } from '../../support/http2/played/play.ts';
import { playHarmed } from '../../support/http2/played/play-harmed.ts';

t.test('whatever a lawful server does, each request ends as it must', async () => {
  await fc.assert(fc.asyncProperty(somePlan, play), { numRuns: 300 });
});

t.test('whatever happens to its frames, no request ends as none was meant', async () => {
  await fc.assert(fc.asyncProperty(someHarmedPlan, playHarmed), { numRuns: 300 });
});
