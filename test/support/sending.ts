/**
 * A fan-out with real threads on a store, sending to a simulator: what end-to-end tests inside one
 * process use.
 */

import { pino } from 'pino';
import type { Test } from 'tap';
import type { Simulator } from '../../packages/simulator/src/simulator.ts';
import { PLATFORMS } from '../../packages/std/src/platforms.ts';
import type { Store } from '../../src/database/store.ts';
import { ProviderTokens } from '../../src/provider-credentials/provider-tokens.ts';
import { AuthorizationCache } from '../../src/providers/authorization.ts';
import type { ProviderOrigins } from '../../src/providers/origins.ts';
import { originsOf as originsBy } from '../../src/providers/origins.ts';
import type { ProviderCredential } from '../../src/providers/providers.ts';
import type { CredentialSource, UsableCredential } from '../../src/push/dispatch/authorizer.ts';
import type { FanOut } from '../../src/push/fan-out.ts';
import { startFanOut } from '../../src/push/fan-out.ts';
import { Presence } from '../../src/push/protocol/presence.ts';
import { systemClock } from '../../src/std/clock.ts';
import { SqlTagIndex } from '../../src/tag-index/sql/sql-tag-index.ts';
import { NO_FEED } from '../../src/tag-index/tag-index.ts';
import type { JobJournal } from '../../src/telemetry/job-journal.ts';
import type { TransportLimits } from '../../src/transport/transport.ts';
import { secrets } from './api.ts';
import { PROVIDER_DEFAULTS } from './default-origins.ts';
import { evaluator } from './evaluator.ts';
import { SILENT_JOURNAL } from './silent-journal.ts';

export interface SendingOptions {
  readonly leaseMs?: number;
  /** Default: true, as an engine's. */
  readonly replaceableDefault?: boolean;
  /** In place of the providers' own. */
  readonly limits?: Partial<TransportLimits>;
  /** Default: one that is not read. */
  readonly journal?: JobJournal;
  /** In place of the simulator's own. */
  readonly origins?: Partial<ProviderOrigins>;
  /** In place of `credentials`: with fallbacks. */
  readonly source?: CredentialSource;
  /** Default: the simulator's account for every app. */
  readonly credentials?: (appId: number, platformId: number) => Promise<ProviderCredential | null>;
}

/** A fan-out of one thread; drained with the test at the latest. */
export async function fanOutFor(
  t: Test,
  store: Store,
  simulator: Simulator,
  options: SendingOptions = {},
): Promise<FanOut> {
  const origins = { ...originsOf(simulator), ...options.origins };
  const credentials =
    options.credentials ??
    ((_appId: number, platformId: number) => Promise.resolve(credentialOf(simulator, platformId)));
  const fanOut = await startFanOut({
    journal: options.journal ?? SILENT_JOURNAL,
    store,
    connectionsMax: 64,
    limits: options.limits ?? {},
    feed: NO_FEED,
    redis: null,
    tagIndex: new SqlTagIndex(store.sql),
    evaluator,
    replaceableDefault: options.replaceableDefault ?? true,
    threads: 1,
    presence: new Presence(systemClock),
    leaseMs: options.leaseMs ?? 30_000,
    logLevel: 'silent',
    log: pino({ level: 'silent' }),
    credentials: options.source ?? withoutFallback(credentials),
    authorizations: new AuthorizationCache(origins, new ProviderTokens(store.sql, secrets)),
    onRecorded: () => undefined,
    origins,
    transport: 'http2',
  });
  t.teardown(() => fanOut.drain());
  return fanOut;
}

const withoutFallback =
  (source: (appId: number, platformId: number) => Promise<ProviderCredential | null>) =>
  async (appId: number, platformId: number): Promise<UsableCredential | null> => {
    const credential = await source(appId, platformId);
    return credential === null ? null : { credential, fallBack: null, wasAcceptedLately: false };
  };

/** The simulator in every provider's place. */
export const originsOf = (simulator: Simulator): ProviderOrigins => ({
  ...originsBy(PROVIDER_DEFAULTS, simulator, simulator.certificatePem),
  // Apple's quarter of an hour is no wait for a test.
  apnsRetryMs: 1_000,
});

/** The simulator's own account at a provider. */
export const credentialOf = ({ accounts }: Simulator, platformId: number): ProviderCredential =>
  platformId === PLATFORMS.apns
    ? { kind: 'apns', ...accounts.apns, environment: 'production' }
    : { kind: 'fcm', serviceAccount: accounts.fcm.serviceAccount };
