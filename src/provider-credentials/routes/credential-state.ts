/** The state of a provider credential, as routes answer it: never its secrets. */

import { z } from 'zod';
import type { Secrets } from '../../access/secrets.ts';
import type { Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';
import { epochMs, platformId } from '../../http/openapi/parts.ts';
import { faultSentence } from '../../providers/fault-sentence.ts';
import { providerOf } from '../../providers/providers.ts';
import { failingOf } from '../failing.ts';
import { readProviderCredential } from '../provider-credentials.ts';
import type { CredentialState } from '../sql/read-credential-states.ts';
import { readCredentialStates } from '../sql/read-credential-states.ts';

const reason = { reason: z.string(), meaning: z.string() };
export const credentialState = z
  .object({
    platformId,
    hasCredential: z.boolean(),
    credential: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Without its secrets.' }),
    updatedAt: epochMs.optional(),
    expiresAt: epochMs.optional(),
    check: z
      .object({ ok: z.boolean().nullable(), note: z.string(), at: epochMs.optional() })
      .optional()
      .meta({
        description:
          'The answer of the provider: `ok` is false when it refuses the credential, null when it could not be asked.',
      }),
    refused: z
      .object(reason)
      .optional()
      .meta({ description: 'The provider refuses it, and the one before is used.' }),
    fallbackUntil: epochMs.optional().meta({ description: 'How long the one before may be used.' }),
    failing: z
      .object({ since: epochMs, meaning: z.string() })
      .optional()
      .meta({ description: 'Sends or checks fail since then. Absent: the last one worked.' }),
    acceptedAt: epochMs.optional().meta({ description: 'When the provider last took it.' }),
    fault: z
      .object({ ...reason, at: epochMs.optional() })
      .optional()
      .meta({ description: 'The last fault of sends.' }),
  })
  .meta({ id: 'ProviderCredential' });
export const KNOWN = { platformId: 3, hasCredential: false };

interface Parts {
  readonly sql: Sql;
  readonly secrets: Secrets;
}

/** More platforms than there are. */
const PLATFORMS_MAX = 100;

/** On each platform of an app. None: there is no such app. */
export async function statesOf(parts: Parts, appId: number) {
  const states = await readCredentialStates(parts.sql, appId, PLATFORMS_MAX);
  return await Promise.all(states.map((state) => shownState(parts, state)));
}

/** On one platform; the app may have been deleted meanwhile. */
export async function stateOf(parts: Parts, { appId, platformId }: Scope) {
  const states = await readCredentialStates(parts.sql, appId, PLATFORMS_MAX);
  const state = states.find((one) => one.platformId === platformId);
  return state === undefined
    ? { platformId, hasCredential: false }
    : await shownState(parts, state);
}

/** Leaves out fields that the credential does not have. */
async function shownState({ sql, secrets }: Parts, state: CredentialState) {
  const { appId, platformId, hasCredential } = state;
  if (!hasCredential) return { platformId, hasCredential, failing: failingOf(state) };
  const opened = await readProviderCredential(sql, secrets, appId, platformId);
  const credential =
    opened.kind === 'opened'
      ? providerOf(opened.credential).publicPart(opened.credential)
      : undefined;
  return { platformId, hasCredential, credential, ...stateShown(state) };
}

const stateShown = (state: CredentialState) => ({
  updatedAt: ms(state.updatedAtMs),
  expiresAt: ms(state.expiresAtMs),
  check:
    state.checkNote === null
      ? undefined
      : { ok: state.isHealthy, note: state.checkNote, at: ms(state.checkedAtMs) },
  refused: state.refusedReason === null ? undefined : reasonShown(state.refusedReason),
  fallbackUntil: ms(state.fallbackUntilMs),
  failing: failingOf(state),
  acceptedAt: ms(state.acceptedAtMs),
  fault:
    state.fault === null ? undefined : { ...reasonShown(state.fault), at: ms(state.faultAtMs) },
});

const ms = (timeMs: number | null): number | undefined =>
  timeMs === null ? undefined : Math.floor(timeMs);

const reasonShown = (reason: string) => ({ reason, meaning: faultSentence(reason) });
