/** The attributes that a device has, as its owner and its app see them. */

import { attributeAtPlace, entryAtPlace, placesOfEntries } from '../../database/number-entries.ts';
import type { Fragment, Sql } from '../../database/sql.ts';
import type { AttributeType } from '../../domain/attributes.ts';
import { BUILT_IN_ATTRIBUTES } from '../../domain/attributes.ts';
import { isNumberType, shownNumber } from '../../domain/device-numbers.ts';

/** One value; null: it is of a built-in attribute. */
export interface KnownAttribute {
  readonly attributeId: number;
  readonly name: string | null;
  readonly type: AttributeType | null;
  readonly isPersonal: boolean | null;
  /** A number or a time as its entry. */
  readonly value: string;
}

/** Selected of `devices d`. Without those of attributes that were deleted. */
export const knownAttributes = (sql: Sql): Fragment => sql`
  (
    select coalesce(json_agg(json_build_object('attributeId', v.attribute_id, 'name', a.name, 'type', a.type,
      'isPersonal', a.is_personal, 'value', v.value) order by v.attribute_id), '[]')
    from (
      select v.attribute_id, v.value from unnest(d.facet_ids) as f (id)
      join attribute_values v on v.id = f.id
      union all
      select ${attributeAtPlace(sql)}, encode(${entryAtPlace(sql)}, 'hex') from ${placesOfEntries(sql)}
    ) v
    left join attributes a on a.id = v.attribute_id
    where v.attribute_id < 0 or a.id is not null
  )`;

/** Names them, with values in the form in which they are given. */
export function attributesByName(
  known: readonly KnownAttribute[],
  { withPersonal }: { readonly withPersonal: boolean },
): Readonly<Record<string, string | number | boolean>> {
  const shown = known.flatMap(({ attributeId, name, type, isPersonal, value }) => {
    const named = name ?? BUILT_IN_ATTRIBUTES.find(({ id }) => id === attributeId)?.name;
    if (named === undefined || (isPersonal === true && !withPersonal)) return [];
    return [[named, shownValue(type, value)] as const];
  });
  return Object.fromEntries(shown);
}

function shownValue(type: KnownAttribute['type'], value: string): string | number | boolean {
  if (type === 'boolean') return value === 'true';
  return type !== null && isNumberType(type) ? shownNumber(type, value) : value;
}
