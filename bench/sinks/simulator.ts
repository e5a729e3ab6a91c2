/**
 * Our own simulator, which checks every push as APNs does and remembers it: the sink of the tests
 * and of the demo.
 */

import { readFileSync } from 'node:fs';
import type { ProviderAccounts } from '../../packages/simulator/src/accounts.ts';
import type { BehaviourChange } from '../../packages/simulator/src/options.ts';
import type { Lifetime } from '../../test/support/lifetime.ts';
import { startSimulatorProcess } from '../../test/support/processes.ts';
import { credentialOf } from './credential.ts';
import type { Sink } from './sink.ts';
import { makeTokens } from './tokens.ts';

/** Enough that none is asked twice within a second, few enough that its books stay small. */
const TOKENS = 50_000;

/**
 * Answers that are held for a round trip would be copied by a collection of the young generation
 * that is smaller than all of them; the sink should cost the same near by and afar.
 */
const YOUNG = { NODE_OPTIONS: '--max-semi-space-size=64' };

export interface SimulatorSink extends Sink {
  /** Changes how it behaves, for connections that are opened from now on. */
  behave(change: BehaviourChange): Promise<void>;
}

export async function startSimulatorSink(stage: Lifetime): Promise<SimulatorSink> {
  // From the start, as nghttpd has it: some clients send before they know what is allowed.
  const simulator = await startSimulatorProcess(stage, ['--streams', '1000'], YOUNG);
  const { apnsOrigin, accountsFile, certificateFile, controlUrl } = simulator;
  const { hostname, port } = new URL(apnsOrigin);
  const accounts = JSON.parse(readFileSync(accountsFile, 'utf8')) as ProviderAccounts;
  return {
    name: 'simulator',
    host: hostname,
    port: Number(port),
    ca: readFileSync(certificateFile, 'utf8'),
    ...(await credentialOf(accounts)),
    tokens: makeTokens(TOKENS),
    behave: async (change) => {
      const body = JSON.stringify(change);
      const answer = await fetch(`${controlUrl}/behaviour`, { method: 'PUT', body });
      if (!answer.ok) throw new Error(`the simulator refused ${body}: ${await answer.text()}`);
    },
  };
}
