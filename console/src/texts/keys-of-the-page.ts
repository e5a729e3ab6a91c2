/** The keys that work everywhere. */

export const keyTexts = {
  title: 'Keys',
  keys: [
    ['Ctrl K', 'search everything'],
    ['/', 'search the tags'],
    ['N', 'new notification'],
    ['P', 'pause or resume the notification that is open'],
    ['Ctrl Enter', 'send'],
    ['?', 'show these'],
  ] as const,
};
