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

/**
 * The apps and platforms that a notification was for, as far as they are not all of them. An app
 * that is gone is left out. Null: all of them are gone, and a draft without an app is for every app.
 */
export function scopesOf({ audience }: Notification, apps: readonly App[]): ChosenScopes | null {
  const named = namedBy(audience.appIds, apps);
  if (named.length === 0) return null;
  const present = new Set(named.flatMap(({ platformIds }) => platformIds));
  const isEveryPlatform = [...present].every((id) => audience.platformIds.includes(id));
  return {
    apps: chosenOf(named, apps),
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
  // Devices that have it must not get it twice.
  const failed = platforms.filter((row) => row.successCount === 0 && hasFailed(row));
  if (failed.length === platforms.length) return [];
  return [...Map.groupBy(failed, ({ platformId }) => platformId)].map(([platformId, rows]) => ({
    platformId,
    appIds: rows.map(({ appId }) => appId),
  }));
}

/** Whether a fault stopped it there, or every device failed. */
const hasFailed = ({
  fault,
  failedCount,
  totalCount,
}: Notification['platforms'][number]): boolean =>
  fault !== undefined || (failedCount > 0 && failedCount === totalCount);

/** A platform on which a fault stopped it after a device, or every device failed. */
export interface RetriedPlatform {
  readonly platformId: number;
  readonly failedCount: number;
}

/**
 * Where it can be sent again to those who do not have it. Empty: nowhere, as while it is under way,
 * after it was cancelled or has expired, for a correction, and when it is not known who has it.
 */
export function retriedPlatforms(
  { state, expiresAt, reach, platforms, corrects, retracts }: Notification,
  nowMs: number,
): readonly RetriedPlatform[] {
  const isOver = expiresAt !== undefined && expiresAt <= nowMs;
  const isOther = corrects !== undefined || retracts !== undefined;
  const isReachGone = reach?.incomplete === true || (reach?.until ?? nowMs) < nowMs;
  if (!isFinal(state) || state === 'CANCELLED' || isOther || isOver || isReachGone) return [];
  const failed = platforms.filter((row) => row.failedCount > 0 && hasFailed(row));
  return [...Map.groupBy(failed, ({ platformId }) => platformId)].map(([platformId, rows]) => ({
    platformId,
    failedCount: rows.reduce((sum, row) => sum + row.failedCount, 0),
  }));
}

/** The choice of a draft that repeats it there; null, as `scopesOf`. */
export function scopesOfFailed(
  { platformId, appIds }: FailedPlatform,
  apps: readonly App[],
): ChosenScopes | null {
  const named = namedBy(appIds, apps);
  return named.length === 0 ? null : { apps: chosenOf(named, apps), platformIds: [platformId] };
}

const namedBy = (ids: readonly number[], apps: readonly App[]): readonly App[] =>
  apps.filter(({ id }) => ids.includes(id));

/** None stands for every app. */
const chosenOf = (named: readonly App[], apps: readonly App[]): PickedApp[] =>
  named.length === apps.length ? [] : named.map(({ id, name }) => ({ id, name }));
