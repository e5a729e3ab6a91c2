/** The payloads of claimed parts, with what their languages mean in ids at this moment. */

import { languagesOf } from '../../attributes/languages-of.ts';
import type { Sql } from '../../database/sql.ts';
import type { Payload } from '../../domain/notification.ts';
import { isInLanguagesOfAttribute } from '../../domain/notification.ts';
import type { Clock } from '../../std/clock.ts';
import type { ClaimedScope } from '../sql/ledger/claim-chunks.ts';
import { KeptBriefly } from './kept-briefly.ts';

type FacetIds = Awaited<ReturnType<typeof languagesOf>>;

export class Payloads {
  readonly #sql: Sql;
  readonly #kept: KeptBriefly<FacetIds>;

  constructor(sql: Sql, clock: Pick<Clock, 'monotonicMs'>) {
    this.#sql = sql;
    this.#kept = new KeptBriefly(clock);
  }

  /** One that is not in languages by the attribute waits for nothing. */
  of(part: ClaimedScope): Payload | Promise<Payload> {
    const { payload } = part.terms;
    return isInLanguagesOfAttribute(payload) ? this.#withValues(part) : payload;
  }

  async #withValues({ notificationId, clientId, terms, ...scope }: ClaimedScope): Promise<Payload> {
    const { payload } = terms;
    const { languages = [] } = payload;
    const named = languages.flatMap((one) => ('language' in one ? one.language : []));
    // A template may make other languages of it for each app and platform.
    const key = `${notificationId} ${scope.appId}.${scope.platformId}`;
    const values = await this.#kept.get(key, () => languagesOf(this.#sql, clientId, named));
    const known = languages.map((one) =>
      'language' in one ? { ...one, facetIds: values.get(one.language) ?? [] } : one,
    );
    return { ...payload, languages: known };
  }
}
