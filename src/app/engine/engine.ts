/** Puts the parts of the service together on an opened store. */

import type { Logger } from 'pino';
import { adminRoutes } from '../../api/admin-routes.ts';
import { consoleRoutes } from '../../api/console-routes.ts';
import { aboutRoute } from '../../api/open/about.ts';
import { apiViewerRoutes } from '../../api/open/api-viewer.ts';
import { builtFiles, CONSOLE_FOLDER, GUIDES_FOLDER } from '../../api/open/built-files.ts';
import { consolePageRoutes } from '../../api/open/console-page.ts';
import { guidePageRoutes } from '../../api/open/guide-pages.ts';
import { healthRoutes } from '../../api/open/health.ts';
import { Readiness } from '../../api/open/readiness.ts';
import { operatorRoutes } from '../../api/open/system.ts';
import { withDocument } from '../../api/openapi/routes.ts';
import { startServer } from '../../api/server.ts';
import { Catalogue } from '../../catalogue/catalogue.ts';
import { TagTrees } from '../../catalogue/routes/tag-tree.ts';
import { Maintenance } from '../../database/maintenance/maintenance.ts';
import { WriteProbe } from '../../database/write-probe.ts';
import { BulkOperations } from '../../devices/bulk/bulk-operations.ts';
import { createEraser } from '../../devices/erase-device.ts';
import type { Importer } from '../../devices/import/importer.ts';
import { DeviceTags } from '../../devices/register/device-tags.ts';
import { appApiRoutes } from '../../devices/routes/routes.ts';
import { UNWRITTEN_MS_MAX } from '../../domain/device.ts';
import type { Route } from '../../http/handler.ts';
import type { Check } from '../../provider-credentials/provider-check.ts';
import { createCheck } from '../../provider-credentials/provider-check.ts';
import { ProviderTokens } from '../../provider-credentials/provider-tokens.ts';
import { AuthorizationCache } from '../../providers/authorization.ts';
import type { ProviderOrigins } from '../../providers/origins.ts';
import { jobCanceller } from '../../push/cancel-jobs.ts';
import { Presence } from '../../push/protocol/presence.ts';
import { pushRoute } from '../../push/routes/push.ts';
import { notificationRoutes } from '../../push/routes/routes.ts';
import { statusRoute } from '../../push/routes/status.ts';
import { JobWatches } from '../../push/routes/watches.ts';
import { listExpectedSends } from '../../push/sql/list-expected.ts';
import { systemClock } from '../../std/clock.ts';
import { connectionsMaxOf, descriptorsMax } from '../../std/descriptors.ts';
import { VitalsWatch } from '../../std/thread-vitals.ts';
import { TokenBuckets } from '../../std/token-buckets.ts';
import { FailureLog } from '../../telemetry/failure-log.ts';
import { JobJournal } from '../../telemetry/job-journal.ts';
import { createMetrics } from '../../telemetry/metrics.ts';
import type { OpenTracer } from '../../telemetry/traces/tracer.ts';
import { Evaluator } from '../../templates/evaluator.ts';
import { WebhookDeliverer } from '../../webhooks/deliverer.ts';
import type { Config } from '../config.ts';
import { writeDemoFile } from '../demo/demo.ts';
import { demoConsoleUrl, hasDemo, startDemo, tellDemo } from '../demo/engine-demo.ts';
import { providerOrigins } from '../provider-origins.ts';
import { Housekeeping } from '../upkeep/housekeeping.ts';
import { version } from '../version.ts';
import { createAccess } from './access.ts';
import { beginCounts, countRegistration, countSends, readingsOf } from './counts.ts';
import type { EngineParts } from './parts.ts';
import { createImporter, createReplacements, startRegistration } from './registration.ts';
import { readingOf, startSending, startWatch } from './sending.ts';
import { createBacklog, createWebhookBacklog, gatherSystem } from './system-state.ts';
import { openTagIndex } from './tag-index.ts';

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

/**
 * Addresses whose rates are remembered, per generation; about 100 bytes each.
 * @limit addresses whose rates are remembered, in each of two generations → forgotten, so with full
 * rate again
 */
const RATE_BUCKETS_MAX = 100_000;
const DAY_MS = 86_400_000;

/** Starts everything on a store; resolves when it listens. */
export async function startEngine({ config, store, secrets, log }: EngineParts): Promise<Engine> {
  const { sql } = store;
  const failureLog = new FailureLog(log);
  const metrics = createMetrics((error, metric) =>
    failureLog.tell({
      level: 'warn',
      sentence: 'a metric could not be read',
      error,
      context: { metric },
    }),
  );
  beginCounts(metrics);
  const demo = hasDemo(config) ? await startDemo(store, secrets) : null;
  const origins = providerOrigins(config, demo?.simulator ?? null);
  const catalogue = new Catalogue(sql);
  const tagIndex = await openTagIndex(config, store, log, metrics);
  const { feed } = tagIndex;
  const registration = startRegistration(config, store, feed, log, metrics);
  const importer = createImporter(config, store, feed, log, metrics);
  const replacements = createReplacements(config, store, feed, log);
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
  const cancelJobs = jobCanceller({ sql: store.sql, journal });
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
  const access = createAccess(parts);
  const { authenticator, sessions, failures } = access;
  const readSystem = () =>
    gatherSystem({
      sql,
      readiness,
      index: tagIndex.reading(),
      providers: {
        openCircuits: fanOut.circuitBreakers.readings,
        credentials: watch.states.filter((state) => state.hasCredential).map(readingOf),
        connections: fanOut.sending().providers,
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
      cancelJobs,
      patientReads: store.patientReads,
      listExpectedSends,
      eraseDevice: createEraser(sql, feed),
      onDisconnected: (tagId) => housekeeping.expectDisconnected(tagId),
      takeOff: (tagIds) => housekeeping.takeOff(tagIds),
      arePrivateWebhooksAllowed: config.WEBHOOK_PRIVATE_ADDRESSES,
    }),
    ...consoleRoutes({
      ...access,
      mode: config.SIGN_UP,
      cancelJobs,
      patientReads: store.patientReads,
      readSystem,
    }),
    ...(config.OPERATOR_TOKEN === undefined ? [] : operatorRoutes({ sql, readSystem })),
    aboutRoute,
    ...consolePageRoutes(builtFiles(CONSOLE_FOLDER)),
    ...guidePageRoutes(builtFiles(GUIDES_FOLDER)),
    ...healthRoutes({
      readiness,
      metrics,
      operatorToken: config.OPERATOR_TOKEN ?? null,
      failures,
    }),
    ...apiViewerRoutes(),
  ]);
  const server = await startServer({
    host: config.HOST,
    port: config.PORT,
    tls: tlsOf(config),
    trustedProxies: config.TRUSTED_PROXIES,
    corsOrigins: config.CORS_ORIGINS,
    authenticator,
    sessions,
    operatorToken: config.OPERATOR_TOKEN ?? null,
    connectionsMax: connectionsMaxOf(descriptorsMax(), store.address.kind === 'embedded'),
    failures,
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
  if (demo !== null) tellDemo(config, url, demo, consoleUrl);

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
      await access.records.drain();
      evaluator.close();
      await Promise.all([housekeeping.stop(), bulkOperations.stop(), webhooks.stop()]);
      await Promise.all([maintenance.stop(), watch.stop()]);
      await Promise.all([registration.drain(), replacements.drain(), importer.drain()]);
      await Promise.all([tagIndex.stop(), writeProbe.close()]);
      await demo?.simulator.close();
      await tracer?.stop();
      ownVitals.stop();
      failureLog.stop();
    },
  };
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
