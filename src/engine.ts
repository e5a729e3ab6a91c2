/** Puts the parts of the service together on an opened store. */

import type { Logger } from 'pino';
import { Attempts } from './access/accounts/attempts.ts';
import { Passwords } from './access/accounts/passwords.ts';
import { Sessions } from './access/accounts/sessions.ts';
import { Authenticator } from './access/authenticate.ts';
import { Failures } from './access/failures.ts';
import type { Secrets } from './access/secrets.ts';
import type { Config } from './config.ts';
import { redisAddressOf } from './config.ts';
import { CredentialWatch } from './credentials/credential-watch.ts';
import type { Check } from './credentials/provider-check.ts';
import { createCheck } from './credentials/provider-check.ts';
import { ProviderTokens } from './credentials/provider-tokens.ts';
import type { OpenedInUse } from './credentials/rotation.ts';
import { readCredentialInUse, refuse } from './credentials/rotation.ts';
import type { Demo } from './demo.ts';
import { describeDemo, ensureDemo, readDemoAccounts, writeDemoFile } from './demo.ts';
import { makeDemoLink } from './demo-link.ts';
import type { Scope } from './domain/device.ts';
import { PLATFORM_IDS, UNWRITTEN_MS_MAX } from './domain/device.ts';
import type { Progress } from './domain/progress.ts';
import { FINAL_KINDS } from './domain/progress.ts';
import { adminRoutes } from './http/admin/routes.ts';
import { appApiRoutes } from './http/app-api/routes.ts';
import { TagTrees } from './http/app-api/tag-tree.ts';
import { consoleRoutes } from './http/console/routes.ts';
import type { Route } from './http/handler.ts';
import { pushRoute } from './http/notifications/push.ts';
import { notificationRoutes } from './http/notifications/routes.ts';
import { statusRoute } from './http/notifications/status.ts';
import { JobWatches } from './http/notifications/watches.ts';
import { aboutRoute } from './http/open/about.ts';
import { apiViewerRoutes } from './http/open/api-viewer.ts';
import { builtFiles, CONSOLE_FOLDER, GUIDES_FOLDER } from './http/open/built-files.ts';
import { consolePageRoutes } from './http/open/console-page.ts';
import { guidePageRoutes } from './http/open/guide-pages.ts';
import { healthRoutes } from './http/open/health.ts';
import { Readiness } from './http/open/readiness.ts';
import { withDocument } from './http/openapi/routes.ts';
import type { SystemState } from './http/operator/system.ts';
import { operatorRoutes } from './http/operator/system.ts';
import { startServer } from './http/server.ts';
import { providerOrigins } from './provider-origins.ts';
import { AuthorizationCache } from './providers/authorization.ts';
import { faultSentence } from './providers/fault-sentence.ts';
import type { ProviderOrigins } from './providers/origins.ts';
import type { UsableCredential } from './push/dispatch/authorizer.ts';
import type { FanOut, FanOutOptions } from './push/fan-out.ts';
import { startFanOut } from './push/fan-out.ts';
import { Presence } from './push/protocol/presence.ts';
import { Catalogue } from './registration/catalogue/catalogue.ts';
import { createEraser } from './registration/erase-device.ts';
import { IMPORT_LANES, IMPORT_LANES_EMBEDDED, Importer } from './registration/import/importer.ts';
import type { RegistrationResult } from './registration/operation.ts';
import { DeviceTags } from './registration/register/device-tags.ts';
import { LANES, LANES_EMBEDDED, Registration } from './registration/register/registration.ts';
import { Replacements } from './registration/replace/replacements.ts';
import type { SimulatorThread } from './simulator/thread.ts';
import { startSimulatorThread } from './simulator/thread.ts';
import { systemClock } from './std/clock.ts';
import type { ThreadVitals } from './std/thread-vitals.ts';
import { VitalsWatch } from './std/thread-vitals.ts';
import { TokenBuckets } from './std/token-buckets.ts';
import type { CredentialState } from './store/health/read-credential-states.ts';
import { WriteProbe } from './store/health/write-probe.ts';
import type { Sql } from './store/sql.ts';
import type { Store } from './store/store.ts';
import { createBacklog, createWebhookBacklog, gatherSystem } from './system-state.ts';
import { SqlTagIndex } from './tag-index/sql/sql-tag-index.ts';
import type { IndexFeed, TagIndex } from './tag-index/tag-index.ts';
import { NO_FEED } from './tag-index/tag-index.ts';
import { JobJournal } from './telemetry/job-journal.ts';
import type { CredentialReading, Metrics } from './telemetry/metrics.ts';
import { createMetrics } from './telemetry/metrics.ts';
import type { ThreadReading } from './telemetry/thread-metrics.ts';
import type { OpenTracer } from './telemetry/traces/tracer.ts';
import { Evaluator } from './templates/evaluator.ts';
import { BulkOperations } from './upkeep/bulk-operations.ts';
import { Housekeeping } from './upkeep/housekeeping.ts';
import { Maintenance } from './upkeep/maintenance.ts';
import { version } from './version.ts';
import { DELIVERY_OUTCOMES, WebhookDeliverer } from './webhooks/deliverer.ts';

export interface EngineParts {
  readonly config: Config;
  readonly store: Store;
  readonly secrets: Secrets;
  readonly log: Logger;
}

export interface Engine {
  /** The URL for callers on this machine. */
  readonly url: string;
  /** All routes of its HTTP service. */
  readonly routes: readonly Route[];
  /** Asks a provider whether a credential works. */
  readonly check: Check;
  /** The addresses of the providers: an uploaded credential may name only these. */
  readonly origins: ProviderOrigins;
  readonly catalogue: Catalogue;
  /** Commits the devices that an operator imports. */
  readonly importer: Importer;
  /** Reads the certificate's files again. */
  reloadCertificate(): Promise<void>;
  /**
   * Stops accepting, answers accepted requests, gives sends back, and ends every thread but the
   * store's.
   */
  drain(): Promise<void>;
}

/** Addresses whose rates are remembered, per generation; about 100 bytes each. */
const RATE_BUCKETS_MAX = 100_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Starts everything on a store; resolves when it listens. */
export async function startEngine({ config, store, secrets, log }: EngineParts): Promise<Engine> {
  const { sql } = store;
  const metrics = createMetrics();
  beginCounts(metrics);
  const demo = hasDemo(config) ? await startDemo(store, secrets) : null;
  const origins = providerOrigins(config, demo?.simulator ?? null);
  const catalogue = new Catalogue(sql);
  const tagIndex = await openTagIndex(config, store, log, metrics);
  const { feed } = tagIndex;
  const registration = startRegistration(config, store, feed, log, metrics);
  const importer = createImporter(config, store, feed, log, metrics);
  const replacements = new Replacements({
    sql,
    feed,
    log,
    lanes: store.address.kind === 'embedded' ? LANES_EMBEDDED : LANES,
    tagsPerDeviceMax: config.TAGS_PER_DEVICE_MAX,
  });
  const presence = new Presence(systemClock);
  const tokens = new ProviderTokens(sql, secrets, () => presence.nodeId);
  const authorizations = new AuthorizationCache(origins, tokens);
  const check = createCheck(sql, secrets, origins, authorizations);
  const watch = startWatch(sql, log, origins, check);
  metrics.watchCredentials(() =>
    watch.states.filter((state) => state.hasCredential).map(readingOf),
  );
  const tracer = await openTraces(config, log);
  const journal = new JobJournal(log, tracer);
  const parts = { config, store, secrets, log };
  const evaluator = new Evaluator(log);
  const fanOut = await startSending(parts, tagIndex, origins, authorizations, {
    presence,
    journal,
    evaluator,
    onRecorded(report) {
      countSends(metrics, report);
      watch.see(report);
    },
    onHeld(platformId, devices) {
      metrics.heldDeletions.with({ platform: String(platformId) }).value += devices;
    },
  });
  metrics.watchCircuits(() => fanOut.circuitBreakers.readings);
  metrics.watchSending(fanOut.sending);
  metrics.watchLedger(fanOut.ledger);
  metrics.watchParts(fanOut.parts);
  const backlog = createBacklog(sql);
  metrics.watchBacklog(() => backlog.read());
  const webhookBacklog = createWebhookBacklog(sql);
  metrics.watchWebhooks(() => webhookBacklog.read());
  const ownVitals = new VitalsWatch();
  metrics.watchThreads(() => [
    ...readingsOf('main', ownVitals.vitals),
    ...readingsOf('database', store.threadVitals()),
    ...readingsOf('simulator', demo?.simulator.vitals() ?? null),
    ...fanOut.workerVitals().flatMap((vitals, i) => readingsOf(`worker-${i + 1}`, vitals)),
  ]);
  const housekeeping = new Housekeeping({
    sql,
    feed: tagIndex.feed,
    log,
    journal,
    // The latest registrations of a device may be unwritten.
    deviceRetentionMs: config.DEVICE_RETENTION_DAYS * DAY_MS + UNWRITTEN_MS_MAX,
    notificationRetentionDays: config.NOTIFICATION_RETENTION_DAYS,
  });
  const bulkOperations = new BulkOperations({
    sql,
    feed,
    log,
    tagsPerDeviceMax: config.TAGS_PER_DEVICE_MAX,
  });
  const webhooks = new WebhookDeliverer({
    sql,
    secrets,
    log,
    agent: `Tagcast/${version()}`,
    isPrivateAllowed: config.WEBHOOK_PRIVATE_ADDRESSES,
    onAttempt: (outcome) => {
      metrics.webhookDeliveries.with({ outcome }).value += 1;
    },
  });
  metrics.watchObjectIds(() => housekeeping.objectIdsUsedShare);
  const maintenance = new Maintenance(store, log);
  const writeProbe = new WriteProbe(store.address);
  let isDraining = false;
  const readiness = new Readiness({
    askStore: () => writeProbe.ask(),
    isIndexReachable: tagIndex.isReachable,
    isDraining: () => isDraining,
    clock: systemClock,
    log,
  });
  const sessions = new Sessions(sql, secrets);
  const readSystem = () =>
    gatherSystem({
      sql,
      readiness,
      index: tagIndex.reading(),
      providers: {
        openCircuits: fanOut.circuitBreakers.readings,
        credentials: watch.states.filter((state) => state.hasCredential).map(readingOf),
      },
      registrations: registration.depth,
    });
  const routes = withDocument([
    ...appApiRoutes({
      catalogue,
      tagTrees: new TagTrees(sql),
      deviceTags: new DeviceTags(sql),
      registration,
      replacements,
      rates: new TokenBuckets({
        perSecond: config.REGISTRATIONS_PER_SECOND_MAX,
        bucketsMax: RATE_BUCKETS_MAX,
      }),
      tagsPerDeviceMax: config.TAGS_PER_DEVICE_MAX,
      onIgnored: (_endpoint, field) => {
        metrics.ignoredParameters.with({ field }).value += 1;
      },
      onResult: (operation, result) => countRegistration(metrics, operation, result),
    }),
    pushRoute(fanOut.accept, sql),
    statusRoute(store.patientReads),
    ...notificationRoutes({
      accept: fanOut.accept,
      testSends: fanOut.testSends,
      evaluator,
      sql,
      journal,
      patientReads: store.patientReads,
      watches: new JobWatches(store.patientReads),
    }),
    ...adminRoutes({
      sql,
      secrets,
      origins,
      check,
      evaluator,
      patientReads: store.patientReads,
      eraseDevice: createEraser(sql, feed),
      onDisconnected: (tagId) => housekeeping.expectDisconnected(tagId),
      arePrivateWebhooksAllowed: config.WEBHOOK_PRIVATE_ADDRESSES,
    }),
    ...consoleRoutes({
      sql,
      secrets,
      sessions,
      passwords: new Passwords(),
      attempts: new Attempts(),
      mode: config.SIGN_UP,
      patientReads: store.patientReads,
      readSystem,
    }),
    ...(config.OPERATOR_TOKEN === undefined ? [] : operatorRoutes({ sql, readSystem })),
    aboutRoute,
    ...consolePageRoutes(builtFiles(CONSOLE_FOLDER)),
    ...guidePageRoutes(builtFiles(GUIDES_FOLDER)),
    ...healthRoutes({ readiness, metrics, operatorToken: config.OPERATOR_TOKEN ?? null }),
    ...apiViewerRoutes(),
  ]);
  const server = await startServer({
    host: config.HOST,
    port: config.PORT,
    tls: tlsOf(config),
    trustedProxies: config.TRUSTED_PROXIES,
    corsOrigins: config.CORS_ORIGINS,
    authenticator: new Authenticator(sql, secrets),
    sessions,
    operatorToken: config.OPERATOR_TOKEN ?? null,
    failures: new Failures(),
    metrics,
    log,
    requestLog: config.REQUEST_LOG,
    tracer,
    routes,
  });
  housekeeping.start();
  bulkOperations.start();
  webhooks.start();
  maintenance.start();
  const url = urlOf(config, server.port);
  const consoleUrl = await demoConsoleUrl(store, secrets, demo, url);
  if (demo !== null) {
    await writeDemoFile(config.DATA_DIR, url, demo.demo, demo.simulator, consoleUrl);
  }
  log.info({ url, workers: config.WORKERS, store: store.address.kind }, 'listening');
  if (demo !== null) process.stdout.write(describeDemo(url, demo.demo, demo.simulator, consoleUrl));

  return {
    url,
    routes,
    origins,
    check,
    catalogue,
    importer,
    reloadCertificate: () => server.reloadCertificate(),
    async drain() {
      isDraining = true;
      await Promise.all([server.close(), fanOut.drain()]);
      evaluator.close();
      await Promise.all([housekeeping.stop(), bulkOperations.stop(), webhooks.stop()]);
      await Promise.all([maintenance.stop(), watch.stop()]);
      await Promise.all([registration.drain(), replacements.drain(), importer.drain()]);
      await Promise.all([tagIndex.stop(), writeProbe.close()]);
      await demo?.simulator.close();
      await tracer?.stop();
      ownVitals.stop();
    },
  };
}

/** Null: nothing is traced, and the SDK is not loaded. */
async function openTraces(config: Config, log: Logger): Promise<OpenTracer | null> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return null;
  const { openTracer } = await import('./telemetry/traces/open.ts');
  const isShare = config.OTEL_TRACES_SAMPLER === 'parentbased_traceidratio';
  const share = isShare ? config.OTEL_TRACES_SAMPLER_ARG : 1;
  return openTracer({ endpoint, share, version: version(), log });
}

/** The demo client and the simulator exist only when embedded, unless DEMO says otherwise. */
const hasDemo = ({ DEMO, DATABASE_URL }: Config): boolean => DEMO ?? DATABASE_URL === undefined;

interface RunningDemo {
  readonly demo: Demo;
  readonly simulator: SimulatorThread;
}

/** None for a thread that does not exist or has not reported yet. */
const readingsOf = (thread: string, vitals: ThreadVitals | null): readonly ThreadReading[] =>
  vitals === null ? [] : [{ thread, ...vitals }];

/**
 * The simulator accepts the accounts of the demo app's credentials, also those of an earlier start.
 */
async function startDemo({ sql }: Store, secrets: Secrets): Promise<RunningDemo> {
  const demo = await ensureDemo(sql, secrets);
  const accounts = await readDemoAccounts(sql, secrets, demo);
  return { demo, simulator: await startSimulatorThread(accounts === null ? {} : { accounts }) };
}

/**
 * On the embedded database the engine is its operator's own, who sees the terminal. Null:
 * elsewhere.
 */
async function demoConsoleUrl(
  { sql, address }: Store,
  secrets: Secrets,
  demo: RunningDemo | null,
  url: string,
): Promise<string | null> {
  if (demo === null || address.kind !== 'embedded') return null;
  const { path } = await makeDemoLink(sql, secrets, demo.demo.clientId);
  return url + path;
}

interface OpenTagIndex {
  readonly index: TagIndex;
  readonly feed: IndexFeed;
  /** Whether Redis answers; null: there is none. */
  readonly isReachable: (() => boolean) | null;
  /** Null: there is none. */
  reading(): SystemState['index'];
  stop(): Promise<void>;
}

/** Opens the index in Redis if one is configured, else in the database. */
async function openTagIndex(
  config: Config,
  { sql }: Store,
  log: Logger,
  metrics: Metrics,
): Promise<OpenTagIndex> {
  const address = redisAddressOf(config);
  if (address === null) {
    return {
      index: new SqlTagIndex(sql),
      feed: NO_FEED,
      isReachable: null,
      reading: () => null,
      stop: () => Promise.resolve(),
    };
  }
  const { openIndexKeeper } = await import('./tag-index/redis/open.ts');
  const keeper = await openIndexKeeper(address, sql, log);
  metrics.watchIndex(() => keeper.reading);
  const { index, feed } = keeper;
  return {
    index,
    feed,
    isReachable: () => keeper.reading.isReachable,
    reading: () => keeper.reading,
    stop: () => keeper.stop(),
  };
}

function startSending(
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
function startWatch(sql: Sql, log: Logger, origins: ProviderOrigins, check: Check) {
  const platformIds = PLATFORM_IDS.filter((id) => !origins.simulated.includes(id));
  const watch = new CredentialWatch({ sql, log, platformIds, check });
  watch.start();
  return watch;
}

const readingOf = (state: CredentialState): CredentialReading => ({
  ...state,
  isFallback: state.refusedReason !== null && state.fallbackUntilMs !== null,
});

/**
 * A credential with a way back to the previous one, while there is one. The log tells its first
 * use.
 */
const usableOf = (
  { credential, version, hasFallback }: OpenedInUse,
  sql: Sql,
  log: Logger,
  scope: Scope,
): UsableCredential => ({
  credential,
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

/**
 * Series that are to be there before the first event: Prometheus sees no increase when a series
 * begins with it.
 */
function beginCounts(metrics: Metrics): void {
  for (const reason of ['limit', 'refused', 'unavailable']) {
    metrics.registrationFailures.with({ reason });
  }
  for (const outcome of DELIVERY_OUTCOMES) metrics.webhookDeliveries.with({ outcome });
  for (const result of ['given-back', 'parked']) metrics.partFailures.with({ result });
  for (const platform of PLATFORM_IDS.map(String)) {
    metrics.retries.with({ platform });
    for (const outcome of FINAL_KINDS) metrics.sends.with({ platform, outcome });
  }
}

/** Counts durable operations, and those that were refused because too many waited. */
function countRegistration(metrics: Metrics, operation: string, result: RegistrationResult): void {
  switch (result) {
    case 'committed':
    case 'tags-limited':
      metrics.registrations.with({ operation }).value += 1;
      return;
    case 'overloaded':
      metrics.overloads.with({ part: 'registrations' }).value += 1;
      return;
    case 'limit':
    case 'refused':
    case 'unavailable':
      metrics.registrationFailures.with({ reason: result }).value += 1;
  }
}

/** Counts sends by their final outcome, and those that are put off. */
function countSends(metrics: Metrics, report: Progress): void {
  const platform = String(report.platformId);
  if (report.failure !== undefined) {
    const result = report.isParked === true ? 'parked' : 'given-back';
    metrics.partFailures.with({ result }).value += 1;
  }
  const add = (outcome: string, count: number): void => {
    if (count > 0) metrics.sends.with({ platform, outcome }).value += count;
  };
  switch (report.kind) {
    case 'chunk': {
      const { total: _, ...ended } = report.counts;
      for (const [outcome, count] of Object.entries(ended)) add(outcome, count);
      metrics.retries.with({ platform }).value += report.retries.length;
      return;
    }
    case 'retries':
      for (const { ending } of report.settlements) {
        if (ending !== null) add(ending, 1);
        else metrics.retries.with({ platform }).value += 1;
      }
  }
}

function startRegistration(
  config: Config,
  store: Store,
  feed: IndexFeed,
  log: Logger,
  metrics: Metrics,
): Registration {
  const registration = new Registration({
    store,
    feed,
    log,
    lanes: store.address.kind === 'embedded' ? LANES_EMBEDDED : LANES,
    inFlightMax: config.REGISTRATIONS_IN_FLIGHT_MAX,
    devicesPerAppMax: config.DEVICES_PER_APP_MAX,
    tagsPerDeviceMax: config.TAGS_PER_DEVICE_MAX,
    freshMs: config.REGISTRATION_REFRESH_HOURS * HOUR_MS,
  });
  metrics.watchQueue('registrations', () => registration.depth);
  const { seconds, operations } = registration.batches;
  metrics.watchRegistration(() => ({
    batchSeconds: seconds.reading,
    batchOperations: operations.reading,
  }));
  return registration;
}

const createImporter = (
  config: Config,
  { sql, address }: Store,
  feed: IndexFeed,
  log: Logger,
  metrics: Metrics,
): Importer =>
  new Importer({
    sql,
    feed,
    log,
    onCommitted(devices) {
      metrics.registrations.with({ operation: 'import' }).value += devices;
    },
    lanes: address.kind === 'embedded' ? IMPORT_LANES_EMBEDDED : IMPORT_LANES,
    devicesPerAppMax: config.DEVICES_PER_APP_MAX,
    tagsPerDeviceMax: config.TAGS_PER_DEVICE_MAX,
  });

const tlsOf = ({ TLS_CERT_FILE, TLS_KEY_FILE }: Config) =>
  TLS_CERT_FILE === undefined || TLS_KEY_FILE === undefined
    ? null
    : { certFile: TLS_CERT_FILE, keyFile: TLS_KEY_FILE };

/** The URL for callers on this machine, who cannot connect to a wildcard address. */
function urlOf({ HOST, TLS_CERT_FILE }: Config, port: number): string {
  const scheme = TLS_CERT_FILE === undefined ? 'http' : 'https';
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
