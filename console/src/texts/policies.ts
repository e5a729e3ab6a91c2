/** Categories of notifications, and their limits. */

import { number } from '../words/format.ts';

export const policyTexts = {
  title: 'Categories and limits',
  line: 'A limit is how many notifications a device may get in some hours or days. A device that has had as many is held back from the next one.',
  none: 'No categories yet: every notification goes to its whole audience.',
  category: 'Category',
  categoryHint: 'Its limits decide which devices are held back.',
  byDefault: (name: string) => `${name} (default)`,
  name: 'Name',
  nameHint: 'Small letters, digits, - and _.',
  isDefault: 'Default: notifications without a category are of this one',
  limits: 'Limits',
  noLimit: 'No limit.',
  max: 'Notifications at most',
  per: 'In',
  of: 'Counting',
  ofCategory: 'This category',
  ofAll: 'All categories',
  windows: [
    { per: '1h', label: '1 hour' },
    { per: '2h', label: '2 hours' },
    { per: '6h', label: '6 hours' },
    { per: '12h', label: '12 hours' },
    { per: '24h', label: '24 hours' },
    { per: '2d', label: '2 days' },
    { per: '3d', label: '3 days' },
    { per: '7d', label: '7 days' },
  ],
  add: 'Add category',
  addLimit: 'Add limit',
  remove: (name: string) => (name === '' ? 'Remove this category' : `Remove ${name}`),
  removeLimit: 'Remove limit',
  saved: 'Saved. It applies to notifications from now on.',
  changed: 'Somebody else has changed the categories meanwhile. Reload the page to see them.',
  wouldHold: (devices: string) =>
    `${devices} of them would be held back now: they have had as many as a limit allows.`,
  held: 'It was in the audience and was held back: it had as many notifications as a limit allows.',
  ignores: 'Ignore the limits, as the notification before did',
  ignored: 'Ignored: nobody is held back',
  heldBy: (category: string, max: number, per: string, isOfAll: boolean) =>
    `It was in the audience and was held back: the limit of ${category} is ${number(max)} in ${per}${isOfAll ? ', counting all categories' : ''}.`,
};
