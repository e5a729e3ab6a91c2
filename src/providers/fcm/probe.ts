/** Asks FCM whether it accepts a credential. */

import type { Probe } from '../provider.ts';
import { fcmOutcome } from './answer.ts';
import type { FcmCredential } from './credential.ts';
import type { FcmOrigins } from './origins.ts';
import { targetFieldOf } from './target.ts';

/** Google has no such token; and with `validate_only` FCM would send nothing to it either. */
const NO_REGISTRATION = 'tagcast-asks-whether-this-credential-works';

export const fcmProbe = (
  { serviceAccount }: Pick<FcmCredential, 'serviceAccount'>,
  authorization: string,
  { fcm, fcmTarget }: FcmOrigins,
): Probe => ({
  request: {
    origin: fcm,
    path: `/v1/projects/${serviceAccount.project_id}/messages:send`,
    fields: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      validate_only: true,
      message: { [targetFieldOf(NO_REGISTRATION, fcmTarget)]: NO_REGISTRATION },
    }),
  },
  outcomeOf: fcmOutcome,
});
