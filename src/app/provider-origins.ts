/** The providers that this process sends to, and the certificates that it trusts there. */

import { readFileSync } from 'node:fs';
import type { Simulator } from '../../packages/simulator/src/simulator.ts';
import type { ProviderOrigins } from '../providers/origins.ts';
import { originsOf } from '../providers/origins.ts';
import type { Config } from './config.ts';

/** `simulator` is null when none runs in this process. */
export function providerOrigins(config: Config, simulator: Simulator | null): ProviderOrigins {
  const { PROVIDER_CA_FILE } = config;
  const certificates = [
    ...(PROVIDER_CA_FILE === undefined ? [] : [readFileSync(PROVIDER_CA_FILE, 'utf8')]),
    ...(simulator === null ? [] : [simulator.certificatePem]),
  ];
  return originsOf(config, simulator, certificates.length === 0 ? null : certificates.join('\n'));
}
