/** The audiences of claimed parts, with what their tests of attributes mean at this moment. */

import { CappedMap } from '../../../packages/std/src/capped-map.ts';
import { compileFor } from '../../attributes/compile-for.ts';
import type { Sql } from '../../database/sql.ts';
import { isPlain } from '../../domain/asked-audience.ts';
import type { Audience } from '../../domain/notification.ts';
import type { Clock } from '../../std/clock.ts';
import type { ClaimedScope } from '../sql/ledger/claim-chunks.ts';

/**
 * The first part of a send on a node reads them in any case, so a device that was registered before
 * the push is reached.
 * @limit what the tests of a send mean is kept on a node → read again: values that appear while it
 * runs count from then on
 */
const KEPT_MS = 1_000;
/** @limit sends with tests for which it is kept on a node → the oldest is read again */
const KEPT_MAX = 256;

type AudienceIn = Awaited<ReturnType<typeof compileFor>>;

export class Audiences {
  readonly #sql: Sql;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #kept = new CappedMap<
    string,
    { readonly untilMs: number; readonly of: Promise<AudienceIn> }
  >({ sizeMax: KEPT_MAX });

  constructor(sql: Sql, clock: Pick<Clock, 'monotonicMs'>) {
    this.#sql = sql;
    this.#clock = clock;
  }

  /** The audience as the index is asked for it. A part without tests waits for nothing. */
  of(part: ClaimedScope): Audience | Promise<Audience> {
    const { audience } = part.terms;
    return isPlain(audience) ? audience : this.#compiled(part);
  }

  async #compiled(part: ClaimedScope): Promise<Audience> {
    const { notificationId, clientId, terms, claimedAtMs } = part;
    const nowMs = this.#clock.monotonicMs();
    const kept = this.#kept.get(notificationId);
    if (kept !== undefined && nowMs < kept.untilMs) return (await kept.of)(part);
    const of = compileFor(this.#sql, clientId, terms.audience, claimedAtMs);
    const entry = { untilMs: nowMs + KEPT_MS, of };
    this.#kept.set(notificationId, entry);
    // The ids may be many: they go with their time, and not only when others come.
    const forget = (): void => {
      if (this.#kept.get(notificationId) === entry) this.#kept.delete(notificationId);
    };
    setTimeout(forget, KEPT_MS).unref();
    try {
      return (await of)(part);
    } catch (error) {
      this.#kept.delete(notificationId);
      throw error;
    }
  }
}
