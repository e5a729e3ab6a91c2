/** The attributes of devices as columns, for all statements that read and write devices. */

import type { Columns } from '../../database/rows.ts';
import { constantList, constantText, text } from '../../database/rows.ts';
import type { DeviceAttributes, WithAttributes } from '../../domain/device-attributes.ts';
import { ATTRIBUTES, eachAttribute } from '../../domain/device-attributes.ts';

export const ATTRIBUTE_COLUMNS: Columns<WithAttributes> = Object.fromEntries(
  ATTRIBUTES.map(([name, { column }]) => [column, text(({ attributes }) => attributes[name])]),
);

/** A piece of a statement with a text for each column, and commas between them. */
const eachColumn = (write: (column: string, name: string) => string) =>
  constantList(ATTRIBUTES.map(([name, { column }]) => write(column, name)));

/** `app_version, …` */
export const attributeColumns = eachColumn((column) => column);

/** Selected from `devices d`, under their names. */
export const selectedAttributes = eachColumn((column, name) => `d.${column} as "${name}"`);

/** Assigns what the row `seen` knows to `devices d`. */
export const keepingKnown = eachColumn(
  (column) => `${column} = coalesce(seen.${column}, d.${column})`,
);

/** The same, but of two known values the one of the later registration stays. */
export const keepingLater = eachColumn(
  (column) => `${column} = case
        when seen.registered_at > d.registered_at then coalesce(seen.${column}, d.${column})
        else coalesce(d.${column}, seen.${column})
      end`,
);

/** True where the row `seen` knows an attribute that `devices d` lacks. */
export const knowsMore = constantText(
  ATTRIBUTES.map(([, { column }]) => `(d.${column} is null and seen.${column} is not null)`).join(
    ' or ',
  ),
);

/** From a row of `selectedAttributes`. */
export const attributesOf = (row: DeviceAttributes): DeviceAttributes =>
  eachAttribute((name) => row[name]);
