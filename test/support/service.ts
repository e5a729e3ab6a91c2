/** A whole service in the process of a test, with its demo client and its simulated providers. */

import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Simulator } from '../../packages/simulator/src/simulator.ts';
import { PLATFORMS } from '../../packages/std/src/platforms.ts';
import type { ShownCredential } from '../../src/access/credentials.ts';
import { createCredential } from '../../src/access/credentials.ts';
import { readConfig } from '../../src/app/config.ts';
import { ensureDemo } from '../../src/app/demo/demo.ts';
import { startSimulatorThread } from '../../src/app/demo/simulator-thread.ts';
import type { Engine } from '../../src/app/engine/engine.ts';
import { startEngine } from '../../src/app/engine/engine.ts';
import { insertApp } from '../../src/catalogue/sql/insert-app.ts';
import { findClient } from '../../src/clients/find-client.ts';
import { raiseCatalogueVersion } from '../../src/clients/lock-client.ts';
import type { Store } from '../../src/database/store.ts';
import { chooseFront } from '../../src/http/choose-front.ts';
import {
  readProviderCredential,
  writeProviderCredential,
} from '../../src/provider-credentials/provider-credentials.ts';
import type { WebPushCredential } from '../../src/providers/webpush/credential.ts';
import { secrets } from './api.ts';
import { silent } from './app-api.ts';
import type { Lifetime } from './lifetime.ts';
import type { Demo } from './processes.ts';
import { stopCounting } from './runner/resources.ts';
import { freshSimulator } from './simulator.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface Service {
  readonly engine: Engine;
  readonly store: Store;
  readonly demo: Demo;
}

/** Starts it on a store. It is drained with the test at the latest. */
export async function startService(
  t: Lifetime,
  store: Store,
  environment: Readonly<Record<string, string>> = {},
  log: Logger = silent,
): Promise<Service> {
  return startServiceAt(t, await freshSimulator(), store, environment, log);
}

async function startServiceAt(
  t: Lifetime,
  simulator: Simulator,
  store: Store,
  environment: Readonly<Record<string, string>>,
  log: Logger,
): Promise<Service> {
  const { apnsOrigin, fcmOrigin, oauthOrigin, webPushOrigin, controlUrl } = simulator;
  const directory = temporaryDirectory(t, { 'ca.pem': simulator.certificatePem });
  const demo = await ensureDemo(store.sql, secrets, simulator.accounts);
  const read = readConfig({
    DATA_DIR: directory,
    DEMO: '0',
    HOST: '127.0.0.1',
    PORT: '0',
    WORKERS: '1',
    LOG_LEVEL: 'silent',
    APNS_ORIGIN: apnsOrigin,
    FCM_ORIGIN: fcmOrigin,
    OAUTH_ORIGIN: oauthOrigin,
    WEB_PUSH_HOSTS: new URL(webPushOrigin).host,
    PROVIDER_CA_FILE: join(directory, 'ca.pem'),
    ...environment,
  });
  if (!read.ok) throw new Error(read.faults.join(' '));
  const front = await chooseFront(read.config.HTTP_FRONT);
  const engine = await startEngine({ config: read.config, store, secrets, log, front });
  t.teardown(() => engine.drain());
  const addresses = { apnsOrigin, fcmOrigin, controlUrl };
  return { engine, store, demo: { baseUrl: engine.url, ...demo, simulator: addresses } };
}

export interface Website {
  readonly appId: number;
  readonly apiUser: ShownCredential;
}

/** An app of the demo client on platform 7, as its operator makes one. */
export async function addWebsite(
  service: Pick<Service, 'store' | 'demo'>,
  vapid: WebPushCredential['vapid'] = null,
): Promise<Website> {
  const { store, demo } = service;
  const client = await findClient(store.sql, demo.clientId);
  if (client === null) throw new Error('there is no demo client');
  const made = { clientId: client.id, name: 'Website', platformIds: [PLATFORMS.webpush] };
  const appId = await insertApp(store.sql, made);
  await raiseCatalogueVersion(store.sql, client.id);
  const owner = { clientId: client.id, clientSlug: demo.clientId, appId };
  const apiUser = await createCredential(store.sql, secrets, owner);
  await connectBrowsers(service, appId, vapid);
  return { appId, apiUser };
}

/** Gives an app on platform 7 the account of the simulated FCM. */
export async function connectBrowsers(
  { store, demo }: Pick<Service, 'store' | 'demo'>,
  appId: number,
  vapid: WebPushCredential['vapid'] = null,
): Promise<void> {
  const opened = await readProviderCredential(store.sql, secrets, demo.appId, PLATFORMS.fcm);
  if (opened.kind !== 'opened' || opened.credential.kind !== 'fcm') throw new Error(opened.kind);
  await writeProviderCredential(store.sql, secrets, appId, PLATFORMS.webpush, {
    kind: 'webpush',
    vapid,
    serviceAccount: opened.credential.serviceAccount,
  });
}

/** The data of the message that the simulated FCM accepted last for this token; null: none. */
export async function dataReceived(
  { demo }: Service,
  token: string,
): Promise<Readonly<Record<string, string>> | null> {
  const url = `${demo.simulator.controlUrl}/received/fcm/${encodeURIComponent(token)}`;
  const { last } = (await (await fetch(url)).json()) as {
    readonly last: {
      readonly payload: { readonly message: { readonly data: Record<string, string> } };
    } | null;
  };
  return last?.payload.message.data ?? null;
}

/** The same, for all test files of a process, which make clients of their own on it. */
export async function startSharedService(
  lifetime: Lifetime,
  store: Store,
  environment: Readonly<Record<string, string>>,
): Promise<Service> {
  stopCounting();
  const simulator = await startSimulatorThread();
  lifetime.teardown(() => simulator.close());
  return startServiceAt(lifetime, simulator, store, environment, silent);
}
