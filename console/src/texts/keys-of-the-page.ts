/** The keys that work everywhere, and who may what they do. */

/** The key in the text of a button. */
export const keyNames = { search: 'Ctrl K', compose: 'N', turn: 'P', send: 'Ctrl ⏎' };

export const keyTexts = {
  title: 'Keys',
  keys: [
    { key: keyNames.search, meaning: 'search everything', sends: false },
    { key: '/', meaning: 'search the tags', sends: false },
    { key: keyNames.compose, meaning: 'new notification', sends: true },
    { key: keyNames.turn, meaning: 'pause or resume the notification that is open', sends: true },
    { key: 'Ctrl Enter', meaning: 'send', sends: true },
    { key: '?', meaning: 'show these', sends: false },
  ],
};
