/** Settings of the client. */

export const settingsTexts = {
  title: 'Settings',
  line: 'They apply to everybody who uses this client in the console.',
  sending: 'Sending',
  confirmAbove: 'Require typing the count above',
  confirmAboveHint: 'Sending to more devices requires typing their number first.',
  saved: 'Saved.',
};
