/**
 * How a device is named to FCM: by its token, or by its installation's id, which replaces the
 * token. FCM reaches an installation only by the name under which its app registered last.
 */

import type { DeviceToken } from '../../domain/device.ts';
import { isInstallationId } from '../../domain/fcm-installation.ts';

/** The operator's choice: by the form of each deviceId, or one of the two for all. */
export const FCM_TARGETS = ['auto', 'token', 'fid'] as const;

export type FcmTarget = (typeof FCM_TARGETS)[number];

/** The field of a message that names the device; a message has exactly one of them. */
export type FcmTargetField = Exclude<FcmTarget, 'auto'>;

/** Called for every send. */
export function targetFieldOf(deviceId: DeviceToken, target: FcmTarget): FcmTargetField {
  if (target !== 'auto') return target;
  return isInstallationId(String(deviceId)) ? 'fid' : 'token';
}
