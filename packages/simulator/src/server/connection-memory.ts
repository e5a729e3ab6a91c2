/**
 * A provider's memory of a connection. Some of it is a rule (APNs ties a connection to a team). The
 * rest was read from the last request, which the next one mostly repeats exactly.
 */

import type { ApnsFields } from '../apns/apns-fields.ts';
import type { FcmTemplate } from '../fcm/fcm-template.ts';

export class ConnectionMemory {
  /** A valid credential has arrived: the provider allows all of its streams. */
  isTrusted = false;
  /** The team of the first accepted push. */
  teamId: string | undefined;
  /** The provider tokens that have arrived, with the time of their first arrival. */
  readonly providerTokens = new Map<string, number>();
  /** The last authorization, and the token that was read from it. */
  authorization: { readonly value: string; readonly token: string | undefined } | undefined;
  apnsFields: ApnsFields | undefined;
  /** The last payload that APNs would accept for this push type. */
  apnsPayload: { readonly body: Buffer; readonly pushType: string | undefined } | undefined;
  /** The last FCM path, and the project that it names. */
  fcmPath: { readonly path: string; readonly project: string | undefined } | undefined;
  /** The last message that FCM would accept. */
  fcmTemplate: FcmTemplate | undefined;
}
