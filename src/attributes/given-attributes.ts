/** Turns the attributes of a request into facets and numbers, and names those that do not count. */

import type { SqlPool } from '../database/sql.ts';
import { normalizeValue } from '../domain/attribute-values.ts';
import type { Attribute, FacetId, Setter } from '../domain/attributes.ts';
import type { NumberEntry, NumberType } from '../domain/device-numbers.ts';
import { entryOf, isNumberType, readNumber } from '../domain/device-numbers.ts';
import type { ClientAttributes } from './declared-attributes.ts';
import { DeclaredAttributes } from './declared-attributes.ts';
import type { NoRoom } from './facet-dictionary.ts';
import { FacetDictionary } from './facet-dictionary.ts';

export interface GivenAttribute {
  readonly name: string;
  /** null clears it. */
  readonly value: unknown;
  /** Given by a field that is older than attributes: nothing is said where it is ignored. */
  readonly isQuiet?: true;
}

/** Why an attribute is ignored. */
type IgnoredReason =
  /** Not declared, not the caller's to set, not of its type, or too long. */
  | 'invalid'
  /** There is no room for a new value. */
  | 'full'
  /** Nodes of an earlier version are at work, or the value cannot be looked up or kept now. */
  | 'later';

export interface IgnoredAttribute {
  readonly name: string;
  readonly reason: IgnoredReason;
}

export interface ResolvedAttributes {
  /** Keyed by the ids of the attributes; null: cleared. */
  readonly facets: ReadonlyMap<number, FacetId | null>;
  /** The same of attributes whose values are in no dictionary. */
  readonly numbers: ReadonlyMap<number, NumberEntry | null>;
  readonly ignored: readonly IgnoredAttribute[];
}

/** Who sets them, and for devices of which app. */
interface AttributeSetter {
  readonly clientId: number;
  readonly appId: number;
  /** An operator who imports devices stands for the app and for the servers. */
  readonly by: Exclude<Setter, 'both'> | 'operator';
}

type Settled =
  | { readonly attributeId: number; readonly facetId: FacetId | null }
  | { readonly attributeId: number; readonly entry: NumberEntry | null }
  | { readonly reason: IgnoredReason };

/** @limit devices of a list whose attributes are looked up at once → the next ones */
const DEVICES_AT_ONCE = 100;

interface GivenAttributesOptions {
  readonly sql: SqlPool;
  readonly newValuesPerMinute?: number;
  onNoRoom?(why: NoRoom): void;
}

export class GivenAttributes {
  readonly #declared: DeclaredAttributes;
  readonly #dictionary: FacetDictionary;

  constructor(options: GivenAttributesOptions) {
    this.#declared = new DeclaredAttributes(options.sql);
    this.#dictionary = new FacetDictionary(options);
  }

  /** Without waiting, where all of it is at hand: as nearly always. Null: `resolve` it. */
  resolveAtHand(
    setter: AttributeSetter,
    given: readonly GivenAttribute[],
  ): ResolvedAttributes | null {
    const declared = this.#declared.remembered(setter.clientId);
    if (declared === null) return null;
    const facets = new Map<number, FacetId | null>();
    let numbers: Map<number, NumberEntry | null> | null = null;
    for (const { name, value } of given) {
      const attribute = declared.byName.get(name);
      if (attribute === undefined || !declared.areTaken || !maySet(attribute, setter)) return null;
      if (isNumberType(attribute.type)) {
        const set = numberOf(declared, attribute.id, attribute.type, value);
        if (!('entry' in set)) return null;
        numbers ??= new Map();
        numbers.set(attribute.id, set.entry);
        continue;
      }
      const facetId = value === null ? null : this.#facetAtHand(setter, attribute, value);
      if (facetId === undefined) return null;
      facets.set(attribute.id, facetId);
    }
    return { facets, numbers: numbers ?? NO_NUMBERS, ignored: NOTHING };
  }

  async resolve(
    setter: AttributeSetter,
    given: readonly GivenAttribute[],
  ): Promise<ResolvedAttributes> {
    const declared = await this.#declaredFor(setter, given);
    return together(given, ({ name, value }) => this.#facetOf(setter, declared, name, value));
  }

  /** Resolves those of many devices; a value that several have is looked up once. */
  async resolveEach(
    setter: AttributeSetter,
    devices: readonly (readonly GivenAttribute[])[],
  ): Promise<readonly ResolvedAttributes[]> {
    const declared = await this.#declaredFor(setter, devices.flat());
    const asked = new Map<string, Promise<Settled>>();
    const facetOf = ({ name, value }: GivenAttribute): Promise<Settled> => {
      const key = JSON.stringify([name, value]);
      const settled = asked.get(key) ?? this.#facetOf(setter, declared, name, value);
      asked.set(key, settled);
      return settled;
    };
    const resolved: ResolvedAttributes[] = [];
    for (let at = 0; at < devices.length; at += DEVICES_AT_ONCE) {
      const some = devices.slice(at, at + DEVICES_AT_ONCE);
      resolved.push(...(await Promise.all(some.map((given) => together(given, facetOf)))));
    }
    return resolved;
  }

  /** A name that is not known may be declared since: only a fresh answer is certain. */
  async #declaredFor(
    { clientId }: AttributeSetter,
    given: readonly GivenAttribute[],
  ): Promise<ClientAttributes> {
    const remembered = this.#declared.remembered(clientId);
    if (remembered !== null) {
      const { areTaken, byName } = remembered;
      // While old nodes are at work, or where nothing is said of it, seconds do not matter.
      if (!areTaken || given.every(({ name, isQuiet }) => isQuiet || byName.has(name))) {
        return remembered;
      }
    }
    return await this.#declared.fresh(clientId);
  }

  async #facetOf(
    setter: AttributeSetter,
    declared: ClientAttributes,
    name: string,
    value: unknown,
  ): Promise<Settled> {
    const attribute = declared.byName.get(name);
    if (attribute === undefined || !maySet(attribute, setter)) return { reason: 'invalid' };
    if (!declared.areTaken) return { reason: 'later' };
    const { id: attributeId, type } = attribute;
    if (isNumberType(type)) return numberOf(declared, attributeId, type, value);
    if (value === null) return { attributeId, facetId: null };
    const atHand = this.#facetAtHand(setter, attribute, value);
    if (atHand !== undefined) return { attributeId, facetId: atHand };
    const kept = normalizeValue({ id: attributeId, type }, value);
    if (kept === null) return { reason: 'invalid' };
    const { clientId, appId, by } = setter;
    const wanted = { clientId, attribute, value: kept, appId: by === 'app' ? appId : null };
    const facetId = await this.#dictionary.find(wanted, String(value));
    if (facetId === 'later') return { reason: 'later' };
    return facetId === null ? { reason: 'full' } : { attributeId, facetId };
  }

  #facetAtHand(
    { clientId }: AttributeSetter,
    { id, type }: Attribute,
    value: unknown,
  ): FacetId | undefined {
    // A number is no text, though both may look the same.
    if (typeof value !== 'string' && (type !== 'boolean' || typeof value !== 'boolean')) {
      return undefined;
    }
    return this.#dictionary.remembered(clientId, id, String(value)) ?? undefined;
  }
}

/** The attributes of one device. */
async function together(
  given: readonly GivenAttribute[],
  facetOf: (given: GivenAttribute) => Promise<Settled>,
): Promise<ResolvedAttributes> {
  const facets = new Map<number, FacetId | null>();
  const numbers = new Map<number, NumberEntry | null>();
  const ignored: IgnoredAttribute[] = [];
  const each = await Promise.all(given.map(facetOf));
  for (const [at, { name, isQuiet }] of given.entries()) {
    const set = each[at];
    if (set === undefined) continue;
    if ('facetId' in set) facets.set(set.attributeId, set.facetId);
    else if ('entry' in set) numbers.set(set.attributeId, set.entry);
    else if (isQuiet === undefined) ignored.push({ name, reason: set.reason });
  }
  return { facets, numbers, ignored };
}

function numberOf(
  { areNumbersTaken }: ClientAttributes,
  attributeId: number,
  type: NumberType,
  value: unknown,
): Settled {
  if (!areNumbersTaken) return { reason: 'later' };
  if (value === null) return { attributeId, entry: null };
  const number = readNumber(type, value);
  if (number === null) return { reason: 'invalid' };
  return { attributeId, entry: entryOf(attributeId, number) };
}

const NO_NUMBERS: ResolvedAttributes['numbers'] = new Map();
const NOTHING: readonly IgnoredAttribute[] = [];

const maySet = ({ setBy, appIds }: Attribute, { by, appId }: AttributeSetter): boolean =>
  (setBy === 'both' || setBy === by || by === 'operator') &&
  (appIds === null || appIds.includes(appId));
