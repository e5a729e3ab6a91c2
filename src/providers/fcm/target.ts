/**
 * What FCM is told a device by: its registration token, or the id of its installation (Firebase
 * Installation ID), which takes the token's place. An installation is reached by the one that its
 * app registered by last, and by that one only.
 */

import type { DeviceToken } from '../../domain/device.ts';
import { isInstallationId } from '../../domain/fcm-installation.ts';

/** The operator's choice: by the form of each deviceId, or one of the two for all. */
export const FCM_TARGETS = ['auto', 'token', 'fid'] as const;

export type FcmTarget = (typeof FCM_TARGETS)[number];

/** The field of a message that names the device; exactly one of them may be there. */
export type FcmTargetField = Exclude<FcmTarget, 'auto'>;

/** Asked for every send. */
export function targetFieldOf(deviceId: DeviceToken, target: FcmTarget): FcmTargetField {
  if (target !== 'auto') return target;
  return isInstallationId(String(deviceId)) ? 'fid' : 'token';
}
