/**
 * What becomes of push jobs, as the log tells it: one line when a job is accepted, planned, and
 * over. Each is told by the node that committed it, after the commit: a process that is killed
 * between the two leaves its line out.
 */

import type { Logger } from 'pino';
import { flatLogger } from './log.ts';

/** Apps that a line names: a push may address a thousand. */
const APPS_TOLD_MAX = 10;

export interface AcceptedJob {
  readonly id: string;
  readonly clientId: number;
  /** Of the request that has brought it. */
  readonly requestId: string;
  readonly state: string;
  readonly appIds: readonly number[];
  /** When it is due; null: at once. */
  readonly sendAtMs: number | null;
}

export interface PlannedJob {
  readonly id: string;
  readonly clientId: number;
  /** When it was accepted, or was to be sent. */
  readonly dueAtMs: number;
  readonly plannedAtMs: number;
  readonly scopes: readonly { readonly appId: number; readonly chunks: number }[];
}

/** A job that will send nothing more. */
export interface EndedJob {
  readonly id: string;
  readonly clientId: number;
  /** FINISHED, FAILED or CANCELLED. */
  readonly state: string;
  readonly appIds: readonly number[];
  readonly dueAtMs: number;
  readonly endedAtMs: number;
  /** Why sends of it were stopped, if they were. */
  readonly fault: string | null;
  readonly total: number;
  readonly delivered: number;
  readonly failed: number;
  readonly skipped: number;
  readonly expired: number;
  readonly cancelled: number;
}

export class JobJournal {
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = flatLogger(log);
  }

  accepted({ id, clientId, requestId, state, appIds, sendAtMs }: AcceptedJob): void {
    this.#log.info(
      {
        notificationId: id,
        clientId,
        ...appsOf(appIds),
        requestId,
        state,
        ...(sendAtMs === null ? {} : { sendAt: new Date(sendAtMs).toISOString() }),
      },
      'a push job was accepted',
    );
  }

  planned(jobs: readonly PlannedJob[]): void {
    for (const { id, clientId, scopes, dueAtMs, plannedAtMs } of jobs) {
      const chunks = scopes.reduce((sum, scope) => sum + scope.chunks, 0);
      const waitedMs = spanMs(dueAtMs, plannedAtMs);
      const apps = appsOf(scopes.map(({ appId }) => appId));
      this.#log.info(
        { notificationId: id, clientId, ...apps, chunks, waitedMs },
        'a push job was planned',
      );
      // Nobody is in its audience: it was over with this.
      if (chunks === 0) this.ended([{ ...NOBODY, id, clientId, dueAtMs, endedAtMs: plannedAtMs }]);
    }
  }

  ended(jobs: readonly EndedJob[]): void {
    for (const { id, clientId, appIds, dueAtMs, endedAtMs, fault, ...counts } of jobs) {
      const { state, ...devices } = counts;
      this.#log.info(
        {
          notificationId: id,
          clientId,
          ...appsOf(appIds),
          state,
          ...(fault === null ? {} : { fault }),
          ...devices,
          durationMs: spanMs(dueAtMs, endedAtMs),
        },
        'a push job has ended',
      );
    }
  }
}

const NOBODY = {
  state: 'FINISHED',
  appIds: [],
  fault: null,
  total: 0,
  delivered: 0,
  failed: 0,
  skipped: 0,
  expired: 0,
  cancelled: 0,
};

function appsOf(appIds: readonly number[]): { readonly appIds?: readonly number[] } {
  const distinct = [...new Set(appIds)];
  return distinct.length === 0 ? {} : { appIds: distinct.slice(0, APPS_TOLD_MAX) };
}

/** A job that was cancelled before it was due has waited for nothing. */
const spanMs = (fromMs: number, toMs: number): number => Math.max(0, Math.round(toMs - fromMs));
