/** The search over everything. */

export const searchTexts = {
  title: 'Search',
  field: 'Pages, apps, tags; the id of a notification; the token of a device',
  page: 'page',
  action: 'do',
  app: 'app',
  tag: 'tag',
  notification: 'notification',
  device: 'device',
  newTag: 'New tag',
  lookUp: 'Look this device up',
  nothing: 'Nothing has this in its name.',
  found: (count: number) => (count === 1 ? '1 found' : `${count} found`),
};
