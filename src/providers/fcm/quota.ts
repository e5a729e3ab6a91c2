/** The quota of a project: Google counts the sends of all its credentials together. */

import type { Quota } from '../provider.ts';
import type { ServiceAccount } from './credential.ts';
import type { FcmOrigins } from './origins.ts';

export const projectQuota = (
  { project_id }: ServiceAccount,
  { fcmPerMinute }: FcmOrigins,
): Quota | null =>
  fcmPerMinute === 0 ? null : { key: `fcm:${project_id}`, perMinute: fcmPerMinute };
