/** Puts sending together: the fan-out, the watch over the credentials that it uses, its routes. */

import type { Logger } from 'pino';
import type { Secrets } from '../../access/secrets.ts';
import type { Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';
import { PLATFORM_IDS } from '../../domain/device.ts';
import type { Route } from '../../http/handler.ts';
import { CredentialWatch } from '../../provider-credentials/credential-watch.ts';
import { credentialMetrics } from '../../provider-credentials/metrics.ts';
import type { Check } from '../../provider-credentials/provider-check.ts';
import { createCheck } from '../../provider-credentials/provider-check.ts';
import { ProviderTokens } from '../../provider-credentials/provider-tokens.ts';
import type { OpenedInUse } from '../../provider-credentials/rotation.ts';
import { readCredentialInUse, refuse } from '../../provider-credentials/rotation.ts';
import { AuthorizationCache } from '../../providers/authorization.ts';
import { faultSentence } from '../../providers/fault-sentence.ts';
import type { ProviderOrigins } from '../../providers/origins.ts';
import type { CredentialSource, UsableCredential } from '../../push/dispatch/authorizer.ts';
import type { FanOut } from '../../push/fan-out.ts';
import { startFanOut } from '../../push/fan-out.ts';
import { backlogMetrics } from '../../push/metrics/job-metrics.ts';
import { Presence } from '../../push/protocol/presence.ts';
import { pushRoute } from '../../push/routes/push.ts';
import { notificationRoutes } from '../../push/routes/routes.ts';
import { statusRoute } from '../../push/routes/status.ts';
import { JobWatches } from '../../push/routes/watches.ts';
import { reachKeptDays } from '../../push/upkeep.ts';
import { systemClock } from '../../std/clock.ts';
import { JobJournal } from '../../telemetry/job-journal.ts';
import type { Metric } from '../../telemetry/metric.ts';
import type { OpenTracer } from '../../telemetry/traces/tracer.ts';
import { Evaluator } from '../../templates/evaluator.ts';
import type { Config } from '../config.ts';
import { redisAddressOf } from '../config.ts';
import { version } from '../version.ts';
import { createBacklog } from './backlog.ts';
import type { EngineParts } from './parts.ts';
import type { OpenTagIndex } from './tag-index.ts';

export interface Sending {
  readonly fanOut: FanOut;
  readonly check: Check;
  readonly watch: CredentialWatch;
  /** Null: nothing is traced. */
  readonly tracer: OpenTracer | null;
  readonly journal: JobJournal;
  readonly evaluator: Evaluator;
  readonly routes: readonly Route[];
  readonly metrics: readonly Metric[];
}

export async function startSending(
  { config, store, secrets, log }: EngineParts,
  { index, feed }: OpenTagIndex,
  origins: ProviderOrigins,
): Promise<Sending> {
  const { sql, patientReads } = store;
  const reachRetentionDays = reachKeptDays({
    reachRetentionDays: config.REACH_RETENTION_DAYS,
    notificationRetentionDays: config.NOTIFICATION_RETENTION_DAYS,
  });
  const reads = { patientReads, reachRetentionDays };
  const presence = new Presence(systemClock);
  const tokens = new ProviderTokens(sql, secrets, () => presence.nodeId);
  const authorizations = new AuthorizationCache(origins, tokens);
  const check = createCheck(sql, secrets, origins, authorizations);
  const watch = startWatch(sql, log, origins, check);
  const tracer = await openTraces(config, log);
  const journal = new JobJournal(log, tracer);
  const evaluator = new Evaluator(log);
  const fanOut = await startFanOut({
    store,
    tagIndex: index,
    feed,
    redis: redisAddressOf(config),
    threads: config.WORKERS,
    presence,
    leaseMs: config.CHUNK_LEASE_MS,
    logLevel: config.LOG_LEVEL,
    log,
    journal,
    origins,
    evaluator,
    replaceableDefault: config.REPLACEABLE_DEFAULT,
    transport: config.SENDER_TRANSPORT,
    connectionsMax: config.PROVIDER_CONNECTIONS_MAX,
    authorizations,
    credentials: credentialSource(sql, secrets, log),
    onRecorded: (report) => watch.see(report),
  });
  const { accept, testSends } = fanOut;
  const backlog = createBacklog(sql);
  return {
    fanOut,
    check,
    watch,
    tracer,
    journal,
    evaluator,
    routes: [
      pushRoute(accept, sql),
      statusRoute(patientReads),
      ...notificationRoutes({
        accept,
        testSends,
        evaluator,
        sql,
        journal,
        ...reads,
        watches: new JobWatches(reads),
      }),
    ],
    metrics: [
      ...credentialMetrics(() => watch.readings),
      ...fanOut.metrics,
      ...backlogMetrics(() => backlog.read()),
    ],
  };
}

/** Watches provider credentials from now on. Those for a simulator need no watch. */
function startWatch(sql: Sql, log: Logger, origins: ProviderOrigins, check: Check) {
  const platformIds = PLATFORM_IDS.filter((id) => !origins.simulated.includes(id));
  const watch = new CredentialWatch({ sql, log, platformIds, check });
  watch.start();
  return watch;
}

/** Null: nothing is traced, and the SDK is not loaded. */
async function openTraces(config: Config, log: Logger): Promise<OpenTracer | null> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return null;
  const { openTracer } = await import('../../telemetry/traces/open.ts');
  const isShare = config.OTEL_TRACES_SAMPLER === 'parentbased_traceidratio';
  const share = isShare ? config.OTEL_TRACES_SAMPLER_ARG : 1;
  return openTracer({ endpoint, share, version: version(), log });
}

const credentialSource =
  (sql: Sql, secrets: Secrets, log: Logger): CredentialSource =>
  async (appId, platformId) => {
    const opened = await readCredentialInUse(sql, secrets, appId, platformId);
    switch (opened.kind) {
      case 'opened':
        return usableOf(opened, sql, log, { appId, platformId });
      case 'unreadable':
        log.error({ appId, platformId }, 'SECRET_KEY: a credential was encrypted with another key');
        return null;
      case 'none':
        return null;
    }
  };

/** A credential with a way back to the previous one. Its first use is logged. */
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
