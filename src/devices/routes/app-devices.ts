/**
 * `apps/<id>/devices/lookup` and `…/erase`: what is known of a device, and its end. A deviceId is
 * long and private, so it is never in a path.
 */

import { z } from 'zod';
import { ownApp } from '../../catalogue/routes/own-app.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { publisherOf } from '../../domain/caller.ts';
import type { Scope } from '../../domain/device.ts';
import { DEVICE_ID_LENGTH_MAX, isDeviceId } from '../../domain/device.ts';
import { knownAttributes } from '../../domain/device-attributes.ts';
import type { ExpectedSend, SendsToList } from '../../domain/expected-send.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { id } from '../../http/id-form.ts';
import { invalid, json, readJsonBody } from '../../http/json-body.ts';
import { problem } from '../../http/problem.ts';
import { tooMuchCounted } from '../../http/too-much-counted.ts';
import { withSecret } from '../../http/with-secret.ts';
import { strictForm } from '../../std/strict-form.ts';
import type { Eraser } from '../erase-device.ts';
import type { DeviceRef } from '../operation.ts';
import { deviceRef } from '../operation.ts';
import type { DeviceEvent } from '../sql/list-events.ts';
import { listDeviceEvents } from '../sql/list-events.ts';
import type { DeviceDetails, PendingOutcome } from '../sql/read-device.ts';
import { listPendingOutcomes, readDevice } from '../sql/read-device.ts';

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
}

const DEVICE_ID = `must be a string of 1–${DEVICE_ID_LENGTH_MAX} characters, without NUL`;
export const deviceForm = strictForm({
  platformId: id,
  deviceId: z.custom<string>(isDeviceId, DEVICE_ID),
});

/**
 * Of one device: sends of which it is still owed something, the newest.
 * @limit pending outcomes that it tells → the newest
 */
const PENDING_MAX = 100;
/**
 * Of one device: what is recorded of it, the newest.
 * @limit events that a look-up of a device tells → the newest
 */
const EVENTS_MAX = 100;
/**
 * Of one device: sends that are expected to have reached it, the newest of these days.
 * @limit expected sends that it tells → the newest
 */
const EXPECTED_MAX = 50;
/** @limit age of the expected sends that a look-up of a device tells → not told */
const EXPECTED_MS_MAX = 30 * 86_400_000;

/** Both take the same body. */
export function appDeviceRoutes(parts: AppDeviceParts): readonly ApiRoute[] {
  const path = '/push-admin-api/v3/:client/apps/:id/devices';
  const shared = { api: 'admin', method: 'POST', bodyBytesMax: BODY_BYTES_MAX } as const;
  return [
    {
      ...shared,
      operation: 'lookUpDevice',
      needs: 'read',
      path: `${path}/lookup`,
      handle: (request, caller) =>
        withDevice(parts.sql, request, caller, (device) => lookUp(parts, request, caller, device)),
    },
    {
      ...shared,
      operation: 'eraseDevice',
      needs: 'admin',
      path: `${path}/erase`,
      handle: (request, caller) =>
        withDevice(parts.sql, request, caller, async (device) => {
          const erased = await parts.eraseDevice(device, originOf(request, caller));
          if (erased === null) return json({ erased: false });
          // Of a device that was gone already, only its events were there.
          const was = erased.device === null ? { deviceId: device.deviceId } : shown(erased.device);
          return json({ erased: true, ...was });
        }),
    },
  ];
}

/** The device that the body names, on a platform of the caller's app. */
async function withDevice(
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
  answer: (device: DeviceRef) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const own = await ownApp(sql, request, caller);
  if (!own.ok) return own.response;
  const read = readJsonBody(request, deviceForm);
  if (!read.ok) return read.response;
  const { platformId, deviceId } = read.value;
  const { id: appId, platformIds } = own.app;
  if (!platformIds.includes(platformId)) {
    const message = `must be one that the app is on: ${platformIds.join(', ')}`;
    return invalid(request, [{ path: 'platformId', message }]);
  }
  return withSecret(await answer(deviceRef(appId, platformId, deviceId)));
}

async function lookUp(
  { patientReads, listExpectedSends }: AppDeviceParts,
  request: HttpRequest,
  caller: Caller,
  key: DeviceRef,
): Promise<HttpResponse> {
  const { clientId } = caller;
  const read = await patientReads.run(clientId, async (patient) => {
    const device = await readDevice(patient, key);
    const events = await listDeviceEvents(patient, key, EVENTS_MAX);
    const told = events.map(eventShown);
    if (device === null) {
      // Nobody knows whether it was ever there, or it was, and why it is not.
      return events.length === 0
        ? null
        : { deviceId: key.deviceId, registered: false, events: told };
    }
    const { ordinal } = device;
    const pending = await listPendingOutcomes(patient, clientId, { ...key, ordinal }, PENDING_MAX);
    const tagIds = device.tags.map((tag) => tag.id);
    const sends = await listExpectedSends(patient, clientId, key, tagIds, {
      sinceMs: Date.now() - EXPECTED_MS_MAX,
      limit: EXPECTED_MAX,
      publisher: publisherOf(caller),
    });
    return {
      registered: true,
      ...shown(device),
      pending: pending.map(pendingShown),
      events: told,
      expected: sends.map((send) => expectedShown(send, pending, events)),
    };
  });
  if (read.kind === 'busy') return tooMuchCounted(request);
  return read.result === null
    ? problem(request.requestId, 404, 'This app has no such device on this platform.')
    : json(read.result);
}

/** What a device does not have is left out. */
const shown = (device: DeviceDetails) => ({
  deviceId: device.deviceId,
  registeredAt: device.registeredAtMs,
  unsubscribedAt: device.unsubscribedAtMs ?? undefined,
  ...knownAttributes(device),
  tags: device.tags.map(({ id: tagId, name, sourceId }) => ({
    id: tagId,
    name,
    sourceId: sourceId ?? undefined,
  })),
  refusals: device.refusals,
  refusedAt: device.refusedAtMs ?? undefined,
  environment: device.environment ?? undefined,
});

const pendingShown = (pending: PendingOutcome) => ({
  notificationId: pending.notificationId,
  kind: pending.kind,
  reason: pending.reason ?? undefined,
  attempts: pending.attempts ?? undefined,
  dueAt: pending.dueAtMs ?? undefined,
  held: pending.isHeld || undefined,
});

const eventShown = ({ kind, atMs, notificationId, reason }: DeviceEvent) => ({
  kind,
  at: atMs,
  notificationId: notificationId ?? undefined,
  reason,
});

/** A send that a device with its tags of now is in the audience of. */
function expectedShown(
  { notificationId, title, state, sendAtMs, lastSendAtMs, isWholeKnown }: ExpectedSend,
  pending: readonly PendingOutcome[],
  events: readonly DeviceEvent[],
) {
  const isOf = (one: { readonly notificationId: string | null }): boolean =>
    one.notificationId === notificationId;
  const failure = events.find((event) => event.kind === 'failed' && isOf(event));
  const common = {
    notificationId,
    title: title ?? undefined,
    state,
    sendAt: sendAtMs,
    lastSendAt: lastSendAtMs ?? undefined,
  };
  if (failure !== undefined) {
    return { ...common, outcome: 'failed', reason: failure.reason, at: failure.atMs };
  }
  if (pending.some((one) => one.kind === 'retry' && isOf(one))) {
    return { ...common, outcome: 'pending' };
  }
  // It has come again since: nobody knows which tags it had then.
  const hasGone = events.some(({ kind, atMs }) => kind !== 'failed' && atMs >= sendAtMs);
  return { ...common, outcome: isWholeKnown && !hasGone ? 'accepted' : 'unknown' };
}
