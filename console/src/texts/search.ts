/** The search over everything. */

export const searchTexts = {
  title: 'Search',
  field: 'Page, app, tag, notification or device token',
  page: 'Page',
  action: 'Action',
  app: 'App',
  tag: 'Tag',
  notification: 'Notification',
  sentAt: (at: string) => `Notification, ${at}`,
  device: 'Device',
  newTag: 'New tag',
  lookUp: 'Find this device',
  nothing: 'No results.',
  found: (count: number) => (count === 1 ? '1 result' : `${count} results`),
};
