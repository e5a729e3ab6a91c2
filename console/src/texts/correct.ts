/** Texts of corrections and retractions. */

export const correctTexts = {
  correct: 'Correct…',
  correctTitle: 'Correct this notification?',
  correctLine: (reached: string) =>
    `${reached} have it. They get this text in its place, also those that dismissed it.`,
  correctDeed: 'Send correction',
  empty: 'Enter a title or a message.',
  again: 'Alert again (with sound)',
  rest: 'Devices that do not have it yet',
  rests: {
    corrected: 'Get the new text',
    stop: 'Get nothing',
    original: 'Get the old text, then the new one',
  },
  retract: 'Retract…',
  retractTitle: 'Retract this notification?',
  retractLine: (reached: string) => `${reached} have it. The app removes it, as far as it can:`,
  retractRest: 'It is not sent to any more devices.',
  /** The keys are the numbers of the platforms. */
  promises: {
    3: 'when the phone lets the app, which may be never',
    7: 'stays, unless a text takes its place',
    15: 'when the phone lets the app, mostly at once',
  } as Readonly<Record<number, string>>,
  inPlace: 'Text in its place in browsers',
  inPlaceHint: 'Empty: browsers keep it.',
  retractDeed: 'Retract',
  correctionOf: 'a correction of',
  retractionOf: 'a retraction of',
  correctionNumber: (place: string) => `correction ${place}`,
  retractionNumber: (place: string) => `retraction ${place}`,
};
