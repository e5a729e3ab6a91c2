/** Puts the parts of the service together on an opened store. */

import { RequestCounts } from '../../api/metrics.ts';
import { startServer } from '../../api/server.ts';
import { Catalogue } from '../../catalogue/catalogue.ts';
import { Maintenance } from '../../database/maintenance/maintenance.ts';
import { frontInWords } from '../../http/choose-front.ts';
import type { Route } from '../../http/handler.ts';
import { connectionsMaxOf, descriptorsMax } from '../../std/descriptors.ts';
import { VitalsWatch } from '../../std/thread-vitals.ts';
import { FailureLog } from '../../telemetry/failure-log.ts';
import { Metrics } from '../../telemetry/metrics.ts';
import { threadMetrics } from '../../telemetry/thread-metrics.ts';
import type { Config } from '../config.ts';
import { openProviders, tellDemo, writeDemo } from '../demo/engine-demo.ts';
import { fullVersion } from '../version.ts';
import type { Access } from './access.ts';
import { createAccess } from './access.ts';
import { createBackground } from './background.ts';
import { startDevices } from './devices.ts';
import { createHealth } from './health.ts';
import type { EngineParts } from './parts.ts';
import { listRoutes } from './routes.ts';
import { startSending } from './sending.ts';
import { gatherSystem } from './system-state.ts';
import { openTagIndex } from './tag-index.ts';

export interface Engine {
  /** The URL for callers on this machine. */
  readonly url: string;
  readonly routes: readonly Route[];
  /** The operator's, which the engine's socket has too. */
  readonly operatorRoutes: readonly Route[];
  reloadCertificate(): Promise<void>;
  /** Stops accepting, answers, gives sends back, and ends every thread but the store's. */
  drain(): Promise<void>;
}

/** Starts everything on a store; resolves when it listens. */
export async function startEngine(parts: EngineParts): Promise<Engine> {
  const { config, store, log, front } = parts;
  const failureLog = new FailureLog(log);
  const metrics = openMetrics(failureLog);
  const counts = new RequestCounts();
  const { demo, origins } = await openProviders(parts);
  const catalogue = new Catalogue(store.sql);
  const tagIndex = await openTagIndex(parts);
  const devices = startDevices(parts, tagIndex.feed, catalogue, counts);
  const sending = await startSending(parts, tagIndex, origins);
  const { fanOut, watch, tracer } = sending;
  const ownVitals = new VitalsWatch();
  const background = createBackground(parts, tagIndex.feed, sending.journal);
  const maintenance = new Maintenance(store, log);
  const health = createHealth(parts, tagIndex);
  const access = createAccess(parts);
  const { readiness } = health;
  const system = { sql: store.sql, front, readiness, tagIndex, sending, devices };
  const { routes, operators } = listRoutes(parts, {
    catalogue,
    devices,
    sending,
    access,
    housekeeping: background.housekeeping,
    feed: tagIndex.feed,
    origins,
    readiness,
    metrics,
    readSystem: () => gatherSystem(system),
  });
  const server = await startServer({ ...serverSettings(parts, access), counts, tracer, routes });
  for (const part of [tagIndex, devices, sending, background, server]) metrics.add(part.metrics);
  metrics.add(
    threadMetrics(() => [
      { thread: 'main', vitals: ownVitals.vitals },
      { thread: 'database', vitals: store.threadVitals() },
      { thread: 'simulator', vitals: demo?.simulator.vitals() ?? null },
      ...fanOut.workerVitals().map((vitals, i) => ({ thread: `worker-${i + 1}`, vitals })),
    ]),
  );
  background.start();
  maintenance.start();
  const url = urlOf(config, server.port);
  const consoleUrl = demo === null ? null : await writeDemo(parts, demo, url);
  logListening(parts, url);
  if (demo !== null) tellDemo(config, url, demo, consoleUrl);
  return {
    url,
    routes,
    operatorRoutes: operators,
    reloadCertificate: () => server.reloadCertificate(),
    async drain() {
      health.beginDrain();
      await Promise.all([server.close(), fanOut.drain()]);
      await access.records.drain();
      sending.evaluator.close();
      await background.stop();
      await Promise.all([maintenance.stop(), watch.stop()]);
      await devices.drain();
      await Promise.all([tagIndex.stop(), health.stop()]);
      await demo?.simulator.close();
      await tracer?.stop();
      ownVitals.stop();
      failureLog.stop();
    },
  };
}

const logListening = ({ config, store, log, front }: EngineParts, url: string): void => {
  const { kind } = store.address;
  const fields = { url, workers: config.WORKERS, store: kind, front: frontInWords(front) };
  log.info({ ...fullVersion(), ...fields }, 'listening');
};

const openMetrics = (failureLog: FailureLog): Metrics =>
  new Metrics((error, metric) =>
    failureLog.tell({
      level: 'warn',
      sentence: 'a metric could not be read',
      error,
      context: { metric },
    }),
  );

const serverSettings = (
  { config, store, log, front }: EngineParts,
  { authenticator, sessions, failures }: Access,
) => ({
  front,
  authenticator,
  sessions,
  failures,
  host: config.HOST,
  port: config.PORT,
  tls: tlsOf(config),
  trustedProxies: config.TRUSTED_PROXIES,
  corsOrigins: config.CORS_ORIGINS,
  operatorToken: config.OPERATOR_TOKEN ?? null,
  connectionsMax: connectionsMaxOf(descriptorsMax(), store.address.kind === 'embedded'),
  requestLog: config.REQUEST_LOG,
  log,
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
