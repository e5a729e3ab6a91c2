/** Puts sending together: the fan-out, and the watch over the credentials that it uses. */

import type { Logger } from 'pino';
import type { Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';
import { PLATFORM_IDS } from '../../domain/device.ts';
import { CredentialWatch } from '../../provider-credentials/credential-watch.ts';
import type { Check } from '../../provider-credentials/provider-check.ts';
import type { OpenedInUse } from '../../provider-credentials/rotation.ts';
import { readCredentialInUse, refuse } from '../../provider-credentials/rotation.ts';
import type { CredentialState } from '../../provider-credentials/sql/read-credential-states.ts';
import type { AuthorizationCache } from '../../providers/authorization.ts';
import { faultSentence } from '../../providers/fault-sentence.ts';
import type { ProviderOrigins } from '../../providers/origins.ts';
import type { UsableCredential } from '../../push/dispatch/authorizer.ts';
import type { FanOut, FanOutOptions } from '../../push/fan-out.ts';
import { startFanOut } from '../../push/fan-out.ts';
import type { CredentialReading } from '../../telemetry/metrics.ts';
import { redisAddressOf } from '../config.ts';
import type { EngineParts } from './parts.ts';
import type { OpenTagIndex } from './tag-index.ts';

export function startSending(
  { config, store, secrets, log }: EngineParts,
  { index, feed }: OpenTagIndex,
  origins: ProviderOrigins,
  authorizations: AuthorizationCache,
  own: Pick<FanOutOptions, 'presence' | 'journal' | 'evaluator' | 'onRecorded' | 'onHeld'>,
): Promise<FanOut> {
  return startFanOut({
    store,
    tagIndex: index,
    feed,
    redis: redisAddressOf(config),
    threads: config.WORKERS,
    leaseMs: config.CHUNK_LEASE_MS,
    logLevel: config.LOG_LEVEL,
    log,
    origins,
    transport: config.SENDER_TRANSPORT,
    connectionsMax: config.PROVIDER_CONNECTIONS_MAX,
    authorizations,
    async credentials(appId, platformId) {
      const opened = await readCredentialInUse(store.sql, secrets, appId, platformId);
      switch (opened.kind) {
        case 'opened':
          return usableOf(opened, store.sql, log, { appId, platformId });
        case 'unreadable':
          log.error(
            { appId, platformId },
            'SECRET_KEY: a credential was encrypted with another key',
          );
          return null;
        case 'none':
          return null;
      }
    },
    ...own,
  });
}

/** Watches provider credentials from now on. Those for a simulator need no watch. */
export function startWatch(sql: Sql, log: Logger, origins: ProviderOrigins, check: Check) {
  const platformIds = PLATFORM_IDS.filter((id) => !origins.simulated.includes(id));
  const watch = new CredentialWatch({ sql, log, platformIds, check });
  watch.start();
  return watch;
}

export const readingOf = (state: CredentialState): CredentialReading => ({
  ...state,
  isFallback: state.refusedReason !== null && state.fallbackUntilMs !== null,
});

/**
 * A credential with a way back to the previous one, while there is one. The log tells its first
 * use.
 */
const usableOf = (
  { credential, version, hasFallback, wasAcceptedLately }: OpenedInUse,
  sql: Sql,
  log: Logger,
  scope: Scope,
): UsableCredential => ({
  credential,
  wasAcceptedLately,
  fallBack: hasFallback
    ? async (reason) => {
        if (await refuse(sql, scope, version, reason)) {
          log.error(
            { ...scope, reason, meaning: faultSentence(reason) },
            'a provider refuses the new credential: the previous one is used again',
          );
        }
      }
    : null,
});
