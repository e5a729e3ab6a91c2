/** The options at the start of a simulator, and the changes while it runs. */

import { z } from 'zod';
import type { ProviderAccounts } from './accounts.ts';
import type { Behaviour } from './faults/behaviour.ts';
import { behaviourPartSchema, mergeBehaviour } from './faults/behaviour.ts';
import { SCENARIO_NAMES, SCENARIOS } from './faults/scenarios.ts';
import type { Certificate } from './server/certificate.ts';

export interface SimulatorOptions {
  /** Where the providers listen; the control endpoint stays on loopback. Default 127.0.0.1. */
  readonly host?: string;
  /** Ports; 0 or absent: a free one. FCM and the OAuth endpoint share theirs. */
  readonly apnsPort?: number;
  readonly fcmPort?: number;
  readonly webPushPort?: number;
  readonly controlPort?: number;
  /** For `host`; absent: one is made. */
  readonly certificate?: Certificate;
  /** The first accepted account; absent: one is made. */
  readonly accounts?: ProviderAccounts;
  /** Faults; absent: none. */
  readonly behaviour?: BehaviourChange;
}

/** A partial behaviour, as options give it and as PUT /behaviour merges it. */
export const behaviourChangeSchema = behaviourPartSchema.extend({
  /** Named parts, merged first and in this order. */
  scenarios: z.array(z.enum(SCENARIO_NAMES)).readonly().exactOptional(),
});

export type BehaviourChange = Readonly<z.infer<typeof behaviourChangeSchema>>;

/** The behaviour after a change. */
export function changeBehaviour(behaviour: Behaviour, change: BehaviourChange): Behaviour {
  const { scenarios = [], ...part } = change;
  const named = scenarios.map((name) => SCENARIOS[name].part);
  return [...named, part].reduce(mergeBehaviour, behaviour);
}

/** The present behaviour, which PUT /behaviour replaces while requests go on. */
export interface LiveBehaviour {
  current: Behaviour;
  /** The present phase of an outage. */
  outage: 'none' | 'closed' | 'unavailable';
}
