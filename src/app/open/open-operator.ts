/**
 * Opens the session of an operator's command: with OPERATOR_URL through an engine elsewhere, with
 * DATABASE_URL on the database, by the routes in this process, else through the running engine.
 */

import {
  actionsOver,
  fetchFromElsewhere,
  fetchFromEngine,
  operatorApi,
} from '../../cli/operator-api.ts';
import type { OperatorSession } from '../../cli/operator-command.ts';
import type { Config } from '../config.ts';

/**
 * Without DATABASE_URL this loads only the client of the engine's socket; with it, half of an
 * engine.
 */
export async function openOperator(config: Config): Promise<OperatorSession> {
  const { DATABASE_URL, DATA_DIR, OPERATOR_URL, OPERATOR_TOKEN } = config;
  if (OPERATOR_URL !== undefined && OPERATOR_TOKEN !== undefined) {
    const place = { baseUrl: OPERATOR_URL, token: OPERATOR_TOKEN };
    const fault = 'This command has no route yet: run it where the engine runs.';
    return {
      api: operatorApi(fetchFromElsewhere, place),
      actions: () => Promise.resolve({ ok: false, fault }),
      close: () => Promise.resolve(),
    };
  }
  if (DATABASE_URL === undefined) {
    const fetch = fetchFromEngine(DATA_DIR);
    return {
      api: operatorApi(fetch),
      actions: actionsOver(fetch),
      close: () => Promise.resolve(),
    };
  }
  const { openOperatorRoutes } = await import('./operator-in-process.ts');
  return openOperatorRoutes({ ...config, DATABASE_URL });
}
