/**
 * Opens the session of an operator's command: with DATABASE_URL directly on the database, else
 * through the running engine.
 */

import { remoteOperatorActions } from '../../cli/control-client.ts';
import type { OperatorSession } from '../../operator/operator-session.ts';
import type { Config } from '../config.ts';
import { providerOrigins } from '../provider-origins.ts';

/**
 * Without DATABASE_URL this loads only the client of the engine's socket; with it, half of an
 * engine.
 */
export async function openOperator(config: Config): Promise<OperatorSession> {
  const { DATABASE_URL, DATA_DIR } = config;
  if (DATABASE_URL === undefined) {
    return { actions: remoteOperatorActions(DATA_DIR), close: () => Promise.resolve() };
  }
  const origins = providerOrigins(config, null);
  const [{ openOperatorSession }, { createCheck }] = await Promise.all([
    import('../../operator/operator-session.ts'),
    import('../../provider-credentials/provider-check.ts'),
  ]);
  return openOperatorSession({
    ...config,
    DATABASE_URL,
    origins,
    checkOf: (sql, secrets) => createCheck(sql, secrets, origins),
  });
}
