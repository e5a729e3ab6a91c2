/** Notifications: the list, and one of them while it is sent and afterwards. */

export const notificationTexts = {
  title: 'Notifications',
  send: 'New notification',
  emptyTitle: 'Nothing was sent yet',
  empty: 'What is sent by your systems and from here stands in this list, with what became of it.',
  noneOfThese: 'None with these filters.',
  filters: 'Filters',
  state: 'State',
  anyState: 'any',
  app: 'App',
  anyApp: 'any',
  from: 'From',
  to: 'To',
  name: 'Notification',
  at: 'Goes out',
  outcomes: 'Outcomes',
  accepted: 'Accepted',
  of: 'of',
  by: 'By',
  next: 'Older ones',
  first: 'The newest',
  untitled: 'without a title',

  done: 'Done',
  doneOf: (done: string, total: string) => `${done} of ${total}`,
  /** The engine counts devices as it comes to them, and estimates the rest. */
  doneOfAbout: (done: string, total: string) => `${done} of about ${total}`,
  doneSoFar: (total: string) => `of ${total} found so far`,
  now: 'Now',
  aSecond: 'a second',
  left: 'Left',
  firstAfter: 'First sent after',
  rate: 'Rate',
  since: (at: string) => `since ${at}`,
  planned: (at: string) => `goes out ${at}`,
  ended: (at: string) => `ended ${at}`,
  submittedBy: (name: string) => `by ${name}`,
  heldTo: (rate: string) => `held to ${rate} a second`,
  broken: 'The connection is lost. What is shown may be old; it comes back by itself.',
  pause: 'Pause',
  resume: 'Resume',
  speed: 'Speed…',
  cancel: 'Cancel…',
  again: 'Again as a draft',
  againByApi: 'Its payload is more than a draft can hold: send it again by the API.',
  cancelTitle: 'Cancel this notification?',
  cancelLine: (left: string) =>
    `Devices that do not have it yet will not get it: about ${left}. Those that have it keep it.`,
  cancelUnknown: 'Devices that do not have it yet will not get it. Those that have it keep it.',
  cancelDeed: 'Cancel the rest',
  speedTitle: 'How fast?',
  speedField: 'Devices a second, at most',
  speedHint: 'Empty: as fast as it goes.',
  speedDeed: 'Set it',
  rateTitle: 'Answered a second',
  rateAside: 'all nodes, since this page was opened',
  rateLabel: (rate: string) => `Devices answered a second, now ${rate}.`,
  rateSeries: 'answered',
  byPlatform: 'By app and platform',
  platform: 'Platform',
  progress: 'Progress',
  refused: 'Refused',
  whyNot: 'Why not',
  reason: 'Reason',
  code: 'Code',
  devices: 'Devices',
  todo: 'To do',
  happened: 'What happened',
  submitted: 'Submitted',
  plannedFor: 'Planned for this time',
  firstSent: 'The first device was sent to',
  lastSent: 'The last device was sent to',
  expiresThen: 'Who has not got it by then does not get it',
  endedAs: (state: string) => `Ended: ${state}`,
  /** Keyed by the actions of the audit log. */
  deeds: {
    'notification.pause': 'Paused',
    'notification.resume': 'Resumed',
    'notification.change': 'Its speed or its time was changed',
    'notification.cancel': 'Cancelled',
    'notification.release-parked': 'What could not be sent was sent again',
    'notification.release-deletions': 'The devices that were called dead were removed',
    'notification.discard-deletions': 'The devices that were called dead were kept',
  } as Readonly<Record<string, string>>,
  payload: 'What was sent',
  audience: 'To whom',
  anyOf: 'any of',
  allOf: 'all of',
  noneOf: 'none of',
  moreTags: (count: string) => `and ${count} more`,
  simulated: 'The providers are simulated.',
  uncertain: (count: string) => `${count} sends have an unknown outcome and were repeated.`,
  parked: (count: string) =>
    `${count} devices could not be sent to; an operator can send to them again.`,
  statusLine: (done: string, state: string) => `${done} done, ${state}`,
};

interface Reason {
  readonly meaning: string;
  readonly todo: string;
}

const REMOVED = 'removed, nothing to do';
const GONE = { meaning: 'The app is no longer installed', todo: REMOVED };
const BUSY = { meaning: 'The provider was busy', todo: 'tried again; nothing to do' };

/** Explains a reason, and the remedy; keyed by the words of the providers and the engine. */
export const reasonTexts: Readonly<Record<string, Reason>> = {
  Unregistered: GONE,
  UNREGISTERED: GONE,
  ExpiredToken: GONE,
  Gone: { meaning: 'The browser has unsubscribed', todo: REMOVED },
  BadDeviceToken: {
    meaning: 'This is no token of this environment',
    todo: 'check which builds register: development or production',
  },
  DeviceTokenNotForTopic: {
    meaning: 'The token belongs to another app',
    todo: 'compare the bundle id with that of the app',
  },
  TopicDisallowed: {
    meaning: 'The key may not send to this bundle',
    todo: 'look at the key of the app',
  },
  SENDER_ID_MISMATCH: {
    meaning: 'The token belongs to another Firebase project',
    todo: 'compare the project of the app with that of the key',
  },
  INVALID_ARGUMENT: {
    meaning: 'The provider does not take this token or message',
    todo: 'look at the message',
  },
  PayloadTooLarge: { meaning: 'The message is too large', todo: 'make it shorter' },
  TooManyRequests: BUSY,
  QUOTA_EXCEEDED: BUSY,
  UNAVAILABLE: BUSY,
  InternalServerError: BUSY,
  ServiceUnavailable: BUSY,
  Shutdown: BUSY,
  InvalidProviderToken: {
    meaning: 'The provider refuses the key',
    todo: 'replace the key of the app',
  },
  MissingCredential: {
    meaning: 'There is no key for this platform',
    todo: 'give one, on the page of the app',
  },
  Parked: {
    meaning: 'This part of the send could not be completed',
    todo: 'an operator can send it again',
  },
};

export const reasonUnknown: Reason = {
  meaning: 'The provider refused it',
  todo: 'see what it documents',
};
