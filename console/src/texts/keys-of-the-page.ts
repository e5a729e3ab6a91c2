/** The keys that work everywhere. */

export const keyTexts = {
  title: 'Keys',
  keys: [
    ['/', 'search the tags'],
    ['N', 'new notification'],
    ['P', 'pause or resume the notification that is open'],
    ['Ctrl Enter', 'send'],
    ['?', 'show these'],
  ] as const,
};
