/** Settings of the client. */

export const settingsTexts = {
  title: 'Settings',
  line: 'They apply to everybody who uses this client in the console.',
  sending: 'Sending',
  confirmAbove: 'Require typing the count above',
  confirmAboveHint: 'Sending to more devices requires typing their number first.',
  undo: 'Seconds to undo',
  undoHint:
    'What is sent now waits this long before the first device, so that it can be undone. 0: it goes out at once. Urgent ones do not wait.',
  saved: 'Saved.',
};
