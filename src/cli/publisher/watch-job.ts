/** Follows a push job to its end: a bar on a terminal, lines elsewhere, or JSON for programs. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Notification } from '../../../packages/client/src/openapi.ts';
import { Progress } from '../progress.ts';
import { describeJob, doneOf, exitCodeOf } from './job-text.ts';
import type { Session } from './publisher-command.ts';
import { isPassing } from './publisher-command.ts';

/**
 * A restart of the engine takes less.
 * @limit an engine that is away is waited for by `--watch` → exit code 1; the push goes on without
 * the command
 */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 1_000;

const EVENTS = '/push-api/v3/{client}/notifications/{id}/events';

/** Resolves with the exit code when the job has ended. An engine that is away is waited for. */
export async function watchJob(session: Session, id: string): Promise<number> {
  const { tagcast, terminal, isJson, signal } = session;
  const progress = new Progress(terminal.progress, 'device');
  let last: Notification | null = null;
  let heardAtMs = performance.now();
  let isAway = false;
  const show = (job: Notification): void => {
    heardAtMs = performance.now();
    isAway = false;
    last = job;
    if (isJson) terminal.print(JSON.stringify(job));
    else progress.show(standingOf(job));
  };
  while (true) {
    try {
      for await (const job of tagcast.events(EVENTS, { path: { id }, signal })) show(job);
      break;
    } catch (error) {
      const silentMs = performance.now() - heardAtMs;
      if (signal.aborted || !isPassing(error) || silentMs > PATIENCE_MS) {
        progress.clear();
        throw error;
      }
      if (!isAway) {
        progress.clear();
        terminal.note('The engine is away; the push goes on when it is back. Waiting for it.');
      }
      isAway = true;
      await sleep(PAUSE_MS, undefined, { signal });
    }
  }
  progress.clear();
  if (last === null) return 0;
  const ended: Notification = last;
  if (!isJson) terminal.print(describeJob(ended));
  return exitCodeOf(ended.state);
}

/** While the devices are still being found, about how many there are is known. */
const standingOf = (job: Notification) => ({
  done: doneOf(job),
  total: Math.max(job.estimatedTotalCount ?? 0, job.totalCount),
  count: doneOf(job),
});
