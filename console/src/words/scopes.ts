/** The apps and platforms of a draft, and those on which a notification failed. */

import type { App, Notification } from '../../../packages/client/src/openapi.ts';
import type { DraftFields, PickedApp } from '../state/draft.svelte.ts';
import { platformName } from './format.ts';
import { isFinal } from './outcomes.ts';

/** '': every app. */
export const appNamesOf = ({ apps }: Pick<DraftFields, 'apps'>): string =>
  apps.map(({ name }) => name).join(', ');

/** '': every platform. */
export const platformNamesOf = ({ platformIds }: Pick<DraftFields, 'platformIds'>): string =>
  platformIds.map(platformName).join(', ');

export type ChosenScopes = Pick<DraftFields, 'apps' | 'platformIds'>;

/** The apps and platforms that a notification was for, as far as they are not all of them. */
export function scopesOf({ audience }: Notification, apps: readonly App[]): ChosenScopes {
  const named = apps.filter(({ id }) => audience.appIds.includes(id));
  const present = new Set(named.flatMap(({ platformIds }) => platformIds));
  const isEveryApp = named.length === apps.length;
  const isEveryPlatform = [...present].every((id) => audience.platformIds.includes(id));
  return {
    apps: isEveryApp ? [] : named.map(picked),
    platformIds: isEveryPlatform ? [] : [...audience.platformIds],
  };
}

/** A platform on which it failed while another did not: to be repeated there alone. */
export interface FailedPlatform {
  readonly platformId: number;
  readonly appIds: readonly number[];
}

/** Empty: it is under way, nothing failed whole, or everything did. */
export function failedPlatforms({ state, platforms }: Notification): readonly FailedPlatform[] {
  if (!isFinal(state)) return [];
  const failed = platforms.filter(
    ({ fault, failedCount, totalCount }) =>
      fault !== undefined || (failedCount > 0 && failedCount === totalCount),
  );
  if (failed.length === platforms.length) return [];
  return [...new Set(failed.map(({ platformId }) => platformId))].map((platformId) => ({
    platformId,
    appIds: failed.filter((row) => row.platformId === platformId).map(({ appId }) => appId),
  }));
}

/** The choice of a draft that repeats it there. An app that is gone is left out. */
export const scopesOfFailed = (
  { platformId, appIds }: FailedPlatform,
  apps: readonly App[],
): ChosenScopes => ({
  apps:
    appIds.length === apps.length ? [] : apps.filter(({ id }) => appIds.includes(id)).map(picked),
  platformIds: [platformId],
});

const picked = ({ id, name }: App): PickedApp => ({ id, name });
