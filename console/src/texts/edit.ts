/** Editing a scheduled notification, sending it now, and tags that are deleted since. */

import { devices } from './send.ts';

export const editTexts = {
  edit: 'Edit',
  title: 'Edit notification',
  label: 'Edited notification',
  line: (title: string) =>
    `You are editing “${title}”. It stays scheduled as it is until you save your changes.`,
  untitled: 'Untitled',
  stop: 'Discard changes',
  save: 'Save changes…',
  saveTitle: 'Save changes?',
  saveTitleFor: (count: string) => `Save changes for ${devices(count)}?`,
  saveDeed: (at: string) => `Save for ${at}`,
  sameOne: 'Only the schedule changes. The text and the audience stay.',
  replaced: 'The scheduled notification is replaced by this one. Nobody gets both.',
  unchanged: 'Change something first.',
  tooLate: 'It is being sent already. Nothing was changed.',
  isOver: 'It was sent, cancelled or replaced meanwhile. Nothing was changed.',
  changed:
    'Somebody changed its time, speed or priority since you began. Discard your changes and edit it again.',
  paused: 'It is paused, and would stay so. Resume it first, or keep its time.',
  undoPaused: 'Its time is nearly there, so it was paused instead.',
  time: 'Change time…',
  timeTitle: 'Change the time',
  timeDeed: 'Change time',
  timeExpires: 'It still expires as long after this time as before.',
  sendNow: 'Send now…',
  sendNowTitle: 'Send now?',
  sendNowLine: (at: string) => `It is scheduled for ${at}.`,
  scheduledAgain: (at: string) => `Undo schedules it for ${at} again.`,
};

export const goneTexts = {
  note: (names: string) =>
    `Deleted since then: ${names}. Without a deleted tag, more or fewer people may get this notification. Remove it, or choose another tag in its place.`,
  whyNot: 'Decide about the deleted tags first.',
};
