/** The audiences of claimed parts, with what their tests of attributes mean at this moment. */

import { compileFor } from '../../attributes/compile-for.ts';
import type { Sql } from '../../database/sql.ts';
import { isPlain } from '../../domain/asked-audience.ts';
import type { Audience } from '../../domain/notification.ts';
import { inWave } from '../../domain/wave-audience.ts';
import type { Clock } from '../../std/clock.ts';
import type { ClaimedChunk, ClaimedScope } from '../sql/ledger/claim-chunks.ts';
import { readWave } from '../sql/waves/read-wave.ts';
import { KeptBriefly } from './kept-briefly.ts';

type ClaimedPart = ClaimedScope & Partial<Pick<ClaimedChunk, 'waveAtMs'>>;
type AudienceIn = Awaited<ReturnType<typeof compileFor>>;

/** A correction names its devices (named.ts). */
const NAMED: Audience = { anyTagIds: [], allTagIds: [], noneTagIds: [], isNamed: true };

export class Audiences {
  readonly #sql: Sql;
  readonly #kept: KeptBriefly<AudienceIn>;

  constructor(sql: Sql, clock: Pick<Clock, 'monotonicMs'>) {
    this.#sql = sql;
    this.#kept = new KeptBriefly(clock);
  }

  /** The audience as the index is asked for it. A part without tests waits for nothing. */
  of(part: ClaimedPart): Audience | Promise<Audience> {
    const { audience } = part.terms;
    if (part.correction !== null) return NAMED;
    // Retries were chosen before, and are in no wave.
    const { waveAtMs = null } = part;
    if (waveAtMs !== null) return this.#ofWave(part, waveAtMs);
    return isPlain(audience) ? audience : this.#compiled(part);
  }

  async #compiled(part: ClaimedScope): Promise<Audience> {
    const { notificationId, clientId, terms, claimedAtMs } = part;
    const audienceIn = await this.#kept.get(notificationId, () =>
      compileFor(this.#sql, clientId, terms.audience, claimedAtMs),
    );
    return audienceIn(part);
  }

  async #ofWave(part: ClaimedPart, waveAtMs: number): Promise<Audience> {
    const { notificationId, clientId, terms, claimedAtMs } = part;
    const audienceIn = await this.#kept.get(`${notificationId}.${waveAtMs}`, async () => {
      const wave = await readWave(this.#sql, notificationId, waveAtMs);
      return compileFor(this.#sql, clientId, inWave(terms.audience, wave), claimedAtMs);
    });
    return audienceIn(part);
  }
}
