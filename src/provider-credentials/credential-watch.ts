/**
 * Watches credentials: stores results of sends, checks each once a day, warns before a key expires.
 * It runs on every node; each due check is taken by one.
 */

import type { Logger } from 'pino';
import type { Sql } from '../database/sql.ts';
import type { Scope } from '../domain/device.ts';
import { scopeKeyOf } from '../domain/device.ts';
import type { Progress } from '../domain/progress.ts';
import { Recurring } from '../std/recurring.ts';
import type { CheckResult } from './credential-check.ts';
import { wasNobodyAsked } from './credential-check.ts';
import { takeDueChecks, takeExpiryWarnings, writeUses } from './sql/credential-health.ts';
import type { CredentialState } from './sql/read-credential-states.ts';
import { readCredentialStates } from './sql/read-credential-states.ts';

const INTERVAL_MS = 60_000;
/** @limit between checks of a credential */
const CHECK_EVERY_MS = 86_400_000;
/**
 * Checks in one run, in sequence, a connection or two each: 7,200 credentials a day and node.
 * @limit checks in a run, each minute on each node → the next run
 */
const CHECKS_PER_RUN = 5;
/**
 * Enough to request a new key, to store it, and to notice that it is still missing.
 * @limit days before a credential's end at which the log warns
 */
const WARNING_DAYS = [30, 7, 1] as const;
/**
 * @limit (app, platform) pairs in the metrics, and whose sends are noted between two runs → not
 * reported; not noted
 */
const PLACES_MAX = 10_000;

interface CredentialWatchOptions {
  readonly sql: Sql;
  readonly log: Logger;
  /** Platforms with a real provider: a check with a simulator proves nothing. */
  readonly platformIds: readonly number[];
  readonly check: (scope: Scope) => Promise<CheckResult>;
}

interface Use {
  wasAccepted: boolean;
  fault: string | null;
}

export interface CredentialReading
  extends Pick<CredentialState, 'appId' | 'platformId' | 'isHealthy' | 'expiresAtMs'> {
  /** The provider has refused the new credential: the previous one is in use. */
  readonly isFallback: boolean;
}

export class CredentialWatch {
  private readonly options: CredentialWatchOptions;
  private readonly runs = new Recurring(INTERVAL_MS, () => this.runLogged());
  private uses = new Map<string, Use & Scope>();
  private known: readonly CredentialState[] = [];

  constructor(options: CredentialWatchOptions) {
    this.options = options;
  }

  start(): void {
    this.runs.start();
  }

  /** Resolves when the run under way has ended and the remaining results are stored. */
  async stop(): Promise<void> {
    await this.runs.stop();
    await this.logged(() => this.noteUses());
  }

  /** The states as of the last run, in order. */
  get states(): readonly CredentialState[] {
    return this.known;
  }

  /** The same of those scopes that have a credential. */
  get readings(): readonly CredentialReading[] {
    return this.known
      .filter(({ hasCredential }) => hasCredential)
      .map(({ appId, platformId, isHealthy, expiresAtMs, refusedReason, fallbackUntilMs }) => ({
        appId,
        platformId,
        isHealthy,
        expiresAtMs,
        isFallback: refusedReason !== null && fallbackUntilMs !== null,
      }));
  }

  /** Takes a report of sends; the next run stores its result. */
  see(report: Progress): void {
    const { appId, platformId, fault } = report;
    const wasAccepted =
      report.kind === 'chunk'
        ? report.counts.delivered > 0
        : report.settlements.some(({ ending }) => ending === 'delivered');
    if (!wasAccepted && fault === null) return;
    const key = scopeKeyOf(report);
    const use = this.uses.get(key) ?? { appId, platformId, wasAccepted: false, fault: null };
    use.wasAccepted ||= wasAccepted;
    use.fault = fault ?? use.fault;
    if (this.uses.has(key) || this.uses.size < PLACES_MAX) this.uses.set(key, use);
  }

  async run(): Promise<void> {
    await this.noteUses();
    await this.checkDue();
    await this.warn();
    this.known = await readCredentialStates(this.options.sql, null, PLACES_MAX);
  }

  private async noteUses(): Promise<void> {
    const uses = [...this.uses.values()];
    this.uses = new Map();
    await writeUses(this.options.sql, uses);
  }

  private async checkDue(): Promise<void> {
    const { sql, log, platformIds, check } = this.options;
    const terms = { platformIds, everyMs: CHECK_EVERY_MS, limit: CHECKS_PER_RUN };
    for (const scope of await takeDueChecks(sql, terms)) {
      const checked = await check(scope);
      const { isHealthy, note } = checked;
      const { appId, platformId } = scope;
      if (isHealthy || wasNobodyAsked(checked)) continue;
      const words =
        isHealthy === null
          ? 'a credential could not be checked'
          : 'a credential does not work: its sends will fail';
      log[isHealthy === null ? 'warn' : 'error']({ appId, platformId, note }, words);
    }
  }

  /** The shortest distance first: a key with a warning of one day needs none of thirty. */
  private async warn(): Promise<void> {
    const { sql, log } = this.options;
    for (const days of [...WARNING_DAYS].reverse()) {
      for (const { appId, platformId, expiresInMs } of await takeExpiryWarnings(sql, days)) {
        const expiresInDays = Math.floor(expiresInMs / 86_400_000);
        log.warn(
          { appId, platformId, expiresInDays },
          'a credential expires soon: store another one',
        );
      }
    }
  }

  private runLogged(): Promise<void> {
    return this.logged(() => this.run());
  }

  private async logged(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.options.log.error(
        { err: error },
        'the check of the credentials failed; it will be tried again',
      );
    }
  }
}
