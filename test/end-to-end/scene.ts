/**
 * The scene of the crash tests: an engine with a demo client, a simulator that outlives it, and
 * 100,000 devices of one tag.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { ProviderAccounts } from '../../packages/simulator/src/accounts.ts';
import { connect } from '../../src/database/sql.ts';
import { openEmbedded } from '../../src/database/store.ts';
import type { Demo, EngineProcess, SimulatorProcess } from '../support/processes.ts';
import { startEngine, startSimulatorProcess } from '../support/processes.ts';
import { runHere } from '../support/run-here.ts';
import { seedDevices } from '../support/seed.ts';
import { seedEmbedded } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

export const APNS_DEVICES = 60_000;
export const FCM_DEVICES = 40_000;
export const DEVICES = APNS_DEVICES + FCM_DEVICES;
/** Far enough away that the send takes seconds, and a kill comes in the middle of it. */
const LATENCY_MS = 50;

/** Differences from the crash tests. */
export interface SceneOptions {
  readonly simulatorFlags?: readonly string[];
  readonly apnsDevices?: number;
  readonly fcmDevices?: number;
}

export interface Scene {
  readonly simulator: SimulatorProcess;
  readonly demo: Demo;
  readonly tagId: number;
  /** Runs an operator's command to its end, on the same store; resolves with what it printed. */
  command(args: readonly string[]): Promise<string>;
  /** Starts a further engine (or the one again) on the same store, sending to the simulator. */
  start(environment?: Readonly<Record<string, string>>, dataDir?: string): Promise<EngineProcess>;
}

/**
 * Sets it up on the embedded store (`url` absent) or a PostgreSQL; no engine is running when it
 * resolves.
 */
export async function setScene(t: Test, url?: string, options: SceneOptions = {}): Promise<Scene> {
  const {
    simulatorFlags = [`--latency-ms=${LATENCY_MS}`],
    apnsDevices = APNS_DEVICES,
    fcmDevices = FCM_DEVICES,
  } = options;
  const dataDir = temporaryDirectory(t);
  if (url === undefined) seedEmbedded(dataDir);
  const simulator = await startSimulatorProcess(t, simulatorFlags);
  const store =
    url === undefined
      ? {}
      : { DATABASE_URL: url, SECRET_KEY: 'a secret of the crash tests, long enough', DEMO: '1' };
  const start: Scene['start'] = (environment = {}, directory = dataDir) =>
    startEngine(t, directory, { ...store, ...simulator.environment, ...environment });

  const command: Scene['command'] = async (args) => {
    const environment = { ...store, DATA_DIR: dataDir, ...simulator.environment };
    const { code, output } = await runHere(args, environment);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${output}`);
    return output;
  };

  const engine = await start();
  const demo = engine.demo();
  await useAccountsOf(t, simulator, demo, command);
  await engine.end('SIGTERM');

  const [tagId] = demo.tagIds;
  if (tagId === undefined) throw new Error('the demo has no tags');
  const embedded = url === undefined ? await openEmbedded(dataDir, { fsync: false }) : null;
  const sql = embedded?.sql ?? connect({ kind: 'postgres', url: url ?? '' }, 1);
  const { appId } = demo;
  await seedDevices(sql, { appId, platformId: 3, tagIds: [tagId], count: apnsDevices });
  await seedDevices(sql, { appId, platformId: 15, tagIds: [tagId], count: fcmDevices });
  await sql.unsafe('analyze');
  if (embedded === null) await sql.end();
  else await embedded.close();
  return { simulator, demo, tagId, start, command };
}

/**
 * Gives the demo app the credentials that this simulator accepts, as an operator would: by command.
 */
async function useAccountsOf(
  t: Test,
  simulator: SimulatorProcess,
  demo: Demo,
  command: Scene['command'],
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
  await command(['app', 'credentials', String(demo.appId), 'apns', ...apns]);
  await command(['app', 'credentials', String(demo.appId), 'fcm', ...fcm]);
}
