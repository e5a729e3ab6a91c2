/** The state of an app's account at a provider. */

export const credentialTexts = {
  none: 'no key yet',
  missing: 'Nothing can be sent here: no key was given.',
  refused: 'refused',
  works: 'works',
  ended: 'has ended',
  notAsked: 'not asked yet',
  unknown: 'The provider was not asked yet.',
  until: (at: string) => `until ${at}`,
  replaceNow: 'Nothing can be sent with it any more: give a new one.',
  replaceSoon: 'Give a new one before it ends.',
  accepted: (ago: string) => `The provider accepted it ${ago}.`,
  fallback: (at: string) => `The key before it is used until ${at}.`,
};
