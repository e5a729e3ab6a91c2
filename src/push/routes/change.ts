/**
 * `PATCH …/notifications/<id>`: another end, priority or rate of a push job, and before it is due
 * another beginning.
 */

import { recordChange } from '../../audit/record-change.ts';
import { shareClient } from '../../clients/lock-client.ts';
import type { SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { Caller } from '../../domain/caller.ts';
import { publisherOf } from '../../domain/caller.ts';
import { CHANGEABLE_OPTIONS, pushOption, shownOptions } from '../../domain/push-options.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { invalid, json, parseObject } from '../../http/json-body.ts';
import { LenientReader } from '../../http/lenient.ts';
import type { Fault } from '../../http/problem.ts';
import type { NotificationChange } from '../sql/notifications/change-notification.ts';
import { changeNotification } from '../sql/notifications/change-notification.ts';
import { tooLate } from './control.ts';
import { jobIdOf, unknownJob } from './job.ts';
import { endFaults } from './push.ts';
import { unknownFieldFaults } from './push-request.ts';

const FIELDS = [
  'sendAt',
  'expiresAt',
  ...CHANGEABLE_OPTIONS.map((name) => pushOption(name).field),
] as const;

/** As callers name it. */
function fieldOf(name: keyof NotificationChange): string {
  switch (name) {
    case 'sendAtMs':
      return 'sendAt';
    case 'expiresAtMs':
      return 'expiresAt';
    default:
      return pushOption(name).field;
  }
}

export async function changeJob(
  sql: SqlPool,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const id = jobIdOf(request);
  if (id === null) return unknownJob(request);
  const read = readChange(request.body);
  if (!read.ok) return invalid(request, read.faults);
  const publisher = publisherOf(caller);
  const changed = await transact(sql, async (tx) => {
    await shareClient(tx, caller.clientId);
    const after = await changeNotification(tx, caller.clientId, id, publisher, read.change);
    if (after !== null && after.changed.length > 0) {
      const detail = { fields: after.changed.map(fieldOf) };
      const change = { action: 'notification.change', id, name: null, detail } as const;
      await recordChange(tx, originOf(request, caller), change);
    }
    return after;
  });
  if (changed === null) return unknownJob(request);
  const { state, sendAtMs, expiresAtMs } = changed;
  switch (changed.kind) {
    case 'ended':
      return tooLate(request, state, 'be changed');
    case 'due':
      return tooLate(request, state, 'get another sendAt');
    case 'out-of-order':
      return invalid(request, [
        {
          path: read.change.expiresAtMs === undefined ? 'sendAt' : 'expiresAt',
          message: 'expiresAt must be later than sendAt.',
        },
      ]);
    case 'changed':
      return json({
        id,
        state,
        sendAt: sendAtMs,
        ...(expiresAtMs === null ? {} : { expiresAt: expiresAtMs }),
        ...shownOptions(changed, CHANGEABLE_OPTIONS),
      });
  }
}

type Change =
  | { readonly ok: true; readonly change: NotificationChange }
  | { readonly ok: false; readonly faults: readonly Fault[] };

function readChange(body: Buffer): Change {
  const parsed = parseObject(body);
  if (!parsed.ok) return parsed;
  const read = parsed.value;
  const reader = new LenientReader(read);
  const sendAtMs = reader.time('sendAt');
  const expiresAtMs = reader.time('expiresAt');
  const options = CHANGEABLE_OPTIONS.filter((name) => reader.isGiven(pushOption(name).field)).map(
    (name) => [name, pushOption(name).read(reader)] as const,
  );
  if (read['sendAt'] === null) reader.fault('sendAt', 'must be a time.');
  reader.faults.push(...endFaults(expiresAtMs));
  reader.faults.push(...unknownFieldFaults(read, FIELDS, 'a change of a push job'));
  if (reader.faults.length > 0) return { ok: false, faults: reader.faults };
  return {
    ok: true,
    change: {
      ...(sendAtMs === null ? {} : { sendAtMs }),
      // Null takes the end away.
      ...(reader.isGiven('expiresAt') ? { expiresAtMs } : {}),
      ...Object.fromEntries(options),
    },
  };
}
