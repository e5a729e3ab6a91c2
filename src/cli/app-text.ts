/** Apps and their providers' credentials in words. */

import type { ProviderCredential } from '../../packages/client/src/openapi.ts';
import type { AppRow } from '../catalogue/list-apps.ts';
import type { CredentialState } from '../provider-credentials/sql/read-credential-states.ts';
import { faultSentence } from '../providers/fault-sentence.ts';
import { tableRow, visibleField } from '../std/visible-text.ts';

/** With what is wrong with their credentials. */
export const describeApps = (apps: readonly AppRow[]): string =>
  apps
    .map(({ id, name, platforms }) => {
      const states = platforms.map(
        (platform) =>
          `${platform.platformId} (${platform.hasCredential ? `has credentials${troubleOf(platform)}` : 'no credentials'})`,
      );
      return tableRow(id, name, states.join(', '));
    })
    .join('\n');

/** A list mentions only problems. */
function troubleOf({ isRefused, isHealthy }: AppRow['platforms'][number]): string {
  if (isRefused) return ', the provider refuses the new ones';
  return isHealthy === false ? ', which do not work' : '';
}

type ToldState = Omit<CredentialState, 'appId' | 'refusedSinceMs'>;

/** Makes the state of the answer of a route. */
export const stateOf = (known: ProviderCredential): ToldState => ({
  platformId: known.platformId,
  hasCredential: known.hasCredential,
  updatedAtMs: known.updatedAt ?? null,
  expiresAtMs: known.expiresAt ?? null,
  checkedAtMs: known.check?.at ?? null,
  isHealthy: known.check?.ok ?? null,
  checkNote: known.check?.note ?? null,
  refusedReason: known.refused?.reason ?? null,
  fallbackUntilMs: known.fallbackUntil ?? null,
  acceptedAtMs: known.acceptedAt ?? null,
  faultAtMs: known.fault?.at ?? null,
  fault: known.fault?.reason ?? null,
});

export const describeStates = (states: readonly ToldState[]): string =>
  states
    .map((state) =>
      [`Platform ${state.platformId}`, ...linesOf(state).map(visibleField)].join('\n  '),
    )
    .join('\n');

function linesOf(state: ToldState): readonly string[] {
  if (!state.hasCredential) return ['no credentials'];
  const { refusedReason, fallbackUntilMs, expiresAtMs, checkedAtMs, checkNote, fault } = state;
  const lines = [`stored ${timeOf(state.updatedAtMs)}`];
  if (refusedReason !== null)
    lines.push(`REFUSED by the provider: ${faultSentence(refusedReason)}`);
  if (fallbackUntilMs !== null) {
    const use = refusedReason === null ? 'can be used' : 'is used';
    lines.push(`the previous one ${use} until ${timeOf(fallbackUntilMs)}`);
  }
  if (expiresAtMs !== null) lines.push(`expires ${timeOf(expiresAtMs)}`);
  lines.push(
    checkNote === null ? 'never checked' : `checked ${timeOf(checkedAtMs)}: ${checkNote}`,
    `last accepted a send ${timeOf(state.acceptedAtMs)}`,
  );
  if (fault !== null) {
    lines.push(`last fault of a send ${timeOf(state.faultAtMs)}: ${faultSentence(fault)}`);
  }
  return lines;
}

const timeOf = (ms: number | null): string => (ms === null ? 'never' : new Date(ms).toISOString());
