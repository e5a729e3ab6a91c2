/** What a fault that stopped a send means, and what to mend: the provider's word is for machines, this is for people. */

/** The fault of an (app, platform) that has no credential. */
export const MISSING_CREDENTIAL = 'MissingCredential';
/** The fault of a message that was accepted and that its sender cannot make sense of. */
export const CANNOT_BE_RENDERED = 'MessageCannotBeRendered';

/** The fault with its meaning behind it; a fault that is a sentence already, or unknown, as it is. */
export function faultSentence(fault: string): string {
  const meaning = Object.hasOwn(MEANINGS, fault) ? MEANINGS[fault] : undefined;
  return meaning === undefined ? fault : `${fault}: ${meaning}.`;
}

/** Beside a refusal by a simulator, which says nothing about a real account. */
export const SIMULATOR_ADVICE =
  'This answer came from the simulator, which knows only the accounts that it made itself. Started with DEMO=0 the engine sends to the real provider.';

/** Told by us, whoever stands behind the origin. */
const OWN_FAULTS: ReadonlySet<string> = new Set([MISSING_CREDENTIAL, CANNOT_BE_RENDERED]);

/** `faultSentence` of a send that went to a simulator. */
export function simulatedFaultSentence(fault: string): string {
  const sentence = faultSentence(fault);
  if (OWN_FAULTS.has(fault)) return sentence;
  return `${sentence}${sentence.endsWith('.') ? '' : '.'} ${SIMULATOR_ADVICE}`;
}

const ROLE =
  'the service account may not send: give it the role "Firebase Cloud Messaging API Admin", and enable the FCM API in its project';
const KEY = 'team id, key id and .p8 file do not belong together, or the key was revoked';
const CERTIFICATE = 'Apple does not accept the way this connection signs in; please report it';
const ENVIRONMENT =
  'the key is for the other APNs environment: store it with or without --sandbox, or use a key for both';
const TOPIC =
  "the bundle id is not an app of the key's team, or the key is limited to other topics";
const MESSAGE = 'the provider accepts this message for no device: check its payload';

/** Our own words first, then Apple's, then Google's (facts/providers.md, 1.5 and 2.3). */
const MEANINGS: Readonly<Record<string, string>> = {
  MissingCredential:
    "the app has no credential on this platform, or SECRET_KEY is not the one it was encrypted with; 'tagcast app credentials' stores one",
  MessageCannotBeRendered: 'the payload cannot be made into a message for this platform',
  Parked:
    "a part of this send could not be completed; the engine's log says which part and why, and 'tagcast parked release' sends it again",
  InvalidProviderToken: KEY,
  MissingProviderToken: CERTIFICATE,
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
  PayloadEmpty: MESSAGE,
  InvalidPushType: MESSAGE,
  BadPriority: MESSAGE,
  BadCollapseId: MESSAGE,
  BadExpirationDate: MESSAGE,
  PERMISSION_DENIED: ROLE,
  SENDER_ID_MISMATCH:
    'the devices registered with another Firebase project than this account is of',
  THIRD_PARTY_AUTH_ERROR:
    'the APNs key or Web Push key in the Firebase project is missing or wrong: correct it in the Firebase console',
  INVALID_ARGUMENT: MESSAGE,
  'status 404': 'there is no such project, or the FCM API is not enabled in it',
};
