/** `POST …/notifications/<id>/correct`: another text in the place of one that was sent. */

import { z } from 'zod';
import { changedNumbers } from '../../../packages/std/src/json-numbers.ts';
import { givenPayload } from '../../domain/payload.ts';
import { isPassedOnIn } from '../../domain/payload-digits.ts';
import type { ApiRoute } from '../../http/handler.ts';
import { parseObject } from '../../http/json-body.ts';
import { LenientReader } from '../../http/lenient.ts';
import { jsonAnswer } from '../../http/openapi/parts.ts';
import { answerRefusal } from '../../http/result.ts';
import type { CorrectionRouteParts, ReadDeed } from './correction-answer.ts';
import { correctionAnswer } from './correction-answer.ts';
import { JOBS_PATH, jobId, jobPath } from './job.ts';
import { payloadOrText } from './payload-schema.ts';
import { idempotentBy, submission } from './push.ts';
import { asSentence, payloadOf, unknownFieldFaults } from './push-request.ts';
import { JOB_ID } from './push-schemas.ts';

const ALERTS = ['quiet', 'again'] as const;
const RESTS = ['corrected', 'stop', 'original'] as const;
const FIELDS = ['payload', 'alert', 'rest'] as const;

const correctRequest = z
  .object({
    payload: payloadOrText.meta({
      description:
        'The whole new message. It takes the place of the one that is shown, so `collapseId` is that of the job, and `present.replaceable` is true, whatever is written.',
    }),
    alert: z.enum(ALERTS).nullish().meta({
      description:
        '`quiet`, the default: no sound, and `present.interruption` is `passive`. `again`: as the payload says. On Android 8 and later the channel decides: for a quiet one name a channel of low importance.',
    }),
    rest: z.enum(RESTS).nullish().meta({
      description:
        'What becomes of the devices that the job is not sent to yet. `corrected`, the default: it is cancelled, and they get the new message. `stop`: it is cancelled, and they get nothing. `original`: it goes on, they get the earlier message, and then the new one.',
    }),
  })
  .meta({ id: 'CorrectRequest' });
const corrected = z
  .object({
    id: jobId.meta({ description: 'The id of the new push job.' }),
    corrects: jobId.meta({
      description: 'The job that was sent first. A correction of a correction has the same one.',
    }),
  })
  .meta({ id: 'Correction' });

export const correctRoute = (parts: CorrectionRouteParts): ApiRoute => ({
  ...submission,
  operation: 'correctNotification',
  document: {
    summary: 'Replace the text of a push job on the devices that it has reached',
    description: `A new, urgent job to the \`reach\` of the job: whose provider has accepted the message, and those of unknown outcome, also who has unsubscribed or moved to another tag since. What is still to be sent of the job is cancelled in the same transaction, and gets the new message from the new job: the two together send it once to each device of the audience. The new job waits until the last send of the old one has its answer.

Each message has \`replaces\`, the id of the job that was sent first, beside \`pushId\`, and the identity of that: it takes the place of the one that is shown. A reader who has dismissed that one sees the new one. The job's retries, and earlier corrections, are of one chain with it: all devices that have a message of the chain get the new one. A device that was erased since is \`skipped\`; one that registered under a new token is a new device, and gets nothing.

It takes over \`delivery\` and \`ratePerSecond\` of the job, has no \`expiresAt\`, and ends an hour before the reach is removed.

- \`409\`: its alerts cannot be replaced (\`replaceable: false\`, silent, or of several \`collapseId\`s); another job of the chain is under way (the answer names it; a running correction can be corrected itself); nothing of it was sent (replace it; cancel a retry); it is at local time and time zones are to come (but for \`rest: stop\`); it reached nobody; it was retracted; parts are parked; or it was retried and corrected 16 times.
- \`410\`: its reach was removed, or is removed within an hour (\`REACH_RETENTION_DAYS\`, 7, from its first send).
- \`403\`: the job is another publisher's, and the key sees only its own; it went to apps that the key is not for; or to more devices than its \`maxDevices\`.
- \`503\`: nodes of an earlier version are at work, which would send it to everybody.`,
    headers: idempotentBy('correct-1'),
    path: jobPath,
    body: { schema: correctRequest, example: { payload: { title: 'goal!', message: '2:0' } } },
    answers: {
      202: jsonAnswer(
        'Accepted.',
        corrected,
        { id: JOB_ID, corrects: JOB_ID },
        { Location: 'Where the new job is.' },
      ),
    },
    problems: [400, 404, 409, 410, 422],
  },
  path: `${JOBS_PATH}/:id/correct`,
  handle: async (request, caller) => {
    const answer = await correctionAnswer(
      parts,
      request,
      caller,
      readCorrectRequest(request.body),
      ({ first }, id) => ({ id, corrects: first }),
    );
    return 'ok' in answer ? answerRefusal(request, answer) : answer;
  },
});

function readCorrectRequest(body: Buffer): ReadDeed {
  const parsed = parseObject(body);
  if (!parsed.ok) return parsed;
  const read = parsed.value;
  const reader = new LenientReader(read);
  const alert = reader.choice('alert', ALERTS);
  const rest = reader.choice('rest', RESTS);
  reader.faults.push(...unknownFieldFaults(read, FIELDS, 'a correction'));
  const given = givenPayload(read['payload']);
  if (!given.ok) return { ok: false, faults: [...reader.faults, ...given.faults] };
  reader.faults.push(...changedNumbers(parsed.text, isPassedOnIn('payload')).map(asSentence));
  if (reader.faults.length > 0) return { ok: false, faults: reader.faults };
  const deed = { kind: 'correct', isQuiet: alert === 'quiet', rest } as const;
  return { ok: true, deed, payload: payloadOf(given.given) };
}
