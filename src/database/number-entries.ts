/** The entries of `devices.numbers` (domain/device-numbers.ts), as pieces of statements. */

import { constantText } from './rows.ts';

/** The entries' first octets, as rows `place (at)`. None where there are no numbers. */
export const placesOfEntries = constantText(
  'generate_series(1, octet_length(numbers), 8) as place (at)',
);

export const entryAtPlace = constantText('substr(numbers, place.at, 8)');

/** The id of its attribute. */
export const attributeAtPlace = constantText(
  "('x' || encode(substr(numbers, place.at, 4), 'hex'))::bit(32)::integer",
);
