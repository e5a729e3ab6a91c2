/** Finds whom the pushes of a client are for, with what their tests of attributes name. */

import { findUnknownValues } from '../../attributes/find-unknown-values.ts';
import type { Sql } from '../../database/sql.ts';
import type { AskedTest } from '../../domain/asked-audience.ts';
import { isNumberType } from '../../domain/device-numbers.ts';
import type { Known } from './look-up.ts';
import { lookUp } from './look-up.ts';
import type { Push } from './push.ts';
import type { Targets, UnknownValues } from './targets.ts';
import { resolveTargets } from './targets.ts';

/** One for each push, in order. */
export async function resolve(
  sql: Sql,
  clientId: number,
  pushes: readonly Push[],
): Promise<readonly Targets[]> {
  const known = await lookUp(sql, clientId, pushes);
  return Promise.all(
    pushes.map((push, place) => {
      const targets = resolveTargets(push, known[place] ?? NOTHING_KNOWN);
      return targets.ok && targets.tests.length > 0
        ? withUnknownValues(sql, clientId, targets)
        : targets;
    }),
  );
}

const NOTHING_KNOWN: Known = { tags: [], scopes: [] };

async function withUnknownValues(
  sql: Sql,
  clientId: number,
  targets: Extract<Targets, { readonly ok: true }>,
): Promise<Targets> {
  const named = targets.tests.flatMap(({ name, isPersonal, asked }) =>
    isPersonal || typeof asked.subject !== 'number' || !isNamed(asked)
      ? []
      : asked.values.map((value) => ({
          name,
          attributeId: Number(asked.subject),
          value,
          isPrefix: asked.type === 'language',
        })),
  );
  const unknown = await findUnknownValues(sql, clientId, named);
  const unknownValues: Record<string, string[]> = {};
  for (const place of unknown) {
    const { name, value } = named[place] ?? { name: '', value: '' };
    unknownValues[name] = [...(unknownValues[name] ?? []), value];
  }
  return { ...targets, unknownValues: distinct(unknownValues) };
}

/** The others compare values by their order, and ask for none of them; so do numbers and times. */
const isNamed = ({ operator, type }: AskedTest): boolean =>
  EXACT.has(operator) && !isNumberType(type);

const EXACT: ReadonlySet<string> = new Set(['=', '!=', 'in']);

const distinct = (values: Readonly<Record<string, readonly string[]>>): UnknownValues =>
  Object.fromEntries(Object.entries(values).map(([name, some]) => [name, [...new Set(some)]]));
