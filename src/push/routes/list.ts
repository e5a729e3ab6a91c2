/** `GET …/notifications`: the push jobs of a client, newest first, a page at a time. */

import { z } from 'zod';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { publisherOf } from '../../domain/caller.ts';
import type { NotificationState } from '../../domain/notification.ts';
import { NOTIFICATION_STATES } from '../../domain/notification.ts';
import { listed } from '../../http/answers.ts';
import type { Route } from '../../http/handler.ts';
import { rowsOf } from '../../http/list-answer.ts';
import { count, epochMs, id, orAbsent, platformId, state } from '../../http/openapi/parts.ts';
import { choice, flag, idCursor, idOf, limitOr, text, time } from '../../http/parameters.ts';
import { refuse } from '../../http/result.ts';
import { shownUserName } from '../../http/user-name.ts';
import { format } from '../../std/counted.ts';
import { groupBy } from '../../std/group-by.ts';
import type { ListedNotification } from '../sql/notifications/list-notifications.ts';
import {
  LISTED_EXPRESSION_MAX,
  LISTED_TAGS_MAX,
  listNotifications,
  SEARCHED_MAX,
} from '../sql/notifications/list-notifications.ts';
import { readEstimates, sumOfEstimates } from '../sql/notifications/read-estimates.ts';
import { countsObject } from './counts.ts';
import { jobId, reads } from './job.ts';
import { COUNTS, counts, estimatedTotalCount, JOB_ID, withheld } from './push-schemas.ts';

/**
 * internals/interface.md, "Admin API".
 * @limit jobs on a page of `notifications` that names no limit
 */
const PAGE_DEFAULT = 100;

/**
 * An estimate of a job for ten million devices reads 1,221 rows.
 * @limit running jobs of a page of `notifications` whose devices are estimated, the newest → the
 * others have no `estimatedTotalCount`
 */
const ESTIMATED_MAX = 20;

/** Fields that lists and answers about one job share; one that has not happened is left out. */
export const jobRow = {
  id: jobId,
  state,
  userName: z.string().meta({
    description:
      'Who submitted it: a credential, a key, or the e-mail address of a member. Members, the super user and keys with the scope `admin` see that address; to any other key it is `member`.',
  }),
  acceptedAt: epochMs,
  sendAt: epochMs,
  expiresAt: orAbsent(epochMs),
  firstSendAt: orAbsent(epochMs),
  lastSendAt: orAbsent(epochMs),
  finishedAt: orAbsent(epochMs),
  ...counts,
  ...withheld,
};
const tagIds = z.array(z.int());
const audience = z
  .object({
    tagIds,
    filterTagIds: tagIds,
    excludeTagIds: tagIds,
    tagCount: count.meta({ description: 'The tags of all three lists, unabridged.' }),
    expression: orAbsent(z.string()),
  })
  .meta({
    description: `The beginning of its audience: the first ${LISTED_TAGS_MAX} tags of each list, and ${LISTED_EXPRESSION_MAX} characters of its expression.`,
  });
const row = z
  .object({
    ...jobRow,
    title: orAbsent(
      z.string().meta({ description: 'The beginning of its title, else of its message.' }),
    ),
    estimatedTotalCount,
    faults: orAbsent(
      z.array(z.object({ appId: id, platformId, fault: z.string() })).meta({
        description:
          'The apps and platforms on which a fault stopped it, with sentences that say what to correct.',
      }),
    ),
    audience,
    platformIds: z.array(platformId).meta({ description: 'The platforms that it could go to.' }),
  })
  .meta({ id: 'ListedNotification' });
const AUDIENCE = { tagIds: [2], filterTagIds: [], excludeTagIds: [], tagCount: 1 };
export const JOB_ROW = {
  id: JOB_ID,
  state: 'FINISHED',
  userName: 'demo-super',
  acceptedAt: 1_795_392_000_000,
  sendAt: 1_795_392_000_000,
  ...COUNTS,
};

export const listRoute = (patientReads: PatientReads): Route =>
  reads.get(
    'listNotifications',
    {
      summary: 'List push jobs, newest first',
      description:
        'Always by pages. A page goes on behind the last job of the one before: while jobs come, change and go, none that stays is missed or listed twice. A key that is limited to tags, groups or apps sees its own jobs only.',
      query: {
        limit: limitOr(PAGE_DEFAULT, `How many jobs; ${PAGE_DEFAULT} if it is not given.`),
        cursor: idCursor(JOB_ID),
        state: choice('In this state.', NOTIFICATION_STATES, 'FINISHED'),
        hasFaults: flag(
          'With `true`: only those that a fault stopped on some app and platform.',
          'false',
        ),
        q: text(
          `Each word of this text begins a word of the title that is listed, whichever case. The newest ${format(SEARCHED_MAX)} jobs of the period are looked through.`,
          'goal',
        ),
        appId: idOf('That could go to this app.', 1),
        tagId: idOf(
          'With this tag among their target tags. Those of an expression are the tags of its alternatives; where it has none, or these require no tag, all tags that select.',
          2,
        ),
        publisher: text(
          'Submitted under this user name: that of a key, of a credential, or a member’s address. None for a caller who may not see it.',
          'demo-key-4fX2pQ7sLw0a',
        ),
        from: time('Accepted at this time or later.', 1_577_836_800_000),
        to: time('Accepted before this time.', 4_102_444_800_000),
      },
      answer: listed('A page of them.', row, [
        { ...JOB_ROW, audience: AUDIENCE, platformIds: [3] },
      ]),
    },
    ({ caller, query }) => {
      const { clientId } = caller;
      const { publisher, from: fromMs, to: toMs, ...others } = query;
      const isHidden = publisher !== null && !maySeeJobsOf(caller, publisher);
      const filter = { ...others, fromMs, toMs, publisher: publisherOf(caller) ?? publisher };
      return rowsOf(query, {
        async read(before, limit) {
          if (isHidden) return [];
          const read = await patientReads.run(clientId, async (sql) => {
            const rows = await listNotifications(sql, clientId, filter, { before, limit });
            return { rows, estimates: await estimatesOf(sql, rows) };
          });
          if (read.kind === 'busy') return refuse.tooMuchCounted;
          const { rows, estimates } = read.result;
          return rows.map((one) => shownTo(caller, one, estimates.get(one.id)));
        },
        keyOf: ({ id }) => id,
      });
    },
  );

/** The estimated devices of the newest that run, keyed by their ids. */
async function estimatesOf(
  sql: Sql,
  rows: readonly ListedNotification[],
): Promise<ReadonlyMap<string, number>> {
  const running = rows.filter((row) => row.finishedAt === null && isBegun(row.state));
  const ids = running.slice(0, ESTIMATED_MAX).map(({ id }) => id);
  const estimates = ids.length === 0 ? [] : await readEstimates(sql, ids);
  const byJob = groupBy(estimates, ({ notificationId }) => notificationId);
  return new Map(
    [...byJob].flatMap(([id, ofIt]) => {
      const sum = sumOfEstimates(ofIt);
      return sum === null ? [] : [[id, sum]];
    }),
  );
}

const isBegun = (state: NotificationState): boolean => state !== 'SCHEDULED' && state !== 'QUEUED';

/** A limited key sees its own jobs. A hidden address must not be found by asking for it. */
const maySeeJobsOf = (caller: Caller, publisher: string): boolean =>
  (publisherOf(caller) ?? publisher) === publisher &&
  shownUserName(caller, publisher) === publisher;

const shownTo = (caller: Caller, row: ListedNotification, estimate: number | undefined) => ({
  ...row,
  ...(estimate === undefined ? {} : { estimatedTotalCount: estimate }),
  userName: shownUserName(caller, row.userName),
  ...countsObject(row),
});
