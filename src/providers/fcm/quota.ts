/** The quota of a project: Google counts the sends of all its credentials together. */

import type { ServiceAccount } from '../../domain/credential.ts';
import type { Quota } from '../provider.ts';
import type { FcmOrigins } from './origins.ts';

export const projectQuota = (
  { project_id }: ServiceAccount,
  { fcmPerMinute }: FcmOrigins,
): Quota | null =>
  fcmPerMinute === 0 ? null : { key: `fcm:${project_id}`, perMinute: fcmPerMinute };
