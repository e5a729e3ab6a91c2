/** The scene of the crash tests: an engine with a demo client, a simulator that outlives it, and 100,000 devices of one tag. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { ProviderAccounts } from '../../src/simulator/accounts.ts';
import { connect } from '../../src/store/sql.ts';
import { openEmbedded } from '../../src/store/store.ts';
import type { Demo, EngineProcess, SimulatorProcess } from '../support/processes.ts';
import { runCommand, startEngine, startSimulatorProcess } from '../support/processes.ts';
import { seedDevices } from '../support/seed.ts';
import { seedEmbedded } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

export const APNS_DEVICES = 60_000;
export const FCM_DEVICES = 40_000;
export const DEVICES = APNS_DEVICES + FCM_DEVICES;
/** Far enough away that the send takes seconds, and a kill comes in the middle of it. */
const LATENCY_MS = 50;

export interface Scene {
  readonly simulator: SimulatorProcess;
  readonly demo: Demo;
  readonly tagId: number;
  /** Starts a further engine (or the one again) on the same store, sending to the simulator. */
  start(environment?: Readonly<Record<string, string>>, dataDir?: string): Promise<EngineProcess>;
}

/** Sets it up on the embedded store (`url` absent) or a PostgreSQL; no engine is running when it resolves. */
export async function setScene(t: Test, url?: string): Promise<Scene> {
  const dataDir = temporaryDirectory(t);
  if (url === undefined) seedEmbedded(dataDir);
  const simulator = await startSimulatorProcess(t, [`--latency-ms=${LATENCY_MS}`]);
  const store =
    url === undefined
      ? {}
      : { DATABASE_URL: url, SECRET_KEY: 'a secret of the crash tests, long enough', DEMO: '1' };
  const start: Scene['start'] = (environment = {}, directory = dataDir) =>
    startEngine(t, directory, { ...store, ...simulator.environment, ...environment });

  const engine = await start();
  const demo = engine.demo();
  await useAccountsOf(t, simulator, demo, { ...store, DATA_DIR: dataDir });
  await engine.end('SIGTERM');

  const [tagId] = demo.tagIds;
  if (tagId === undefined) throw new Error('the demo has no tags');
  await seed(dataDir, url, demo.appId, tagId);
  return { simulator, demo, tagId, start };
}

/** Gives the demo app the credentials that this simulator accepts, as an operator would: by command. */
async function useAccountsOf(
  t: Test,
  simulator: SimulatorProcess,
  demo: Demo,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const response = await fetch(`${simulator.controlUrl}/accounts`);
  const [account] = (await response.json()) as readonly ProviderAccounts[];
  if (account === undefined) throw new Error('the simulator has no accounts');
  const directory = temporaryDirectory(t);
  const keyFile = join(directory, 'key.p8');
  const serviceAccountFile = join(directory, 'service-account.json');
  writeFileSync(keyFile, account.apns.privateKey);
  writeFileSync(serviceAccountFile, JSON.stringify(account.fcm.serviceAccount));
  const { teamId, keyId, bundleId } = account.apns;
  const apns = [
    `--team-id=${teamId}`,
    `--key-id=${keyId}`,
    `--bundle-id=${bundleId}`,
    `--key-file=${keyFile}`,
  ];
  const fcm = [`--service-account-file=${serviceAccountFile}`];
  for (const [provider, flags] of [
    ['apns', apns],
    ['fcm', fcm],
  ] as const) {
    const { code, output } = await runCommand(
      t,
      ['app', 'credentials', String(demo.appId), provider, ...flags],
      { ...environment, ...simulator.environment },
    );
    if (code !== 0) throw new Error(`app credentials ended with ${code}: ${output}`);
  }
}

async function seed(
  dataDir: string,
  url: string | undefined,
  appId: number,
  tagId: number,
): Promise<void> {
  const embedded = url === undefined ? await openEmbedded(dataDir) : null;
  const sql = embedded?.sql ?? connect({ kind: 'postgres', url: url ?? '' }, 1);
  await seedDevices(sql, { appId, platformId: 3, tagIds: [tagId], count: APNS_DEVICES });
  await seedDevices(sql, { appId, platformId: 15, tagIds: [tagId], count: FCM_DEVICES });
  await sql.unsafe('analyze');
  if (embedded === null) await sql.end();
  else await embedded.close();
}
