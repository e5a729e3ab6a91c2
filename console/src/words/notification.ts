/** Names of a notification and of its apps. */

import type { App, Notification, Payload } from '../../../packages/client/src/openapi.ts';

/** Its title, else its message; '' when it shows neither. */
export function titleOf(payload: Payload): string {
  const { title, message, body } = payload;
  return title ?? message ?? body ?? '';
}

/** When its first device was sent to, or is to be. */
export const sentAtOf = ({
  firstSendAt,
  sendAt,
}: Pick<Notification, 'firstSendAt' | 'sendAt'>): number => firstSendAt ?? sendAt;

/** Whether the notification waits for a later time. */
export const isForLater = ({ state, firstSendAt, sendAt }: Notification): boolean =>
  (state === 'SCHEDULED' || state === 'PAUSED') && firstSendAt === undefined && sendAt > Date.now();

/** The longest time for which the console holds what is sent now. */
const HELD_MS_MAX = 60_000;

/** Whether it waits for its first seconds only, in which it can be taken back. */
export const isHeld = ({ state, acceptedAt, sendAt }: Notification): boolean =>
  state === 'SCHEDULED' && sendAt - acceptedAt <= HELD_MS_MAX;

/** The name of an app; its id as long as the apps are not loaded, or where it is deleted. */
export const appNameOf = (apps: readonly App[] | null, appId: number): string =>
  apps?.find(({ id }) => id === appId)?.name ?? String(appId);
