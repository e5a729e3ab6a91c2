/** A fan-out with real threads on a store, sending to a simulator: what end-to-end tests inside one process use. */

import { pino } from 'pino';
import type { Test } from 'tap';
import type { ProviderCredential } from '../../src/domain/credential.ts';
import { PLATFORM_APNS } from '../../src/domain/device.ts';
import type { FanOut } from '../../src/fan-out/fan-out.ts';
import { startFanOut } from '../../src/fan-out/fan-out.ts';
import { Authorizations } from '../../src/senders/authorization.ts';
import type { ProviderOrigins } from '../../src/senders/origins.ts';
import type { BehaviourChange } from '../../src/simulator/options.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { startSimulatorThread } from '../../src/simulator/thread.ts';
import type { Store } from '../../src/store/store.ts';
import { SqlTagIndex } from '../../src/tag-index/sql/sql-tag-index.ts';

/** A simulator for the life of a test. */
export async function simulatorFor(t: Test): Promise<Simulator> {
  const simulator = await startSimulatorThread();
  t.teardown(() => simulator.close());
  return simulator;
}

/** Empties the simulator's books; from now on it behaves so. */
export async function behave(simulator: Simulator, behaviour: BehaviourChange): Promise<void> {
  await fetch(`${simulator.controlUrl}/reset`, { method: 'POST' });
  const body = JSON.stringify(behaviour);
  const response = await fetch(`${simulator.controlUrl}/behaviour`, { method: 'PUT', body });
  if (response.status !== 200) throw new Error(`the simulator answered ${response.status}`);
}

export interface SendingOptions {
  readonly leaseMs?: number;
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
  const origins = originsOf(simulator);
  const fanOut = await startFanOut({
    store,
    tagIndex: new SqlTagIndex(store.sql),
    threads: 1,
    leaseMs: options.leaseMs ?? 30_000,
    logLevel: 'silent',
    log: pino({ level: 'silent' }),
    credentials:
      options.credentials ??
      ((_appId, platformId) => Promise.resolve(credentialOf(simulator, platformId))),
    authorizations: new Authorizations(origins),
    onRecorded: () => undefined,
    origins,
    transport: 'http2',
  });
  t.teardown(() => fanOut.drain());
  return fanOut;
}

export const originsOf = (simulator: Simulator): ProviderOrigins => ({
  apnsProduction: simulator.apnsOrigin,
  apnsSandbox: simulator.apnsOrigin,
  fcm: simulator.fcmOrigin,
  oauth: simulator.oauthOrigin,
  webPushHosts: [new URL(simulator.webPushOrigin).host],
  ca: simulator.certificatePem,
  simulated: { apns: true, fcm: true, webPush: true },
});

/** The simulator's own account at a provider. */
export const credentialOf = ({ accounts }: Simulator, platformId: number): ProviderCredential =>
  platformId === PLATFORM_APNS
    ? { kind: 'apns', ...accounts.apns, environment: 'production' }
    : { kind: 'fcm', serviceAccount: accounts.fcm.serviceAccount };
