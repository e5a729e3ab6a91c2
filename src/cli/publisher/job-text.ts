/** A push job in words. */

import type { ListedNotification, Notification } from '../../../packages/client/src/openapi.ts';
import { counted, format } from '../../std/counted.ts';
import { tableRow, visibleField } from '../../std/visible-text.ts';
import { EXIT_FAILED } from '../command.ts';

/** A cancelled job is neither a success nor a failure. */
const EXIT_CANCELLED = 3;

export const EXIT_NOTES =
  'Exit code 0: not ended yet, or FINISHED; 1: FAILED, or no answer; 2: wrong arguments; 3: CANCELLED; 130: interrupted.';

type State = Notification['state'];

export function exitCodeOf(state: State): number {
  if (state === 'FAILED') return EXIT_FAILED;
  return state === 'CANCELLED' ? EXIT_CANCELLED : 0;
}

type Counts = Pick<
  Notification,
  | 'successCount'
  | 'failedCount'
  | 'skippedCount'
  | 'expiredCount'
  | 'cancelledCount'
  | 'withheldCount'
>;

export const doneOf = (counts: Counts): number =>
  counts.successCount +
  counts.failedCount +
  counts.skippedCount +
  counts.expiredCount +
  counts.cancelledCount +
  (counts.withheldCount ?? 0);

/** Those that are not 0: `9 accepted, 1 failed`. */
function describeCounts(counts: Counts): string {
  const words = [
    [counts.successCount, 'accepted'],
    [counts.failedCount, 'failed'],
    [counts.skippedCount, 'skipped'],
    [counts.expiredCount, 'expired'],
    [counts.cancelledCount, 'cancelled'],
    [counts.withheldCount ?? 0, 'withheld'],
  ] as const;
  const told = words.filter(([count]) => count > 0);
  return told.length === 0
    ? 'no device'
    : told.map(([count, word]) => `${format(count)} ${word}`).join(', ');
}

export function describeJob(job: Notification): string {
  const { id, state, totalCount, failureReasons, platforms } = job;
  const reasons = Object.entries(failureReasons).toSorted(([, a], [, b]) => b - a);
  return [
    `${id}  ${state}  ${counted(totalCount, 'device')}: ${describeCounts(job)}`,
    ...platforms.flatMap(({ appId, platformId, ...row }) => [
      `  app ${appId} on ${platformId}  ${row.state}  ${describeCounts(row)}`,
      ...(row.fault === undefined ? [] : [`    ${visibleField(row.fault)}`]),
      ...(row.waitingFor === undefined ? [] : [`    waits: ${visibleField(row.waitingFor)}`]),
    ]),
    ...(job.waves ?? []).map(
      ({ at, state: wave, counts }) =>
        `  wave ${new Date(at).toISOString()}  ${wave}  ${counted(counts.totalCount, 'device')}`,
    ),
    ...reasons.map(([reason, count]) => `  ${format(count)} failed: ${visibleField(reason)}`),
  ].join('\n');
}

export const describeListed = (job: ListedNotification): string =>
  tableRow(
    job.id,
    job.state,
    new Date(job.sendAt).toISOString(),
    describeCounts(job),
    ...(job.title === undefined ? [] : [job.title]),
  );
