/** `POST …/notifications/<id>/{cancel,pause,resume}`: what becomes of a push job from now on. */

import { z } from 'zod';
import { recordChange } from '../../audit/record-change.ts';
import { shareClient } from '../../clients/lock-client.ts';
import type { SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { publisherOf } from '../../domain/caller.ts';
import type { NotificationState } from '../../domain/notification.ts';
import { shown } from '../../http/answers.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { Route } from '../../http/handler.ts';
import { state } from '../../http/openapi/parts.ts';
import type { Refusal } from '../../http/result.ts';
import { done, refused } from '../../http/result.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import type { Order } from '../sql/ledger/change-state.ts';
import { changeState } from '../sql/ledger/change-state.ts';
import { jobId, jobPath, NO_JOB, sends } from './job.ts';
import { JOB_ID } from './push-schemas.ts';

interface ControlParts {
  readonly sql: SqlPool;
  readonly journal: Pick<JobJournal, 'ended'>;
}

export const controlRoutes = (parts: ControlParts): readonly Route[] => [
  controlRoute(parts, 'cancel', 'Cancel a push job', 'CANCELLED'),
  controlRoute(parts, 'pause', 'Pause a push job', 'PAUSED'),
  controlRoute(parts, 'resume', 'Resume a push job', 'QUEUED'),
];

const controlRoute = (
  { sql, journal }: ControlParts,
  order: Order,
  summary: string,
  becomes: NotificationState,
) =>
  sends.post(
    `${order}Notification`,
    {
      at: `:id/${order}`,
      summary,
      description: `${MEANINGS[order]} Durable when it is answered, and obeyed within a second on every node; repeated, it changes nothing. A job that has ended takes no order: \`409\`, with its state.`,
      path: jobPath,
      answer: shown('Done.', z.object({ id: jobId, state }), { id: JOB_ID, state: becomes }),
      problems: [409],
    },
    async ({ caller, path: { id }, request }) => {
      const ordered = await transact(sql, async (tx) => {
        await shareClient(tx, caller.clientId);
        const obedience = await changeState(tx, caller.clientId, id, publisherOf(caller), order);
        if (obedience?.isChanged) {
          const change = { action: `notification.${order}`, id, name: null } as const;
          await recordChange(tx, originOf(request, caller), change);
        }
        return obedience;
      });
      if (ordered === null) return NO_JOB;
      journal.ended(ordered.ended);
      const { isObeyed, state } = ordered;
      return isObeyed ? done({ id, state }) : tooLate(state, `be ${PAST[order]}`);
    },
  );

const MEANINGS: Readonly<Record<Order, string>> = {
  cancel:
    'Nothing more is handed to a provider; what was handed over before is awaited and counted. Who does not have it counts in `cancelledCount`. The state is `CANCELLED` at once; `finishedAt` is there when all are counted, seconds later for a million. A job that was cancelled before it began was for nobody: its counts are 0. A cancelled job cannot be paused or resumed.',
  pause:
    'Nothing more is handed to a provider; what was handed over before is awaited and counted. A job that is not due, or waits for its turn, does not begin while it is paused. It waits until somebody resumes or cancels it.',
  resume:
    'Devices that have the push are not sent to again. When the time of the job has come meanwhile, it begins now. `expiresAt` and `ttl` went on: what is late is `expired`.',
};

const PAST: Readonly<Record<Order, string>> = {
  cancel: 'cancelled',
  pause: 'paused',
  resume: 'resumed',
};

/** 409. `what` cannot be any more. */
export const tooLate = (state: NotificationState, what: string): Refusal =>
  refused(409, `This push job is ${state}: it cannot ${what} any more.`);
