/** Explains Apple's reasons for a fault (internals/providers.md, "APNs: answers"). */

import { BAD_MESSAGE } from '../bad-message.ts';

const KEY =
  'team id, key id and .p8 file do not belong together, the key was revoked, or the clock of this machine is wrong (`tagcast doctor` compares it)';
const AGE =
  "to Apple the provider token is too old, or from the future: if it stays so, this machine's clock is wrong (`tagcast doctor` compares it)";
const CERTIFICATE = 'Apple does not accept the way this connection signs in; please report it';
const ENVIRONMENT =
  'the key is for the other APNs environment: store it with or without --sandbox, or use a key for both';
const TOPIC =
  "the bundle id is not an app of the key's team, or the key is limited to other topics";

export const APNS_MEANINGS: Readonly<Record<string, string>> = {
  InvalidProviderToken: KEY,
  MissingProviderToken: CERTIFICATE,
  ExpiredProviderToken: AGE,
  Forbidden: KEY,
  BadCertificate: CERTIFICATE,
  BadCertificateEnvironment: CERTIFICATE,
  UnrelatedKeyIdInToken: 'the key is another one than this connection began with',
  BadEnvironmentKeyIdInToken: ENVIRONMENT,
  BadEnvironmentKeyInToken: ENVIRONMENT,
  BadTopic: TOPIC,
  MissingTopic: TOPIC,
  TopicDisallowed: TOPIC,
  DeviceTokenNotForTopic: 'the devices registered with another app than that of the bundle id',
  PayloadTooLarge: 'the message is larger than the provider takes',
  PayloadEmpty: BAD_MESSAGE,
  InvalidPushType: BAD_MESSAGE,
  BadPriority: BAD_MESSAGE,
  BadCollapseId: BAD_MESSAGE,
  BadExpirationDate: BAD_MESSAGE,
};
