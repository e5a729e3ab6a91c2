/**
 * docs/reference/limits.md: the tags `@limit` of src/ and packages/, by the rooms in which they
 * stand.
 */

import type { ClientLimitName } from '../../../src/domain/client-limits.ts';
import {
  CLIENT_LIMIT_DEFAULTS,
  CLIENT_LIMIT_MEANINGS,
  CLIENT_LIMIT_NAMES,
  clientLimitMax,
} from '../../../src/domain/client-limits.ts';
import { APNS_LIMITS } from '../../../src/providers/apns/settings.ts';
import { FCM_LIMITS } from '../../../src/providers/fcm/settings.ts';
import { WEB_PUSH_LIMITS } from '../../../src/providers/webpush/settings.ts';
import type { TaggedLimit } from './limit-tags.ts';
import { taggedLimits } from './limit-tags.ts';
import { valueText, written } from './limit-value.ts';
import { tableOf } from './table.ts';

const HEAD = `# Limits

Everything that is bounded: requests, queues, caches, retries, time-outs. An operator sets those of
[a client](#limits-of-a-client) and those among the [settings](settings.md): registrations a second
and waiting, devices of an app, tags of a device, how long devices and jobs are kept, threads,
connections and messages to providers. All others are constants; to change one, edit its file
(under \`src/\`, if it is not one of \`packages/\`) and rebuild. Lengths of text are UTF-16 units, as
JavaScript counts.
`;
const PUBLISHERS = `## What a publisher meets

The rooms below have these again, with their reasons. Beside them there are the
[limits of a client](#limits-of-a-client), and with Firebase the quota of a project, by default
600,000 messages a minute: beyond it sends wait, and \`status\` has \`waitingFor\`. A push job and its
counts are kept 90 days after its end, or as \`NOTIFICATION_RETENTION_DAYS\` says; then \`status\` is
\`404\`.
`;
const CLIENTS = `## Limits of a client

Each client has these limits of its own, which its operator may change up to what the table says
([how](../operate/clients.md#limits-of-a-client)); nodes follow within a second. What a client asks for is
counted by each node for itself: with three nodes a client may ask three times as often. Requests of
its members in the console are among those of its publishers, and dry runs among the pushes.
Registrations are \`reg\`, \`ureg\`, \`set\` and \`devices/replace\`. A refusal names the limit, and is
counted in \`tagcast_limit_refusals_total\`. Reasons:
[decision 53](../decisions/0053-limits-of-clients.md).
`;
const CONNECTIONS = `## Connections to providers

Of a credential's pool in one thread, and of each connection in it; Web Push has a pool for each push
service. Reasons: \`providers/*/settings.ts\` and
[decision 19](../decisions/0019-connection-pool.md). What HTTP/2 itself bounds (frames, field blocks,
floods, octets at the socket) is in
[packages/http2](../../packages/http2/README.md#limits).
`;

/** The rooms of src/ and the packages under the headings of the page, in its order. */
const ROOMS: readonly (readonly [heading: string, rooms: readonly string[]])[] = [
  ['Requests', ['http', 'api', 'packages/http1', 'packages/http1-uws']],
  ['Credentials and accounts', ['access', 'keys', 'operator']],
  ['Tags, apps, payloads', ['domain', 'catalogue', 'clients']],
  ['Devices', ['devices', 'packages/device-files']],
  ['Pushes', ['push', 'templates']],
  ['Tag index', ['tag-index']],
  ['Providers', ['providers', 'provider-credentials', 'transport']],
  ['Webhooks, audit log, statistics', ['webhooks', 'audit', 'statistics']],
  ['Database and housekeeping', ['app', 'database']],
  ['What all share', ['std', 'packages/std', 'telemetry']],
  ['Commands', ['cli', 'doctor']],
  ['Simulator', ['packages/simulator']],
];

/** Those of the connections have a table of their own, by provider. */
const CONNECTION_LIMITS = 'TransportLimits.';
const isOfConnections = ({ name }: TaggedLimit): boolean => name.startsWith(CONNECTION_LIMITS);

export function limitsReference(): string {
  const rooms = ROOMS.map(([heading, rooms]) => {
    const limits = taggedLimits.filter(
      (limit) => rooms.some((room) => limit.file.startsWith(`${room}/`)) && !isOfConnections(limit),
    );
    return `## ${heading}\n\n${tableOf(COLUMNS, limits.map(rowOf))}`;
  });
  return [HEAD, publishersTable(), clientsTable(), ...rooms, connectionsTable()].join('\n');
}

const COLUMNS = ['what', 'limit', 'beyond it', 'why', 'where'];

const rowOf = ({ file, name, what, beyond, why }: TaggedLimit): readonly string[] => [
  what,
  valueText(file, name),
  beyond,
  why,
  `\`${name}\`, \`${file}\``,
];

function publishersTable(): string {
  const rows = taggedLimits
    .filter(({ isPublishers }) => isPublishers)
    .map(({ file, name, what, beyond }) => [what, valueText(file, name), beyond]);
  return `${PUBLISHERS}\n${tableOf(['what', 'limit', 'beyond it'], rows)}`;
}

function clientsTable(): string {
  const rows = CLIENT_LIMIT_NAMES.map((name) => [
    CLIENT_LIMIT_MEANINGS[name],
    written('', CLIENT_LIMIT_DEFAULTS[name]),
    written('', clientLimitMax(name)),
    beyondOf(name),
    `\`${name}\``,
  ]);
  return `${CLIENTS}\n${tableOf(['what', 'by default', 'at most', 'beyond it', 'name'], rows)}`;
}

function beyondOf(name: ClientLimitName): string {
  if (name.endsWith('PerSecond')) return '`429`, `Retry-After: 1`';
  if (name === 'devices') return 'new ones: `429`, `Retry-After: 60`; an import leaves them out';
  return '`403`; a command refuses';
}

function connectionsTable(): string {
  const rows = taggedLimits.filter(isOfConnections).map(({ name, what, beyond }) => {
    const own = name.slice(CONNECTION_LIMITS.length) as keyof typeof APNS_LIMITS;
    const values = [APNS_LIMITS, FCM_LIMITS, WEB_PUSH_LIMITS].map((of) => written(own, of[own]));
    return [what, ...values, beyond, `\`${own}\``];
  });
  const columns = ['what', 'APNs', 'FCM', 'Web Push', 'beyond it', 'name'];
  return `${CONNECTIONS}\n${tableOf(columns, rows)}`;
}
