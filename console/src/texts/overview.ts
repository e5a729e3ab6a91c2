/** The overview. */

export const overviewTexts = {
  title: 'Overview',
  send: 'New notification',
  nothingYet: 'Nothing was sent yet.',
  onAir: (name: string) => `“${name}” is on its way to about`,
  onAirYet: (name: string) => `“${name}” is on its way:`,
  devicesDone: 'devices are done.',
  devices: 'devices;',
  done: 'are done.',
  watch: 'Watch it',
  last: (name: string, ago: string) => `The last notification, “${name}”, went out ${ago}:`,
  lastAccepted: 'accepted of',
  planned: (name: string, at: string) => `“${name}” goes out ${at}.`,
  look: 'Look at it',
  untitled: 'without a title',
  accepted: 'Accepted by the providers, by day',
  acceptedLabel: (total: string, failed: string) =>
    `Notifications accepted and refused on each of the last days: ${total} accepted, ${failed} refused.`,
  acceptedFooter: (total: string, failed: string, share: string) =>
    `${total} accepted · ${failed} refused (${share})`,
  utc: 'the last 14 days (UTC)',
  acceptedSeries: 'accepted',
  refusedSeries: 'refused',
  reached: 'Devices that can be reached',
  app: 'App',
  platform: 'Platform',
  count: 'Devices',
  credential: 'Credential',
  notShown: 'not for your role',
  moreApps: (shown: string, all: string) => `The first ${shown} of ${all} apps.`,
  trouble: (app: string, platform: string, label: string) => `${app} ${platform}: ${label}.`,
  mend: 'Look at the key',
  stepsTitle: 'Four steps to the first notification',
  steps: {
    app: { title: 'Make an app', text: 'An app of yours, on iOS, Android or the web.' },
    credential: {
      title: 'Give its key',
      text: 'Of your account at Apple or Google. Drop the file.',
    },
    device: {
      title: 'Register a device',
      text: 'Your app does it with one request. This page sees it come.',
    },
    notification: { title: 'Send a notification', text: 'To one tag, and watch it arrive.' },
  },
  stepDone: 'done',
};
