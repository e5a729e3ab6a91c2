/** `POST …/notifications/<id>/{cancel,pause,resume}`: what becomes of a push job from now on. */

import { recordChange } from '../../audit/record-change.ts';
import { shareClient } from '../../clients/lock-client.ts';
import type { SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { Caller } from '../../domain/caller.ts';
import { publisherOf } from '../../domain/caller.ts';
import type { NotificationState } from '../../domain/notification.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { json } from '../../http/json-body.ts';
import { problem } from '../../http/problem.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import type { Order } from '../sql/ledger/change-state.ts';
import { changeState } from '../sql/ledger/change-state.ts';
import { jobIdOf, unknownJob } from './job.ts';

/** As their paths name them. */
export const ORDERS: readonly Order[] = ['cancel', 'pause', 'resume'];

interface ControlParts {
  readonly sql: SqlPool;
  readonly journal: Pick<JobJournal, 'ended'>;
}

/** Durable when answered; repeated, it changes nothing. */
export async function controlJob(
  { sql, journal }: ControlParts,
  order: Order,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const id = jobIdOf(request);
  if (id === null) return unknownJob(request);
  const done = await transact(sql, async (tx) => {
    await shareClient(tx, caller.clientId);
    const obedience = await changeState(tx, caller.clientId, id, publisherOf(caller), order);
    if (obedience?.isChanged) {
      const change = { action: `notification.${order}`, id, name: null } as const;
      await recordChange(tx, originOf(request, caller), change);
    }
    return obedience;
  });
  if (done === null) return unknownJob(request);
  journal.ended(done.ended);
  const { isObeyed, state } = done;
  return isObeyed ? json({ id, state }) : tooLate(request, state, `be ${PAST[order]}`);
}

const PAST: Readonly<Record<Order, string>> = {
  cancel: 'cancelled',
  pause: 'paused',
  resume: 'resumed',
};

/** 409. `what` cannot be any more. */
export const tooLate = (
  request: HttpRequest,
  state: NotificationState,
  what: string,
): HttpResponse =>
  problem(request.requestId, 409, `This push job is ${state}: it cannot ${what} any more.`);
