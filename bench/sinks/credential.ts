/** The APNs credential that clients show to a sink. */

import type { ProviderAccounts } from '../../packages/simulator/src/accounts.ts';
import { mintProviderToken } from '../../src/providers/apns/credentials.ts';
import type { Sink } from './sink.ts';

export async function credentialOf({
  apns,
}: ProviderAccounts): Promise<Pick<Sink, 'credential' | 'authorization'>> {
  const credential = { kind: 'apns', ...apns, environment: 'production' } as const;
  const minted = await mintProviderToken(credential, Date.now());
  if (!minted.ok) throw new Error(minted.reason);
  return { credential, authorization: minted.value };
}
