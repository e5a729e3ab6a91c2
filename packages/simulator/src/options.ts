/** Changes of a simulator's behaviour, at its start and while it runs. */

import { z } from 'zod';
import type { Behaviour } from './faults/behaviour.ts';
import { behaviourPartSchema, mergeBehaviour } from './faults/behaviour.ts';
import { SCENARIO_NAMES, SCENARIOS } from './faults/scenarios.ts';

/** A partial behaviour, as options give it and as PUT /behaviour merges it. */
export const behaviourChangeSchema = behaviourPartSchema.extend({
  /** Named parts, merged first and in this order. */
  scenarios: z.array(z.enum(SCENARIO_NAMES)).readonly().exactOptional(),
});

export type BehaviourChange = Readonly<z.infer<typeof behaviourChangeSchema>>;

export function changeBehaviour(behaviour: Behaviour, change: BehaviourChange): Behaviour {
  const { scenarios = [], ...part } = change;
  const named = scenarios.map((name) => SCENARIOS[name].part);
  return [...named, part].reduce(mergeBehaviour, behaviour);
}

/** The time by the clock of the providers. */
export const providerClock =
  (live: LiveBehaviour): (() => number) =>
  () =>
    Date.now() + live.current.clockAheadMs;

/** The present behaviour, which PUT /behaviour replaces while requests go on. */
export interface LiveBehaviour {
  current: Behaviour;
  /** The present phase of an outage. */
  outage: 'none' | 'closed' | 'unavailable';
}
