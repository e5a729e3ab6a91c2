/** Looking a device up. */

export const deviceTexts = {
  title: 'Devices',
  line: 'What is known of one device, by its token.',
  app: 'App',
  platform: 'Platform',
  deviceId: 'Token of the device',
  deviceIdHint: 'As the app registered it. It is sent in the body of the request: no log has it.',
  look: 'Look it up',
  noApps: 'This client has no app yet.',
  unknown:
    'Nobody registered this device for this app on this platform. Compare the app, the platform and every character of the token.',
  reachable: (count: string) => `This device can be reached: it has ${count}.`,
  oneTag: 'one tag',
  tags: (count: string) => `${count} tags`,
  unsubscribed: (ago: string) =>
    `This device has unsubscribed from everything ${ago}. Nothing is sent to it until it registers again.`,
  noTags: 'This device is registered and has no tag. Nothing is sent to it.',
  refused: (count: string, ago: string) =>
    `Its token was refused ${count} times since it registered, last ${ago}.`,
  refusedOnce: (ago: string) => `Its token was refused once since it registered, ${ago}.`,
  gone: (why: string, ago: string) => `This device is gone: ${why}, ${ago}.`,
  removedFor: {
    dead: 'the provider said that the app is no longer installed',
    refused: 'the provider refused its token again and again',
  } as Readonly<Record<string, string>>,
  replaced: 'its token was replaced by another',
  failedBefore: 'sends to it failed',
  eventsTitle: 'What happened',
  at: 'When',
  happened: 'What',
  failed: (meaning: string) => `A send failed: ${meaning}`,
  removed: (why: string) => `Removed: ${why}`,
  expectedTitle: 'Recent notifications for its tags of now',
  outcome: 'Outcome',
  outcomes: {
    accepted: 'accepted by the provider, as far as is known',
    failed: 'refused',
    pending: 'not sent yet',
    unknown: 'not known',
  },
  factsTitle: 'What is known',
  registered: 'Registered',
  appVersion: 'Version of the app',
  refusals: 'Refusals',
  environment: 'APNs environment',
  tagsTitle: 'Its tags',
  name: 'Name',
  sourceId: 'Source id',
  pendingTitle: 'Not done yet',
  notification: 'Notification',
  what: 'What',
  kinds: {
    retry: 'is tried again',
    dead: 'the provider called it dead',
    refused: 'the provider refused it',
  },
  held: 'an operator decides',
  due: 'When',
  reason: 'Reason',
  erase: 'Erase the device…',
  eraseTitle: 'Erase this device?',
  eraseLine: (tags: string) =>
    `The device, its ${tags} subscriptions and what happened to it are erased. A device that registers again is a new one.`,
  eraseDeed: 'Erase it',
  erased: (tags: string, at: string) =>
    `Erased: the device with its ${tags} subscriptions, registered ${at}. This is the proof; nothing else of it is kept.`,
  erasedEvents: 'Erased: what was still kept of this device. The device itself was gone before.',
  erasedBefore: 'There was nothing to erase: this device was gone before.',
};

export const systemTexts = {
  title: 'System',
  line: 'The engine as its operator sees it.',
  raw: 'As the engine tells it',
  /** By the names of the answer. */
  sections: {
    version: 'Version',
    nodes: 'Nodes',
    stores: 'Stores',
    index: 'Tag index',
    providers: 'Providers',
    queue: 'Queue',
  } as Readonly<Record<string, string>>,
};

export const auditTexts = {
  title: 'Audit log',
  line: 'Who did what, when, from where.',
  at: 'When',
  actor: 'Who',
  action: 'What',
  object: 'Of what',
  address: 'From',
  detail: 'More',
  empty: 'Nothing was changed yet.',
  next: 'Older ones',
  first: 'The newest',
  commandLine: 'the command line',
  from: 'From',
  to: 'To',
};
