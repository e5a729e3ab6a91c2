/** Explains Google's reasons for a fault (internals/providers.md, "FCM: errors"). */

import { BAD_MESSAGE } from '../bad-message.ts';

export const FCM_MEANINGS: Readonly<Record<string, string>> = {
  PERMISSION_DENIED:
    'the service account may not send: give it the role "Firebase Cloud Messaging API Admin", and enable the FCM API in its project',
  SENDER_ID_MISMATCH:
    'the devices registered with another Firebase project than this account is of',
  THIRD_PARTY_AUTH_ERROR:
    'the APNs key or Web Push key in the Firebase project is missing or wrong: correct it in the Firebase console',
  INVALID_ARGUMENT: BAD_MESSAGE,
  NOT_FOUND: 'there is no such project, or the FCM API is not enabled in it',
  'status 404': 'there is no such project, or the FCM API is not enabled in it',
};
