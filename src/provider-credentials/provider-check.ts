/** Checks whether a stored credential works, for the engine's watch and the operator's commands. */

import type { Secrets } from '../access/secrets.ts';
import type { Sql } from '../database/sql.ts';
import type { Scope } from '../domain/device.ts';
import { AuthorizationCache } from '../providers/authorization.ts';
import type { ProviderOrigins } from '../providers/origins.ts';
import type { CheckResult } from './credential-check.ts';
import { checkCredential } from './credential-check.ts';
import { ProviderTokens } from './provider-tokens.ts';
import { readLastPut } from './rotation.ts';

export type Check = (scope: Scope) => Promise<CheckResult>;

/** `authorizations`: the engine's; a process without one makes its own, with the same tokens. */
export function createCheck(
  sql: Sql,
  secrets: Secrets,
  origins: ProviderOrigins,
  authorizations: Pick<AuthorizationCache, 'current'> = new AuthorizationCache(
    origins,
    new ProviderTokens(sql, secrets),
  ),
): Check {
  const options = {
    sql,
    origins,
    authorizations,
    lastPut: (appId: number, platformId: number) => readLastPut(sql, secrets, appId, platformId),
  };
  return (scope) => checkCredential(options, scope);
}
