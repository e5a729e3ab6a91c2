/** Checks a credential with its provider, and stores the answer as a sentence. */

import type { Sql } from '../database/sql.ts';
import type { Scope } from '../domain/device.ts';
import type { Outcome } from '../domain/outcome.ts';
import { MISSING_CREDENTIAL } from '../domain/own-faults.ts';
import type { AuthorizationCache } from '../providers/authorization.ts';
import { faultSentence, SIMULATOR_ADVICE } from '../providers/fault-sentence.ts';
import { NOBODY_ASKED } from '../providers/nobody-asked.ts';
import type { ProviderOrigins } from '../providers/origins.ts';
import { probe } from '../providers/probe.ts';
import type { ProviderCredential } from '../providers/providers.ts';
import { providerOf } from '../providers/providers.ts';
import { writeCheck } from './sql/credential-health.ts';
import { acceptCredential } from './sql/provider-credential.ts';

export interface CheckResult {
  /** Null: the provider could not be asked, or there is none to be asked. */
  readonly isHealthy: boolean | null;
  readonly note: string;
}

/** Whether there is no provider to ask: that is no fault, today or later. */
export const wasNobodyAsked = ({
  isHealthy,
  note,
}: {
  readonly isHealthy: boolean | null;
  readonly note: string | null;
}): boolean => isHealthy === null && note !== null && note.startsWith(NOBODY_ASKED);

/** Reads the credential that was put last, whether it is in use or not. Null: there is none. */
type LastPut = (
  appId: number,
  platformId: number,
) => Promise<{ readonly credential: ProviderCredential; readonly version: number } | null>;

interface CredentialCheckOptions {
  readonly sql: Sql;
  readonly lastPut: LastPut;
  readonly authorizations: Pick<AuthorizationCache, 'current'>;
  readonly origins: ProviderOrigins;
}

/**
 * Signs in, sends a push for a device that cannot exist, and stores the result. A credential that
 * the provider had refused and accepts now is used again.
 */
export async function checkCredential(
  { sql, lastPut, authorizations, origins }: CredentialCheckOptions,
  scope: Scope,
): Promise<CheckResult> {
  const { appId, platformId } = scope;
  const put = await lastPut(appId, platformId);
  if (put === null) return { isHealthy: false, note: faultSentence(MISSING_CREDENTIAL) };
  const { credential, version } = put;
  const authorization = await authorizations.current(`check ${appId}.${platformId}`, credential);
  const isSimulated = origins.simulated.includes(providerOf(credential).platformId);
  const found = authorization.ok
    ? resultOf(
        await probe(credential, authorization.value, origins),
        providerOf(credential).unaskedNote(credential),
      )
    : {
        isHealthy: authorization.retryable ? null : false,
        note: `It cannot sign in: ${authorization.reason}.`,
      };
  const result =
    isSimulated && found.isHealthy === false
      ? { ...found, note: `${found.note} ${SIMULATOR_ADVICE}` }
      : found;
  await writeCheck(sql, scope, result);
  if (result.isHealthy) await acceptCredential(sql, appId, platformId, version);
  return result;
}

/** `unasked`: the part that no provider can be asked about; said by every check not refused. */
function resultOf(outcome: Outcome | null, unasked: string | null): CheckResult {
  if (outcome === null) return { isHealthy: null, note: unasked ?? NOBODY_ASKED };
  const { isHealthy, note } = resultOfAnswer(outcome);
  return { isHealthy, note: unasked === null || isHealthy === false ? note : `${note} ${unasked}` };
}

function resultOfAnswer(outcome: Outcome): CheckResult {
  switch (outcome.kind) {
    case 'delivered':
    case 'gone':
    case 'bad-token':
    case 'throttled-device':
      return { isHealthy: true, note: 'The provider accepts it.' };
    case 'bad-credential':
      return {
        isHealthy: false,
        note: `The provider refuses it. ${faultSentence(outcome.reason)}`,
      };
    // Some providers have one reason for a malformed token and a malformed message: in both cases
    // the credential was accepted.
    case 'bad-message':
      return { isHealthy: true, note: `The provider accepts it (${outcome.reason}).` };
    case 'expired-authorization':
    case 'throttled-target':
    case 'unavailable':
    case 'refused':
    case 'unknown':
      return { isHealthy: null, note: `The provider could not be asked: ${outcome.reason}.` };
  }
}
