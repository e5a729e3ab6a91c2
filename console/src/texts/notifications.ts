/** Notifications: the list, and one of them while it is being sent and afterwards. */

export const notificationTexts = {
  title: 'Notifications',
  send: 'New notification',
  emptyTitle: 'No notifications yet',
  empty: 'Notifications from your systems and from this console appear here with their results.',
  noneOfThese: 'No notifications match these filters.',
  filters: 'Filters',
  state: 'Status',
  anyState: 'Any',
  partlyFailed: 'Partly failed',
  app: 'App',
  anyApp: 'Any',
  from: 'From',
  to: 'To',
  name: 'Notification',
  at: 'Time',
  outcomes: 'Outcomes',
  accepted: 'Accepted',
  ofAll: (total: string) => `of ${total}`,
  next: 'Older',
  first: 'Newest',
  untitled: 'Untitled',

  done: 'Done',
  doneOf: (done: string, total: string) => `${done} of ${total}`,
  /** The engine counts devices as it comes to them, and estimates the rest. */
  doneOfAbout: (done: string, total: string) => `${done} of about ${total}`,
  soFar: 'so far',
  ofAbout: (total: string) => `of about ${total}`,
  now: 'Now',
  perSecond: 'per second',
  left: 'Time left',
  firstAfter: 'Time to first device',
  rate: 'Rate',
  since: (at: string) => `since ${at}`,
  scheduled: (at: string) => `for ${at}`,
  ended: (at: string) => `ended ${at}`,
  submittedBy: (name: string) => `by ${name}`,
  limitedTo: (rate: string) => `limited to ${rate} per second`,
  broken: 'Connection lost. These figures may be out of date; the page reconnects by itself.',
  pause: 'Pause',
  resume: 'Resume',
  speed: 'Speed limit…',
  cancel: 'Cancel…',
  again: 'Duplicate',
  againFor: (platform: string) => `Duplicate for ${platform} only`,
  againByApi: 'A draft cannot hold this payload. Send it again with the API.',
  cancelTitle: 'Cancel this notification?',
  cancelLine: (left: string) =>
    `About ${left} devices will not get it. Devices that already have it keep it.`,
  cancelUnknown: 'The remaining devices will not get it. Devices that already have it keep it.',
  cancelDeed: 'Stop sending',
  cancelNot: 'Keep sending',
  cancelScheduledLine: 'It will not be sent.',
  cancelScheduledDeed: 'Cancel notification',
  cancelScheduledNot: 'Keep it scheduled',
  speedTitle: 'Speed limit',
  speedField: 'Devices per second',
  speedHint: 'Empty: no limit.',
  speedDeed: 'Apply',
  rateTitle: 'Devices per second',
  rateAside: 'since this page was opened',
  rateLabel: (rate: string) => `Devices per second, now ${rate}.`,
  rateSeries: 'devices',
  byPlatform: 'By app and platform',
  platform: 'Platform',
  faultOf: (app: string, platform: string) => `${app}, ${platform}: failed`,
  checkKey: 'Check the key',
  progress: 'Progress',
  failed: 'Failed',
  failureReasons: 'Failure reasons',
  reason: 'Reason',
  code: 'Code',
  devices: 'Devices',
  todo: 'What to do',
  activity: 'Activity',
  submitted: 'Submitted',
  scheduledFor: 'Scheduled for this time',
  firstSent: 'First device reached',
  lastSent: 'Last device reached',
  expiresThen: 'Expires',
  endedAs: (state: string) => `Ended · ${state}`,
  /** Keyed by the actions of the audit log. */
  deeds: {
    'notification.pause': 'Paused',
    'notification.resume': 'Resumed',
    'notification.change': 'Speed limit or time changed',
    'notification.cancel': 'Cancelled',
    'notification.release-parked': 'The parts that could not be sent were sent again',
    'notification.release-deletions': 'Devices that were reported dead were removed',
    'notification.discard-deletions': 'Devices that were reported dead were kept',
  } as Readonly<Record<string, string>>,
  payload: 'Payload',
  audience: 'Audience',
  anyOf: 'Any of',
  allOf: 'All of',
  noneOf: 'Excluded',
  moreTags: (count: string) => `and ${count} more`,
  simulated: 'The providers are simulated.',
  uncertain: (count: string) => `${count} sends were repeated because their outcome was unknown.`,
  parked: (count: string) => `Sending to ${count} devices failed. An operator can retry.`,
  statusLine: (done: string, state: string) => `${state} · ${done} done`,
};

export interface Reason {
  readonly meaning: string;
  readonly todo: string;
  /** The remedy is on the page with the app's keys. */
  readonly isOfKey?: true;
}

const REMOVED = 'Nothing: the device was removed.';
const GONE = { meaning: 'The app is no longer installed', todo: REMOVED };
const BUSY = { meaning: 'The provider was busy', todo: 'Nothing: these sends were retried.' };

/** Explains a reason, and the remedy; keyed by the words of the providers and the engine. */
export const reasonTexts: Readonly<Record<string, Reason>> = {
  Unregistered: GONE,
  UNREGISTERED: GONE,
  ExpiredToken: GONE,
  Gone: { meaning: 'The browser unsubscribed', todo: REMOVED },
  BadDeviceToken: {
    meaning: 'Token is for the other APNs environment',
    todo: 'Check which builds register: development or production.',
  },
  DeviceTokenNotForTopic: {
    meaning: 'Token belongs to another app',
    todo: 'Compare the bundle ID with that of the app.',
    isOfKey: true,
  },
  TopicDisallowed: {
    meaning: 'The key has no permission for this bundle ID',
    todo: 'Check the key of the app.',
    isOfKey: true,
  },
  SENDER_ID_MISMATCH: {
    meaning: 'Token belongs to another Firebase project',
    todo: 'Compare the project of the app with that of the key.',
    isOfKey: true,
  },
  INVALID_ARGUMENT: {
    meaning: 'The provider does not accept this token or message',
    todo: 'Check the message.',
  },
  PayloadTooLarge: { meaning: 'The message is too large', todo: 'Shorten it.' },
  TooManyRequests: BUSY,
  QUOTA_EXCEEDED: BUSY,
  UNAVAILABLE: BUSY,
  InternalServerError: BUSY,
  ServiceUnavailable: BUSY,
  Shutdown: BUSY,
  InvalidProviderToken: {
    meaning: 'The provider refuses the key',
    todo: 'Replace the key of the app.',
    isOfKey: true,
  },
  MissingCredential: {
    meaning: 'There is no key for this platform',
    todo: 'Upload one on the app’s page.',
    isOfKey: true,
  },
  Parked: {
    meaning: 'This part of the send could not be completed',
    todo: 'An operator can send it again.',
  },
};

export const reasonUnknown: Reason = {
  meaning: 'The provider refused it',
  todo: 'Look up the code in the provider’s documentation.',
};
