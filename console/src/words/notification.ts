/** Names of a notification and of its apps. */

import type { App, Payload } from '../../../packages/client/src/openapi.ts';

/** Its title, else its message; '' when it shows neither. */
export function titleOf(payload: Payload): string {
  const { title, message, body } = payload;
  return title ?? message ?? body ?? '';
}

/** The name of an app; its id as long as the apps are not loaded, or where it is deleted. */
export const appNameOf = (apps: readonly App[] | null, appId: number): string =>
  apps?.find(({ id }) => id === appId)?.name ?? String(appId);
