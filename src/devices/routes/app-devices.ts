/** `apps/<id>/devices/lookup` and `…/erase`. A deviceId is long and private: never in a path. */

import { z } from 'zod';
import { findOwnApp } from '../../catalogue/routes/own-app.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { publisherOf, seesPersonal } from '../../domain/caller.ts';
import type { Scope } from '../../domain/device.ts';
import type { ExpectedSend, SendsToList } from '../../domain/expected-send.ts';
import { secret, shown } from '../../http/answers.ts';
import { originOf } from '../../http/audit-origin.ts';
import { deviceId } from '../../http/device-id-form.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { id as idForm } from '../../http/id-form.ts';
import { count, epochMs, id, orAbsent, state, word } from '../../http/openapi/parts.ts';
import { pathId } from '../../http/parameters.ts';
import type { Result } from '../../http/result.ts';
import { done, refuse, refused } from '../../http/result.ts';
import type { Asked } from '../../http/route.ts';
import { routesAt } from '../../http/route.ts';
import { strictForm } from '../../std/strict-form.ts';
import type { Eraser } from '../erase-device.ts';
import { withoutIds } from '../hide-sends.ts';
import type { DeviceRef } from '../operation.ts';
import { deviceRef } from '../operation.ts';
import { attributesByName } from '../sql/known-attributes.ts';
import type { DeviceEvent } from '../sql/list-events.ts';
import { DEVICE_EVENT_KINDS, listDeviceEvents } from '../sql/list-events.ts';
import type { DeviceDetails, PendingOutcome } from '../sql/read-device.ts';
import { listPendingOutcomes, readDevice } from '../sql/read-device.ts';
import { attributeValues, knownAttributeFields, knownFactFields } from './attribute-forms.ts';

export interface AppDeviceParts {
  readonly sql: Sql;
  readonly patientReads: PatientReads;
  /** Erases the device, in the database and in the index. Null: there is none. */
  readonly eraseDevice: Eraser;
  /** The newest sends to the app and platform whose audience a device with these tags is in. */
  readonly listExpectedSends: (
    sql: Sql,
    clientId: number,
    scope: Scope,
    tagIds: readonly number[],
    asked: SendsToList,
  ) => Promise<readonly ExpectedSend[]>;
  /** Those of these jobs that test a personal attribute: its value shows in who got them. */
  readonly personalJobs: (
    sql: Sql,
    clientId: number,
    notificationIds: readonly string[],
  ) => Promise<ReadonlySet<string>>;
}

const deviceForm = strictForm({ platformId: idForm, deviceId });

const text = z.string();
const device = z.object({
  deviceId: text,
  registeredAt: epochMs.meta({
    description:
      'It may be a day too early: a registration that changes nothing is not written again within a day.',
  }),
  ...knownAttributeFields,
  ...knownFactFields,
  attributes: attributeValues.optional().meta({
    description:
      'Its attributes by their names; absent: it has none. Personal ones only for the super user and owners.',
  }),
  tags: z.array(z.object({ id, name: text, sourceId: orAbsent(text) })),
});
const notificationId = z.uuid();
const pending = z.object({
  notificationId,
  kind: z.enum(['retry', 'dead', 'refused']).meta({
    description:
      'A retry that is due; or that the provider called it dead or refused it, until that is carried out.',
  }),
  reason: orAbsent(text),
  attempts: orAbsent(count),
  dueAt: orAbsent(epochMs),
  held: orAbsent(z.literal(true).meta({ description: 'An operator decides.' })),
});
const event = z.object({
  kind: word(DEVICE_EVENT_KINDS).meta({
    description:
      'A send that failed, with the provider’s reason; that it was removed, because its provider called it dead or refused it again and again; that its token was replaced by another one.',
  }),
  at: epochMs,
  notificationId: orAbsent(notificationId),
  reason: text,
});
const expected = z.object({
  notificationId,
  title: orAbsent(text),
  state,
  sendAt: epochMs,
  lastSendAt: orAbsent(epochMs),
  outcome: z.enum(['failed', 'pending', 'accepted', 'unknown']).meta({
    description:
      '`failed` and `pending` are recorded. `accepted`: the send has ended, every device that failed is kept, and this one is not among them; none was skipped, expired or cancelled. So the provider accepted it, if the device had these tags then. `unknown`: anything else; also when the device was removed or replaced since.',
  }),
  reason: text.optional(),
  at: epochMs.optional(),
});
/** One that is gone has its deviceId and events only. */
const lookedUp = z
  .object({
    ...device.partial().shape,
    deviceId: text,
    registered: z.boolean(),
    pending: z.array(pending).optional(),
    events: z.array(event).meta({
      description:
        'What went wrong, newest first, of 30 days. Sends that were accepted leave nothing. Of a send that fails for very many devices 1,000 of each app and platform are kept, and of each part of it the first 100.',
    }),
    expected: z.array(expected).optional().meta({
      description:
        'The newest sends, 50 at most, of 30 days, among the newest 10,000 of the client (of a limited key: its own), whose audience it is in with its tags of now. Sends that test personal attributes only for the super user and owners; so too in `pending`, and their ids in `events`. One that it subscribed to later is there too; one that it has unsubscribed from since is not.',
    }),
  })
  .meta({ id: 'LookedUpDevice' });
const erased = z.object({ erased: z.boolean(), ...device.partial().shape });
const DEVICE_ID = 'cd'.repeat(32);
const DEVICE = {
  deviceId: DEVICE_ID,
  registeredAt: 1_795_392_000_000,
  attributes: { language: 'de-CH' },
  tags: [{ id: 2, name: 'Breaking news', sourceId: 'breaking-news' }],
  refusals: 0,
};

/** @limit pending outcomes in a look-up of a device → the newest */
const PENDING_MAX = 100;
/** @limit events in a look-up of a device → the newest */
const EVENTS_MAX = 100;
/** @limit expected sends in a look-up of a device → the newest */
const EXPECTED_MAX = 50;
/** @limit age of the expected sends in a look-up of a device → left out */
const EXPECTED_MS_MAX = 30 * 86_400_000;

const PATH = '/push-admin-api/v3/:client/apps/:id/devices';
const path = { id: pathId('app', 1) };
const body = form(deviceForm, { platformId: 3, deviceId: DEVICE_ID });

export const appDeviceRoutes = (parts: AppDeviceParts): readonly Route[] => [
  lookUpRoute(parts),
  eraseRoute(parts),
];

const lookUpRoute = (parts: AppDeviceParts) =>
  routesAt(PATH, { api: 'admin', needs: 'read' }).post(
    'lookUpDevice',
    {
      at: 'lookup',
      summary: 'Read all that is known of a device',
      description:
        'A deviceId is long and private, so it is in the body. A device that is gone, but has events, is answered with `registered` false, `deviceId` and `events`: so a look-up shows why. `404`: nothing is known.',
      path,
      body,
      answer: secret(
        shown('The device, and what is known of sends to it.', lookedUp, {
          registered: true,
          ...DEVICE,
          pending: [],
          events: [],
          expected: [],
        }),
      ),
    },
    onDevice(parts.sql, (key, { caller }) => lookUp(parts, caller, key)),
  );

const eraseRoute = ({ sql, eraseDevice }: AppDeviceParts) =>
  routesAt(PATH, { api: 'admin', needs: 'admin' }).post(
    'eraseDevice',
    {
      at: 'erase',
      summary: 'Erase a device with its subscriptions',
      description:
        'The answer is the proof: all that was removed; its events go too, and it is no test device any more. Events that a webhook received of it stay among its deliveries, for 7 days at most. A device that registers again is a new one. Not for keys that are limited to tags or groups: `403`.',
      path,
      body,
      answer: secret(
        shown(
          'What was removed; only `erased` when there was nothing, `deviceId` too when only its events were there.',
          erased,
          { erased: true, ...DEVICE },
        ),
      ),
    },
    onDevice(sql, async (key, { request, caller }) => {
      const gone = await eraseDevice(key, originOf(request, caller));
      if (gone === null) return done({ erased: false });
      // If the device was gone already, only its events were there.
      const device = gone.device === null ? null : shownDevice(gone.device, caller);
      return done({ erased: true, ...(device ?? { deviceId: key.deviceId }) });
    }),
  );

/** A handler for the device that the body names, on a platform of the caller's app. */
const onDevice =
  <Value>(sql: Sql, handle: (device: DeviceRef, asked: Asked<Caller>) => Promise<Result<Value>>) =>
  async (
    asked: Asked<Caller, { readonly id: number }, unknown, z.infer<typeof deviceForm>>,
  ): Promise<Result<Value>> => {
    const own = await findOwnApp(sql, asked.caller, asked.path.id);
    if (!own.ok) return own;
    const { platformId, deviceId } = asked.body;
    const { id: appId, platformIds } = own.value;
    if (platformIds.includes(platformId)) {
      return handle(deviceRef(appId, platformId, deviceId), asked);
    }
    const message = `must be one that the app is on: ${platformIds.join(', ')}`;
    return refuse.invalid([{ path: 'platformId', message }]);
  };

async function lookUp(
  { patientReads, listExpectedSends, personalJobs }: AppDeviceParts,
  caller: Caller,
  key: DeviceRef,
) {
  const { clientId } = caller;
  const { deviceId } = key;
  const read = await patientReads.run(clientId, async (patient) => {
    const known = await readDevice(patient, key);
    const events = await listDeviceEvents(patient, key, EVENTS_MAX);
    const hiddenIn = (ids: readonly string[]) =>
      seesPersonal(caller) ? new Set<string>() : personalJobs(patient, clientId, ids);
    const ofEvents = await hiddenIn(events.flatMap(({ notificationId }) => notificationId ?? []));
    const shownEvents = withoutIds(events, ofEvents);
    if (known === null) {
      // It is not known whether it was ever there, or it was, and the events say why it is not.
      return events.length === 0 ? null : { deviceId, registered: false, events: shownEvents };
    }
    const { ordinal } = known;
    const owed = await listPendingOutcomes(patient, clientId, { ...key, ordinal }, PENDING_MAX);
    const tagIds = known.tags.map((tag) => tag.id);
    const sends = await listExpectedSends(patient, clientId, key, tagIds, {
      sinceMs: Date.now() - EXPECTED_MS_MAX,
      limit: EXPECTED_MAX,
      publisher: publisherOf(caller),
      ordinal,
    });
    const hidden = await hiddenIn([...owed, ...sends].map(({ notificationId }) => notificationId));
    const isShown = ({ notificationId }: { readonly notificationId: string }): boolean =>
      !hidden.has(notificationId);
    return {
      registered: true,
      ...shownDevice(known, caller),
      pending: owed.filter(isShown),
      events: shownEvents,
      expected: sends.filter(isShown).map((send) => expectedShown(send, owed, events)),
    };
  });
  if (read.kind === 'busy') return refuse.tooMuchCounted;
  return read.result === null
    ? refused(404, 'This app has no such device on this platform.')
    : done(read.result);
}

function shownDevice({ attributes, ...device }: DeviceDetails, caller: Caller) {
  if (attributes.length === 0) return device;
  const withPersonal = seesPersonal(caller);
  return { ...device, attributes: attributesByName(attributes, { withPersonal }) };
}

/** A send that a device with its tags of now is in the audience of. */
function expectedShown(
  { sendAtMs, lastSendAtMs, isWholeKnown, ...send }: ExpectedSend,
  owed: readonly PendingOutcome[],
  events: readonly DeviceEvent[],
) {
  const isOf = (one: { readonly notificationId: string | null }): boolean =>
    one.notificationId === send.notificationId;
  const failure = events.find((one) => one.kind === 'failed' && isOf(one));
  const common = { ...send, sendAt: sendAtMs, lastSendAt: lastSendAtMs };
  if (failure !== undefined) {
    return { ...common, outcome: 'failed', reason: failure.reason, at: failure.at } as const;
  }
  if (owed.some((one) => one.kind === 'retry' && isOf(one))) {
    return { ...common, outcome: 'pending' } as const;
  }
  // It has come again since: its tags of then are not known.
  const hasGone = events.some(({ kind, at }) => kind !== 'failed' && at >= sendAtMs);
  return { ...common, outcome: isWholeKnown && !hasGone ? 'accepted' : 'unknown' } as const;
}
