/** Remembers which attributes the clients have, built-in and declared ones, by their names. */

import { CappedMap } from '../../packages/std/src/capped-map.ts';
import type { Sql } from '../database/sql.ts';
import type { Attribute } from '../domain/attributes.ts';
import { BUILT_IN_ATTRIBUTES } from '../domain/attributes.ts';
import { Batcher } from '../std/batcher.ts';
import { groupBy } from '../std/group-by.ts';
import type { Taken } from './sql/read-attributes.ts';
import { readDeclared, readTaken } from './sql/read-attributes.ts';

/**
 * A deleted attribute may still be set for so long; housekeeping waits longer (unused-values.ts).
 * @limit age of a client's attributes, for names that are known → read again; an unknown name
 * always reads
 */
const STALENESS_MS_MAX = 5_000;
/** @limit clients whose attributes a node remembers → those read longest ago are read again */
const CLIENTS_MAX = 1_000;
/** @limit clients whose attributes are read in one query → the next query */
const CLIENTS_PER_QUERY = 100;

/** None is set while a node of a version before attributes is at work; likewise of numbers. */
export interface ClientAttributes extends Taken {
  readonly byName: ReadonlyMap<string, Attribute>;
}

interface Entry {
  readonly attributes: ClientAttributes;
  readonly readAtMs: number;
}

export class DeclaredAttributes {
  readonly #entries = new CappedMap<number, Entry>({ sizeMax: CLIENTS_MAX });
  readonly #reads: Batcher<number, ClientAttributes>;

  constructor(sql: Sql) {
    this.#reads = new Batcher({
      itemsMax: CLIENTS_PER_QUERY,
      run: (clientIds) => this.#read(sql, clientIds),
    });
  }

  /** Those at hand, without waiting. Null: they are too old. */
  remembered(clientId: number): ClientAttributes | null {
    const entry = this.#entries.get(clientId);
    if (entry === undefined || performance.now() - entry.readAtMs > STALENESS_MS_MAX) return null;
    return entry.attributes;
  }

  /** Reads them as of this call or later. */
  fresh(clientId: number): Promise<ClientAttributes> {
    return this.#reads.submit(clientId);
  }

  async #read(sql: Sql, clientIds: readonly number[]): Promise<readonly ClientAttributes[]> {
    const readAtMs = performance.now();
    const [declared, taken] = await Promise.all([
      readDeclared(sql, [...new Set(clientIds)]),
      readTaken(sql),
    ]);
    const byClient = groupBy(declared, ({ clientId }) => clientId);
    return clientIds.map((clientId) => {
      const all = [...BUILT_IN_ATTRIBUTES, ...(byClient.get(clientId) ?? [])];
      const byName = new Map(all.map((attribute) => [attribute.name, attribute]));
      const attributes = { byName, ...taken };
      this.#entries.set(clientId, { attributes, readAtMs });
      return attributes;
    });
  }
}
