/** `tagcast explain`: why a device got, or did not get, a push. */

import type { DeviceExplanation } from '../../../packages/client/src/openapi.ts';
import { tableRow, visibleField } from '../../std/visible-text.ts';
import { readPlatform, required, UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { ONLY, verb } from '../command.ts';
import { appIdOf, DEVICE_FLAGS } from './device-flags.ts';
import type { PublisherContext, Session, Work } from './publisher-command.ts';
import { publisherCommand } from './publisher-command.ts';

export const explainCommand = (context: PublisherContext): Command =>
  publisherCommand(context, {
    name: 'explain',
    notes:
      'It goes by the tags and attributes that the device has now: what it had when the push was sent is not kept.',
    verbs: {
      [ONLY]: verb(
        {
          summary: 'Explains why a device got, or did not get, a push, or is in an audience.',
          arguments: ['device-id'],
          flags: {
            notification: { type: 'string', value: 'job', about: 'the push' },
            audience: {
              type: 'string',
              value: 'expression',
              about: "an audience in place of a push: 'news && @language = de'",
            },
            ...DEVICE_FLAGS,
          },
        },
        ({ 'device-id': deviceId }, { platform, app, notification, audience }): Work => {
          const platformId = readPlatform(required('platform', platform));
          const asked = thingOf(notification, audience);
          return (session) =>
            tell(session, appIdOf(session, app), { platformId, deviceId, ...asked });
        },
      ),
    },
  });

type Asked = { readonly notificationId: string } | { readonly audience: string };

function thingOf(notification: string | undefined, audience: string | undefined): Asked {
  if (notification !== undefined && audience === undefined) return { notificationId: notification };
  if (notification === undefined && audience !== undefined) return { audience };
  throw new UsageError('give one of --notification and --audience');
}

async function tell(
  { tagcast, signal }: Session,
  appId: number,
  body: Asked & { readonly platformId: number; readonly deviceId: string },
) {
  const path = '/push-admin-api/v3/{client}/apps/{id}/devices/explain';
  const answer = await tagcast.request('POST', path, { path: { id: appId }, body, signal });
  return { value: answer.body, text: describe(answer.body) };
}

function describe(explanation: DeviceExplanation): string {
  const { known, inAudience, because, reached, withheld, wave, state, fault } = explanation;
  const { simulated, lastEvents } = explanation;
  return [
    known ? 'The device is registered.' : 'The device is not registered.',
    ...(known ? [inAudience ? 'It is in the audience.' : 'It is not in the audience.'] : []),
    ...because.map(
      ({ kind, operand, value, held }) =>
        LIMITS[kind] ??
        tableRow(held ? 'holds' : 'fails', operand, value === undefined ? '–' : String(value)),
    ),
    ...(state === undefined ? [] : [`The push for its app and platform: ${state}`]),
    ...(fault === undefined ? [] : [visibleField(fault)]),
    ...(simulated ? ['A simulator stood in for the provider: no phone got it.'] : []),
    ...(withheld === undefined ? [] : [describeWithheld(withheld)]),
    ...(wave === undefined ? [] : [waveLine(wave)]),
    ...(reached === undefined ? [] : [REACHED[String(reached)] ?? '']),
    ...lastEvents.map(({ kind, at, notificationId = '–', reason = '' }) =>
      tableRow(kind, new Date(at).toISOString(), notificationId, reason),
    ),
  ].join('\n');
}

function describeWithheld({ category, cap }: NonNullable<DeviceExplanation['withheld']>): string {
  const which =
    cap === undefined
      ? ''
      : ` (${cap.max} in ${cap.per}${cap.of === 'all' ? ' of all pushes' : ''})`;
  return `It was left out: it had as many pushes as a cap of the category ${visibleField(category)} allows${which}.`;
}

const waveLine = ({ at, zone, isSkipped }: NonNullable<DeviceExplanation['wave']>): string =>
  `The wave of its time zone (${zone ?? 'none'}): ${new Date(at).toISOString()}${isSkipped ? ', which had passed when the push was accepted' : ''}`;

/** Limits of the send, by their kinds. For the other kinds the operand itself is shown. */
const LIMITS: Readonly<Record<string, string>> = {
  registered: 'It registered after the push was planned.',
  planned: 'When the push was planned, nobody of this app and platform was in its audience.',
  'reached-before':
    'The push is a retry, and left the device out: it has the message already, or may have.',
  'not-reached':
    'The push is a correction, and went to those who have the corrected message: not this device.',
};

const REACHED: Readonly<Record<string, string>> = {
  true: 'Its provider accepted the message, or may have.',
  false: 'The message has not reached it.',
  unknown: 'Nobody knows yet, or any more, whether the message has reached it.',
  gone: 'Whom the push has reached is not kept any more.',
};
