/** For trying the engine out: the demo client, and a simulator that takes its pushes. */

import { isLoopback } from '../../../packages/std/src/ip-address.ts';
import type { Secrets } from '../../access/secrets.ts';
import { processTerminal } from '../../cli/process-terminal.ts';
import type { Terminal } from '../../cli/terminal.ts';
import type { SqlPool } from '../../database/sql.ts';
import type { Store } from '../../database/store.ts';
import type { ProviderOrigins } from '../../providers/origins.ts';
import { realPlatforms } from '../../providers/origins.ts';
import type { Config } from '../config.ts';
import type { EngineParts } from '../engine/parts.ts';
import { providerOrigins } from '../provider-origins.ts';
import type { Demo } from './demo.ts';
import {
  describeDemo,
  describeDemoFile,
  ensureDemo,
  readDemoAccounts,
  writeDemoFile,
} from './demo.ts';
import { addDemoDevices, eraseDemoDevices } from './demo-devices.ts';
import { makeDemoLink } from './demo-link.ts';
import type { SimulatorThread } from './simulator-thread.ts';
import { startSimulatorThread } from './simulator-thread.ts';

/** The demo client and the simulator exist only when embedded, unless DEMO says otherwise. */
const hasDemo = ({ DEMO, DATABASE_URL }: Config): boolean => DEMO ?? DATABASE_URL === undefined;

interface RunningDemo {
  readonly demo: Demo;
  readonly simulator: SimulatorThread;
}

interface OpenProviders {
  /** Null: there is none. */
  readonly demo: RunningDemo | null;
  readonly origins: ProviderOrigins;
}

/** The providers that this process sends to: those of the demo, if there is one. */
export async function openProviders({
  config,
  store: { sql },
  secrets,
}: Pick<EngineParts, 'config' | 'store' | 'secrets'>): Promise<OpenProviders> {
  const demo = hasDemo(config) ? await startDemo(sql, secrets) : null;
  const origins = providerOrigins(config, demo?.simulator ?? null);
  const real = realPlatforms(config, demo?.simulator ?? null);
  if (demo !== null) await addDemoDevices(sql, demo.demo, config, real);
  await eraseDemoDevices(sql, real);
  return { demo, origins };
}

/** The simulator accepts the accounts of the demo app's credentials, also of an earlier start. */
async function startDemo(sql: SqlPool, secrets: Secrets): Promise<RunningDemo> {
  const demo = await ensureDemo(sql, secrets);
  const accounts = await readDemoAccounts(sql, secrets, demo);
  return { demo, simulator: await startSimulatorThread(accounts === null ? {} : { accounts }) };
}

export async function writeDemo(
  { config, store, secrets }: Pick<EngineParts, 'config' | 'store' | 'secrets'>,
  { demo, simulator }: RunningDemo,
  url: string,
): Promise<string | null> {
  const consoleUrl = await consoleUrlOf(store, secrets, demo, url);
  await writeDemoFile(config.DATA_DIR, url, demo, simulator, consoleUrl);
  return consoleUrl;
}

/** Only on the embedded database, whose operator sees the terminal. Null: elsewhere. */
async function consoleUrlOf(
  { sql, address }: Store,
  secrets: Secrets,
  demo: Demo,
  url: string,
): Promise<string | null> {
  if (address.kind !== 'embedded') return null;
  const { path } = await makeDemoLink(sql, secrets, demo.clientId);
  return url + path;
}

/** Prints addresses and commands; secrets only where no other machine reaches the engine. */
export function tellDemo(
  { HOST, DATA_DIR }: Pick<Config, 'HOST' | 'DATA_DIR'>,
  url: string,
  { demo, simulator }: RunningDemo,
  consoleUrl: string | null,
  { print }: Pick<Terminal, 'print'> = processTerminal,
): void {
  const isOurs = HOST === 'localhost' || isLoopback(HOST);
  print(
    isOurs ? describeDemo(url, demo, simulator, consoleUrl) : describeDemoFile(url, HOST, DATA_DIR),
  );
}
