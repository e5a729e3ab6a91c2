/** Our own simulator, which checks every push as APNs does and remembers it: the sink of the tests and of the demo. */

import { readFileSync } from 'node:fs';
import type { ProviderAccounts } from '../../src/simulator/accounts.ts';
import type { Lifetime } from '../../test/support/lifetime.ts';
import { startSimulatorProcess } from '../../test/support/processes.ts';
import { credentialOf } from './credential.ts';
import type { Sink } from './sink.ts';
import { makeTokens } from './tokens.ts';

/** Enough that none is asked twice within a second, few enough that its books stay small. */
const TOKENS = 50_000;

export async function startSimulatorSink(stage: Lifetime): Promise<Sink> {
  // From the start, as nghttpd has it: some clients send before they know what is allowed.
  const flags = ['--streams', '1000'];
  const { apnsOrigin, accountsFile, certificateFile } = await startSimulatorProcess(stage, flags);
  const { hostname, port } = new URL(apnsOrigin);
  const accounts = JSON.parse(readFileSync(accountsFile, 'utf8')) as ProviderAccounts;
  return {
    name: 'simulator',
    host: hostname,
    port: Number(port),
    ca: readFileSync(certificateFile, 'utf8'),
    ...(await credentialOf(accounts)),
    tokens: makeTokens(TOKENS),
  };
}
