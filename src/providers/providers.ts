/** The providers, one for each platform: the only file that lists them all. */

import type { PlatformId } from '../../packages/std/src/platforms.ts';
import { PLATFORMS } from '../../packages/std/src/platforms.ts';
import { isPlatformId } from '../domain/device.ts';
import { APNS } from './apns/provider.ts';
import { FCM } from './fcm/provider.ts';
import type { ProviderOrigins } from './origins.ts';
import type { Provider } from './provider.ts';
import { WEB_PUSH } from './webpush/provider.ts';

const TABLE = {
  [PLATFORMS.apns]: APNS,
  [PLATFORMS.webpush]: WEB_PUSH,
  [PLATFORMS.fcm]: FCM,
} as const;

type CredentialOf<One> = One extends Provider<infer Credential, never> ? Credential : never;

/** The credentials of one (app, platform). */
export type ProviderCredential = CredentialOf<(typeof TABLE)[keyof typeof TABLE]>;

/** Any provider; its caller passes only credentials of its own kind. */
export type AnyProvider = Provider<ProviderCredential, ProviderOrigins>;

/** Keyed by platform; a platform without its provider does not compile. */
export const PROVIDERS: Readonly<Record<PlatformId, AnyProvider>> = Object.freeze(TABLE);

/** The provider of a platform id from the database, which holds only platforms of this table. */
export function providerOn(platformId: number): AnyProvider {
  if (!isPlatformId(platformId)) throw new Error(`no provider is on the platform ${platformId}`);
  return PROVIDERS[platformId];
}

const BY_KIND: ReadonlyMap<string, AnyProvider> = new Map(
  Object.values(PROVIDERS).map((provider) => [provider.kind, provider]),
);

export const PROVIDER_KINDS: readonly string[] = [...BY_KIND.keys()];

export function providerOf({ kind }: ProviderCredential): AnyProvider {
  const provider = BY_KIND.get(kind);
  if (provider === undefined) throw new Error(`no provider has credentials of the kind ${kind}`);
  return provider;
}
