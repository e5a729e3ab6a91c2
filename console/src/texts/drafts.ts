/** Drafts, the seconds in which a send can be taken back, and its stages. */

import { devices } from './send.ts';

export const draftTexts = {
  label: 'Draft',
  untitled: 'Untitled',
  unsaved: 'Not saved yet: this draft is only in this browser.',
  empty: 'A new draft. It stays in this browser until you save or send it.',
  saved: (name: string, ago: string, by: string) => `“${name}”, saved ${ago} by ${by}.`,
  changed: (name: string) => `“${name}” has changes that are not saved.`,
  asideSaved: (name: string) => `Your earlier draft was saved as “${name}”.`,
  save: 'Save draft',
  saveAs: 'Save draft…',
  saveTitle: 'Save the draft',
  saveLine: 'Everybody who sends for this client can open it.',
  name: 'Name',
  open: 'Drafts…',
  openTitle: 'Drafts',
  none: 'No drafts are saved.',
  age: (ago: string, by: string) => `${ago}, ${by}`,
  openOne: 'Open',
  openOf: (name: string) => `Open ${name}`,
  discard: 'Discard…',
  discardOf: (name: string) => `Discard ${name}…`,
  discardSure: 'Discard for everybody',
  keep: 'Keep it',
  gone: (id: number) => `${id} (deleted)`,
  unreadable: 'This draft was not composed with this console, which cannot open it.',
  changedMeanwhile: 'Save again to keep your version as a draft of its own.',
};

export const undoTexts = {
  sending: (seconds: string) => `Sending in ${seconds} s…`,
  now: 'Sending…',
  heard: 'It will be sent in a few seconds. Nobody has it yet.',
  undo: 'Undo',
};

export const stageTexts = {
  staged: 'Send to 1 % first, then wait for me',
  inSummary: (count: string) => `${devices(count)}, then the rest when you say so`,
  label: 'First stage',
  ended: (accepted: string, failed: string, whole: string) =>
    `The first stage has ended: ${accepted} accepted, ${failed} failed, of about ${devices(whole)}. Look at a phone, then send to the rest.`,
  running: (count: string) => `First stage: it pauses after ${devices(count)}.`,
  rest: 'Send to the rest',
  at: 'First stage ended',
};
