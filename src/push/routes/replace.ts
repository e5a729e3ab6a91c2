/** `POST …/notifications/<id>/replace`: a push in the place of a job that has not begun. */

import { createHash } from 'node:crypto';
import { recordChange } from '../../audit/record-change.ts';
import { shareClient } from '../../clients/lock-client.ts';
import type { Sql } from '../../database/sql.ts';
import { publisherOf } from '../../domain/caller.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { ApiRoute } from '../../http/handler.ts';
import { answerRefusal, refused } from '../../http/result.ts';
import type { Accept } from '../accept/accept.ts';
import type { Publisher } from '../accept/new-notification.ts';
import { tooLate } from './control.ts';
import { JOBS_PATH, jobPath, NO_JOB } from './job.ts';
import {
  ACCEPTED_ANSWERS,
  acceptanceAnswer,
  confirmWithPlace,
  idempotentBy,
  submission,
  submitted,
} from './push.ts';
import { PUSH, pushRequest } from './push-schemas.ts';

export const replaceRoute = (accept: Accept, sql: Sql): ApiRoute => ({
  ...submission,
  operation: 'replaceNotification',
  document: {
    summary: 'Replace a push job that has not begun',
    description: `Accepts this push and cancels the job, both or neither: nobody gets both or none of them, whatever the moment. The body is that of \`createNotification\`, whole, since nothing of the job is kept but a pause: one that was paused stays paused. The new job has an id of its own.

- \`409\`, with the state: the job has begun to be sent, or has ended. Nothing is changed.
- \`409\` also for a retry or a correction, whose devices a push cannot name: cancel it, and retry or correct again with the payload.
- \`dryRun\` counts the devices, and changes nothing.
- With an \`Idempotency-Key\`, a request whose answer was lost can be repeated; without one, the second answer is \`409\`, since the job is cancelled already.
- It is allowed also where the client has as many open jobs as it may: their number stays.`,
    headers: idempotentBy('correction-1'),
    path: jobPath,
    body: { schema: pushRequest, example: PUSH },
    answers: ACCEPTED_ANSWERS,
    problems: [400, 404, 409, 422],
  },
  path: `${JOBS_PATH}/:id/replace`,
  handle: async (request, caller) => {
    const id = jobPath.id.read(request.params['id'] ?? '');
    if (id === null) return answerRefusal(request, NO_JOB);
    return await submitted(accept, sql, request, caller, async (push, publisher, pastFaults) => {
      const replacement = await accept.replace(push, replacing(publisher, id), pastFaults, {
        id,
        publisher: publisherOf(caller),
        hold: (tx) => shareClient(tx, caller.clientId),
        record: async (tx, by) => {
          const change = {
            action: 'notification.replace',
            id,
            name: null,
            detail: { by },
          } as const;
          await recordChange(tx, originOf(request, caller), change);
        },
      });
      switch (replacement.kind) {
        case 'unknown':
          return NO_JOB;
        case 'retry':
          return refused(409, IS_RETRY);
        case 'begun':
          return tooLate(replacement.state, 'be replaced');
        default:
          return acceptanceAnswer(request, replacement, confirmWithPlace(caller));
      }
    });
  },
});

const IS_RETRY =
  'This push job is a retry or a correction, and a push in its place would go to others than that: cancel it, and retry again with the payload, or correct again.';

/** A repeated request replaces the same job: its idempotency key is not good for another. */
function replacing(publisher: Publisher, id: string): Publisher {
  const { idempotency } = publisher;
  if (idempotency === null) return publisher;
  const bodyHash = createHash('sha256').update(id).update(idempotency.bodyHash).digest();
  return { ...publisher, idempotency: { ...idempotency, bodyHash } };
}
