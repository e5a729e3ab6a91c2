/** Webhooks: the list, one of them, its deliveries. */

import type { Webhook } from '../../../packages/client/src/openapi.ts';

const requests = (count: string): string => (count === '1' ? 'request' : `${count} requests`);

export const webhookTexts = {
  title: 'Webhooks',
  line: 'Tagcast reports what happens to a server of yours.',
  add: 'New webhook',
  make: 'Create',
  emptyTitle: 'No webhooks yet',
  empty:
    'A webhook reports to a server of yours when a notification has ended, a device was erased, or a key for a provider is refused.',
  url: 'Address',
  urlHint: 'Must begin with https://',
  events: 'Events',
  eventsNeeded: 'Choose at least one.',
  eventNames: {
    'job.finished': 'A notification has ended',
    'notification.withheld': 'A limit has held devices back',
    'token.removed': 'Devices were erased',
    'token.replaced': 'Device tokens were replaced',
    'credential.trouble': 'A provider’s key is refused or expires',
  } as const satisfies Readonly<Record<Webhook['eventTypes'][number], string>>,
  enabled: 'Enabled',
  enabledHint: 'While it is off, events are not kept for it.',
  state: 'Status',
  changed: 'Saved.',
  created: 'Created',
  secret: 'Secret',
  secretMade: 'Secret created',
  secretLine:
    'Your server verifies the signature of each request with this secret. It is shown only once.',
  rotate: 'Rotate secret…',
  rotateTitle: (host: string) => `Rotate the secret of ${host}?`,
  rotateLine:
    'Requests are signed with the new secret, and with the old one too for the hours that you choose. If it leaked, choose 0.',
  rotateDeed: 'Generate',
  grace: 'Hours that the old secret stays valid',
  graceHint: '0 to 168.',
  remove: 'Delete…',
  removeTitle: (host: string) => `Delete the webhook to ${host}?`,
  removeLine: 'Its deliveries and waiting events are deleted with it. This cannot be undone.',
  removeDeed: 'Delete',
  settings: 'Settings',

  on: 'Works',
  off: 'Off',
  offLine: 'It is turned off. Events are not kept for it.',
  failing: 'Failing',
  gone: 'Turned off',
  onLine: 'No request failed lately.',
  goneLine: (host: string, at: string) =>
    `${host} answered 410 (gone) at ${at}, which turned this webhook off. Enable it again to continue.`,
  answered: (status: number, host: string) => `${status} from ${host}`,
  failed: (count: string) => `The last ${requests(count)} failed.`,
  failedWhy: (count: string, why: string) => `The last ${requests(count)} failed: ${why}.`,
  failedSince: (count: string, why: string, since: string) =>
    `Since ${since} the last ${requests(count)} failed: ${why}.`,
  dropped: (count: string) =>
    `${count} events were dropped, because more than 10,000 waited to be sent.`,
};

export const deliveryTexts = {
  title: 'Deliveries',
  aside: 'Kept for 7 days',
  none: 'No deliveries. They appear when the next event happens.',
  noneOf: 'No deliveries in this state.',
  state: 'Status',
  any: 'All',
  states: { pending: 'Waiting', delivered: 'Delivered', dead: 'Given up' },
  retried: 'Retrying',
  id: 'ID (webhook-id)',
  events: 'Events',
  attempt: (count: string) => `attempt ${count}`,
  last: 'Last attempt',
  next: (at: string) => `next ${at}`,
  answer: 'Answer',
  unanswered: 'None yet',
  actions: 'Actions',
  replay: 'Replay',
  replayOf: (id: string) => `Replay ${id}`,
  replayed: (count: string) =>
    count === '1' ? '1 delivery is sent again.' : `${count} deliveries are sent again.`,
  replayAll: 'Replay all given up…',
  replayAllTitle: 'Replay all deliveries that were given up?',
  replayAllLine:
    'They are sent again with the same IDs. Your server may get some of them a second time.',
  replayAllDeed: 'Replay',
};
