/** The keys that work everywhere, and who may what they do. */

export const keyTexts = {
  title: 'Keys',
  keys: [
    { key: 'Ctrl K', meaning: 'search everything', sends: false },
    { key: '/', meaning: 'search the tags', sends: false },
    { key: 'N', meaning: 'new notification', sends: true },
    { key: 'P', meaning: 'pause or resume the notification that is open', sends: true },
    { key: 'Ctrl Enter', meaning: 'send', sends: true },
    { key: '?', meaning: 'show these', sends: false },
  ],
};
