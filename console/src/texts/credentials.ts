/** The state of an app's account at a provider. */

export const credentialTexts = {
  none: 'No key',
  missing: 'No key was uploaded: nothing can be sent to this platform.',
  refused: 'Key refused',
  works: 'Works',
  ended: 'Key expired',
  notAsked: 'Not tested',
  unknown: 'The key has not been tested yet.',
  until: (at: string) => `Expires ${at}`,
  replaceNow: 'Nothing can be sent with this key any more: upload a new one.',
  replaceSoon: 'Upload a new key before this one expires.',
  accepted: (ago: string) => `The provider accepted the key ${ago}.`,
  since: (at: string, meaning: string) => `Since ${at}: ${meaning}`,
  fallback: (at: string) => `The previous key is used until ${at}.`,
};
