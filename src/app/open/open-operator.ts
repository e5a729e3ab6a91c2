/**
 * Opens an operator's session: through an engine at OPERATOR_URL, on DATABASE_URL by the routes in
 * this process, else through the running engine.
 */

import { fetchFromElsewhere, fetchFromEngine, operatorApi } from '../../cli/operator-api.ts';
import type { OperatorSession } from '../../cli/operator-command.ts';
import type { Config } from '../config.ts';

/** Without DATABASE_URL this loads only the client of the engine's socket, no engine. */
export async function openOperator(config: Config): Promise<OperatorSession> {
  const { DATABASE_URL, DATA_DIR, OPERATOR_URL, OPERATOR_TOKEN } = config;
  if (OPERATOR_URL !== undefined && OPERATOR_TOKEN !== undefined) {
    const place = { baseUrl: OPERATOR_URL, token: OPERATOR_TOKEN };
    return { api: operatorApi(fetchFromElsewhere, place), close: () => Promise.resolve() };
  }
  if (DATABASE_URL === undefined) {
    return {
      api: operatorApi(fetchFromEngine(DATA_DIR)),
      close: () => Promise.resolve(),
    };
  }
  const { openOperatorRoutes } = await import('./operator-in-process.ts');
  return openOperatorRoutes({ ...config, DATABASE_URL });
}
