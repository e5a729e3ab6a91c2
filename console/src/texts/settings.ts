/** Settings of the client. */

export const settingsTexts = {
  title: 'Settings',
  line: 'They apply to everybody who uses this client in the console.',
  sending: 'Sending',
  confirmAbove: 'Require typing the count above',
  confirmAboveHint: 'Before a send to more devices, the sender types how many they are.',
  saved: 'Saved.',
};
