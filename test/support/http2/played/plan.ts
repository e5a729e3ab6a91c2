/** Random conversations, as values that fast-check can make smaller. */

import * as fc from 'fast-check';

const KINDS = {
  request: 20,
  act: 20,
  deliver: 14,
  deliverAll: 6,
  openWindow: 5,
  settings: 2,
  ping: 2,
  murmur: 2,
  acknowledge: 2,
  cancel: 2,
  hold: 1,
  release: 2,
  resizeTable: 1,
  goAway: 0.3,
} as const;

export type StepKind = keyof typeof KINDS;

export interface Step {
  readonly kind: StepKind;
  /** All choices of the step come out of it. */
  readonly seed: number;
}

const ENDINGS = ['destroy', 'end', 'cut', 'drain', 'error'] as const;

export interface Plan {
  readonly seed: number;
  readonly streamsMax: number;
  readonly bodyOctetsMax: number;
  readonly steps: readonly Step[];
  /** Whether all is said and delivered before the end. */
  readonly isPlayedOut: boolean;
  readonly ending: (typeof ENDINGS)[number];
}

const seed = fc.integer({ min: 0, max: 2 ** 31 - 1 });

const step: fc.Arbitrary<Step> = fc.oneof(
  ...(Object.keys(KINDS) as StepKind[]).map((kind) => ({
    weight: Math.ceil(KINDS[kind] * 10),
    arbitrary: fc.record({ kind: fc.constant(kind), seed }),
  })),
);

const plan = {
  seed,
  streamsMax: fc.constantFrom(1, 4, 40),
  bodyOctetsMax: fc.constantFrom(0, 10, 4_096, 100_000),
  steps: fc.array(step, { minLength: 5, maxLength: 150, size: 'max' }),
  isPlayedOut: fc.boolean(),
  ending: fc.constantFrom(...ENDINGS),
};

export const somePlan: fc.Arbitrary<Plan> = fc.record(plan);

export interface HarmedPlan extends Plan {
  /** The share of harmed frames. */
  readonly harmRate: number;
}

export const someHarmedPlan: fc.Arbitrary<HarmedPlan> = fc.record({
  ...plan,
  harmRate: fc.constantFrom(0.01, 0.05, 0.3),
});
