/** `tagcast device …`: one device, as its app or its publisher sees it. */

import { TagcastClient } from '../../../packages/client/src/client.ts';
import type { LookedUpDevice } from '../../../packages/client/src/openapi.ts';
import { ATTRIBUTES } from '../../domain/device-attributes.ts';
import { counted } from '../../std/counted.ts';
import { tableRow, visibleField } from '../../std/visible-text.ts';
import { readPlatform, required, UsageError } from '../arguments.ts';
import type { Command, Verb } from '../command.ts';
import { EXIT_FAILED, verb } from '../command.ts';
import { appIdOf, DEVICE_FLAGS } from './device-flags.ts';
import type { Outcome, PublisherContext, Session, Work } from './publisher-command.ts';
import { publisherCommand } from './publisher-command.ts';
import { NAME_NOTES, readNames } from './tag-names.ts';

const TAG = {
  tag: { type: 'string', multiple: true, value: 'tag', about: 'a tag' },
} as const;

const AS_APP = `Calls as the app does, with the app's token of the profile. ${NAME_NOTES}`;

export const deviceCommand = (context: PublisherContext): Command =>
  publisherCommand(context, {
    name: 'device',
    verbs: {
      lookup: verb(
        {
          summary: 'Shows what is known of a device, and why pushes did not reach it.',
          arguments: ['device-id'],
          flags: DEVICE_FLAGS,
        },
        ({ 'device-id': deviceId }, { platform, app }): Work => {
          const platformId = readPlatform(required('platform', platform));
          return (session) => lookUp(session, appIdOf(session, app), { platformId, deviceId });
        },
      ),
      erase: verb(
        {
          summary: 'Erases a device with all that is known of it.',
          arguments: ['device-id'],
          flags: DEVICE_FLAGS,
        },
        ({ 'device-id': deviceId }, { platform, app }): Work => {
          const platformId = readPlatform(required('platform', platform));
          return (session) => erase(session, appIdOf(session, app), { platformId, deviceId });
        },
      ),
      register: asApp('reg', 'Registers a device for tags, for trying.'),
      unregister: asApp('ureg', 'Unsubscribes a device from tags; without --tag from all.'),
    },
  });

interface DeviceName {
  readonly platformId: number;
  readonly deviceId: string;
}

async function lookUp({ tagcast, signal }: Session, appId: number, body: DeviceName) {
  const path = '/push-admin-api/v3/{client}/apps/{id}/devices/lookup';
  const answer = await tagcast.request('POST', path, { path: { id: appId }, body, signal });
  return { value: answer.body, text: describe(answer.body) };
}

async function erase({ tagcast, signal }: Session, appId: number, body: DeviceName) {
  const path = '/push-admin-api/v3/{client}/apps/{id}/devices/erase';
  const answer = await tagcast.request('POST', path, { path: { id: appId }, body, signal });
  return {
    value: answer.body,
    text: answer.body.erased ? 'The device is erased.' : 'There was nothing to erase.',
  };
}

const asApp = (endpoint: 'reg' | 'ureg', summary: string): Verb<Work> =>
  verb(
    {
      summary,
      arguments: ['device-id'],
      flags: { platform: DEVICE_FLAGS.platform, ...TAG },
      notes: AS_APP,
    },
    ({ 'device-id': deviceId }, { platform, tag = [] }): Work => {
      const platformId = readPlatform(required('platform', platform));
      return (session) => callAsApp(session, endpoint, { platformId, deviceId }, tag);
    },
  );

async function callAsApp(
  { profile, signal }: Session,
  endpoint: 'reg' | 'ureg',
  device: DeviceName,
  tags: readonly string[],
): Promise<Outcome> {
  const { app, url: baseUrl } = profile;
  if (app === null) {
    throw new UsageError("the profile has no app's token: profile add with --app-token-file");
  }
  const { ids, sourceIds } = readNames(tags);
  const tagcast = new TagcastClient({ baseUrl, token: app.token });
  const { headers } = await tagcast.request('POST', `/push-api/${endpoint}`, {
    body: {
      appId: app.id,
      ...device,
      ...(ids === undefined ? {} : { tagId: ids }),
      ...(sourceIds === undefined ? {} : { tagSourceId: sourceIds }),
    },
    signal,
  });
  // Apps are answered OK, whatever they ask for; what was not used is in this header.
  const ignored = headers.get('tagcast-ignored');
  return {
    value: { ignored: ignored === null ? [] : ignored.split(', ') },
    text: ignored === null ? 'OK' : `Not used, because it is wrong or unknown: ${ignored}`,
    exitCode: ignored === null ? 0 : EXIT_FAILED,
  };
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

function describe(device: LookedUpDevice): string {
  const { registered, registeredAt, tags = [], pending = [], events, expected } = device;
  const { unsubscribedAt, refusals = 0, refusedAt, environment } = device;
  return [
    registered ? `registered ${timeOf(registeredAt ?? 0)}` : 'not registered any more',
    ...ATTRIBUTES.flatMap(([name, { label }]) => {
      const value = device[name];
      return value === undefined ? [] : `${label}: ${visibleField(value)}`;
    }),
    ...(unsubscribedAt === undefined ? [] : [`unsubscribed ${timeOf(unsubscribedAt)}`]),
    ...(refusals === 0
      ? []
      : [`refused by ${counted(refusals, 'send')}, the last one ${timeOf(refusedAt ?? 0)}`]),
    ...(environment === undefined
      ? []
      : [`taken by its provider's environment ${visibleField(environment)}`]),
    ...tags.map(({ id, name, sourceId }) => tableRow(`tag #${id}`, sourceId ?? '–', name)),
    ...pending.map(({ notificationId, kind, reason = '' }) =>
      tableRow('pending', notificationId, kind, reason),
    ),
    ...events.map(({ kind, at, notificationId = '–', reason }) =>
      tableRow(kind, timeOf(at), notificationId, reason),
    ),
    ...(expected ?? []).map(({ notificationId, outcome, title = '', reason = '' }) =>
      tableRow('push', notificationId, outcome, title, reason),
    ),
  ].join('\n');
}
