/** Numbers of a payload that no provider would get as they were written: each is a fault. */

import { changedNumbers } from '../../packages/std/src/json-numbers.ts';
import type { PayloadFault } from './payload.ts';

type Path = readonly (string | number)[];

/** Fields of a payload that are read as numbers: their digits go nowhere. */
const READ_AS_NUMBERS: ReadonlySet<string | number | undefined> = new Set(['badge', 'ttl']);

const isPassedOn = ([field, ...within]: Path): boolean =>
  within.length > 0 || !READ_AS_NUMBERS.has(field);

export const isPassedOnIn =
  (name: string) =>
  ([field, ...within]: Path): boolean =>
    field === name && isPassedOn(within);

/** The faults of a payload that is given as a text. */
export const digitFaults = (text: string): readonly PayloadFault[] =>
  changedNumbers(text, isPassedOn).map(({ path, message }) => ({
    path: `payload.${path}`,
    message: `${message}.`,
  }));
