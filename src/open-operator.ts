/**
 * Opens the way of an operator's command: by DATABASE_URL straight to the database, else through
 * the running engine.
 */

import { remoteOperatorActions } from './cli/control-client.ts';
import type { Config } from './config.ts';
import type { OperatorSession } from './operator/operator-session.ts';
import { providerOrigins } from './provider-origins.ts';

/**
 * Without DATABASE_URL only a line to the engine is loaded; straight to the database, the half of
 * an engine.
 */
export async function openOperator(config: Config): Promise<OperatorSession> {
  const { DATABASE_URL, DATA_DIR } = config;
  if (DATABASE_URL === undefined) {
    return { actions: remoteOperatorActions(DATA_DIR), close: () => Promise.resolve() };
  }
  const origins = providerOrigins(config, null);
  const [{ openOperatorSession }, { createCheck }] = await Promise.all([
    import('./operator/operator-session.ts'),
    import('./credentials/provider-check.ts'),
  ]);
  return openOperatorSession({
    ...config,
    DATABASE_URL,
    origins,
    checkOf: (sql, secrets) => createCheck(sql, secrets, origins),
  });
}
