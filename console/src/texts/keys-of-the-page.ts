/** The keyboard shortcuts of every page, and which of them only senders have. */

/** The key in the text of a button. */
export const keyNames = { search: 'Ctrl K', compose: 'N', turn: 'P', send: 'Ctrl ⏎' };

export const keyTexts = {
  title: 'Keyboard shortcuts',
  keys: [
    { key: keyNames.search, meaning: 'Search', sends: false },
    { key: '/', meaning: 'Search tags', sends: false },
    { key: keyNames.compose, meaning: 'New notification', sends: true },
    { key: keyNames.turn, meaning: 'Pause or resume this notification', sends: true },
    { key: 'Ctrl Enter', meaning: 'Send', sends: true },
    { key: '?', meaning: 'Show this list', sends: false },
  ],
};
