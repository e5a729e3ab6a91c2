/** The service: config → store → simulator → registration → fan-out → http, and back on SIGTERM. */

import { once } from 'node:events';
import type { Logger } from 'pino';
import { secretKeyFault } from '../access/credentials.ts';
import { loadSecretKey } from '../access/secret-key.ts';
import { createSecrets } from '../access/secrets.ts';
import { OperatorDoor } from '../api/operator-door.ts';
import { operatorSocket } from '../api/operator-socket.ts';
import { processTerminal } from '../cli/process-terminal.ts';
import { holdsDatabase } from '../database/embedded/data-dir.ts';
import type { Store } from '../database/store.ts';
import { makeEmbedded, openEmbedded, openPostgres } from '../database/store.ts';
import { addressFault } from '../http/address-fault.ts';
import { chooseFront } from '../http/choose-front.ts';
import { gatheredLines } from '../telemetry/gathered-lines.ts';
import { createLogger } from '../telemetry/log.ts';
import type { Config } from './config.ts';
import { mistypedSettings, settingsWithoutDatabase } from './config.ts';
import type { Engine } from './engine/engine.ts';
import { holdDataDir } from './hold-data-dir.ts';
import { startFault, tellFault } from './start-fault.ts';

/**
 * Containers and service managers wait for at least this long.
 * @limit stopping, all of it → exit code 1; leases end by themselves
 */
const DRAIN_TIMEOUT_MS = 9_500;

/** Runs until a signal stops it; resolves with the exit code. */
export async function serve(config: Config): Promise<number> {
  const log = createLogger(config.LOG_LEVEL, 'tagcast', gatheredLines());
  ignoreUserSignals(log);
  tellDoubtfulSettings(config, log);
  try {
    return await run(config, log);
  } catch (error) {
    const fault = startFault(error, config);
    if (fault === null) {
      log.fatal({ err: error }, 'the service cannot start or continue');
      refuse(error instanceof Error ? error.message : String(error));
    } else tellFault(fault, config);
    // Threads that have started would keep the process alive; none needs an orderly end.
    process.exit(1);
  }
}

/** Logs settings that were most likely meant otherwise. */
function tellDoubtfulSettings(config: Config, log: Logger): void {
  for (const [variable, nearest] of mistypedSettings()) {
    log.warn({ variable, nearest }, 'a variable is nearly the name of a setting, and is not read');
  }
  const settings = settingsWithoutDatabase(config);
  if (settings.length > 0) {
    const text = 'settings of a deployment without DATABASE_URL: the embedded database is used';
    log.warn({ settings }, text);
  }
}

/**
 * A tool that rotates logs may send one of these. Without a listener Node.js opens its debugger at
 * SIGUSR1, to every user of the machine, and ends at SIGUSR2.
 */
function ignoreUserSignals(log: Logger): void {
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
    process.on(signal, () => log.info({ signal }, 'a signal that does nothing'));
  }
}

async function run(config: Config, log: Logger): Promise<number> {
  const stopping = new AbortController();
  const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]).then(() =>
    stopping.abort(),
  );
  let door: OperatorDoor | null = null;
  const release =
    config.DATABASE_URL === undefined
      ? await holdDataDir(
          config.DATA_DIR,
          operatorSocket(() => door, log),
        )
      : () => Promise.resolve();
  const unheard = await addressFault({ host: config.HOST, port: config.PORT });
  if (unheard !== null) throw unheard;
  // Before the database is opened: one that cannot be had ends the start.
  const front = await chooseFront(config.HTTP_FRONT);
  // It loads while the store opens. A start that was refused before needs none of it.
  const loading = import('./engine/engine.ts');
  const store = await openStore(config, log, stopping.signal);
  if (store === null) {
    await release();
    log.info('stopped');
    return 0;
  }
  const secrets = createSecrets(await loadSecretKey(config), config.SECRET_KEY_OTHER);
  const fault = await secretKeyFault(store.sql, secrets);
  if (fault !== null) {
    await store.close();
    await release();
    return refuse(fault);
  }
  const { startEngine } = await loading;
  const engine = await startEngine({ config, store, secrets, log, front });
  door = new OperatorDoor(engine.operatorRoutes);

  const reload = (): void => void engine.reloadCertificate();
  process.on('SIGHUP', reload);
  await stopped;
  process.off('SIGHUP', reload);
  log.info('draining');
  return await drain(engine, store, release, log);
}

function refuse(fault: string): number {
  processTerminal.complain(fault);
  return 1;
}

/** Null: the service was stopped meanwhile. */
async function openStore(
  { DATABASE_URL, DATA_DIR, EMBEDDED_FSYNC: fsync, MIGRATE_BESIDE_OLD_NODES }: Config,
  log: Logger,
  stopping: AbortSignal,
): Promise<Store | null> {
  if (DATABASE_URL === undefined) {
    log.info({ dataDir: DATA_DIR, fsync }, 'opening the embedded database');
    if (!fsync) log.warn('EMBEDDED_FSYNC is 0: a power cut may destroy the embedded database');
    const made = await makeEmbedded(DATA_DIR, { fsync }, stopping);
    return made === 'stopped' ? null : openEmbedded(DATA_DIR, { fsync });
  }
  const store = await openPostgres(DATABASE_URL, {
    besideOldNodes: MIGRATE_BESIDE_OLD_NODES,
    onWaiting: () =>
      log.warn('a migration waits for a table that a dump or a long transaction holds'),
  });
  if (store.applied.length > 0) log.info({ applied: store.applied }, 'the database was migrated');
  if (store.isNew && holdsDatabase(DATA_DIR)) {
    log.warn(
      { dataDir: DATA_DIR },
      'this database was empty, and DATA_DIR holds an embedded one: tagcast store move brings everything from there, while no engine runs',
    );
  }
  if (store.ahead.length > 0) log.warn({ ahead: store.ahead }, 'other nodes run a later version');
  return store;
}

/** Ends answers, sends, store, directory. A late end has an exit code, and loses nothing either. */
async function drain(
  engine: Engine,
  store: Store,
  release: () => Promise<void>,
  log: Logger,
): Promise<number> {
  const timer = setTimeout(() => {
    log.error({ limitMs: DRAIN_TIMEOUT_MS }, 'not drained in time; other nodes take over');
    process.exit(1);
  }, DRAIN_TIMEOUT_MS);
  await engine.drain();
  await store.close();
  await release();
  clearTimeout(timer);
  log.info('stopped');
  return 0;
}
