/** Checks the providers' credentials: as the watch has seen them, or by asking the providers. */

import type { Sql } from '../database/sql.ts';
import { isPlatformId } from '../domain/device.ts';
import { wasNobodyAsked } from '../provider-credentials/credential-check.ts';
import type { Check } from '../provider-credentials/provider-check.ts';
import type { CredentialState } from '../provider-credentials/sql/read-credential-states.ts';
import { readCredentialStates } from '../provider-credentials/sql/read-credential-states.ts';
import { faultSentence } from '../providers/fault-sentence.ts';
import { PROVIDERS } from '../providers/providers.ts';
import type { Finding } from './finding.ts';
import { findingsAbout } from './finding.ts';

const { ok, warning, problem } = findingsAbout('credentials');

/** @limit (app, platform)s whose credentials `doctor` looks at → not looked at */
const STATES_MAX = 1_000;
const DAYS_LEFT_WANTED = 30;
const DAY_MS = 86_400_000;

/** `check` null: providers are not asked. */
export async function checkCredentials(
  sql: Sql,
  check: Check | null,
  nowMs: number = Date.now(),
): Promise<readonly Finding[]> {
  const states = await readCredentialStates(sql, null, STATES_MAX);
  if (states.length === 0) {
    return [warning('there is no app yet: `tagcast client add` and `tagcast app add` make one.')];
  }
  const findings: Finding[] = [];
  for (const state of states) findings.push(...(await checkOne(state, check, nowMs)));
  return findings;
}

async function checkOne(
  state: CredentialState,
  check: Check | null,
  nowMs: number,
): Promise<readonly Finding[]> {
  const { appId, platformId, hasCredential, refusedReason, expiresAtMs } = state;
  const name = `app ${appId} on platform ${platformId}`;
  const kind = isPlatformId(platformId) ? PROVIDERS[platformId].kind : '…';
  const put = `\`tagcast app credentials ${appId} ${kind} …\` stores one`;
  if (!hasCredential)
    return [warning(`${name} has no credential, so nothing is sent there: ${put}.`)];
  if (refusedReason !== null) {
    const why = faultSentence(refusedReason);
    return [problem(`${name}: the provider refuses the new credential: ${why} ${put}.`)];
  }
  const { isHealthy, note } =
    check === null
      ? { isHealthy: state.isHealthy, note: state.checkNote ?? '' }
      : await check({ appId, platformId });
  return [
    healthOf(name, isHealthy, note, put),
    ...(expiresAtMs === null ? [] : expiryOf(name, expiresAtMs, nowMs, put)),
  ];
}

function healthOf(name: string, isHealthy: boolean | null, note: string, put: string): Finding {
  if (isHealthy === true || wasNobodyAsked({ isHealthy, note })) return ok(`${name}: ${note}`);
  if (isHealthy === false) return problem(`${name}: ${note} ${put}.`);
  return note === ''
    ? warning(`${name} was not checked yet: doctor --probe asks the provider.`)
    : warning(`${name}: ${note}`);
}

function expiryOf(name: string, expiresAtMs: number, nowMs: number, put: string): Finding[] {
  const day = new Date(expiresAtMs).toISOString();
  if (expiresAtMs <= nowMs)
    return [problem(`${name}: the credential has ended on ${day}: ${put}.`)];
  const days = Math.floor((expiresAtMs - nowMs) / DAY_MS);
  return days < DAYS_LEFT_WANTED
    ? [warning(`${name}: the credential ends in ${days} days, on ${day}: ${put}.`)]
    : [];
}
