/** The apps of the client, each with each of its platforms, as options of a list. */

import type { App } from '../../../packages/client/src/openapi.ts';
import { platformName } from './format.ts';

export interface ScopeOption {
  readonly value: string;
  readonly label: string;
}

export const scopeOptions = (apps: readonly App[]): readonly ScopeOption[] =>
  apps.flatMap((app) =>
    app.platformIds.map((platformId) => ({
      value: `${app.id}-${platformId}`,
      label: `${app.name}, ${platformName(platformId)}`,
    })),
  );

/** Zeros where there is none. */
export function scopeOf(value: string): { readonly appId: number; readonly platformId: number } {
  const [appId = 0, platformId = 0] = value.split('-').map(Number);
  return { appId, platformId };
}
