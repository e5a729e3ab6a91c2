/** Finds what the tests of an audience mean in ids, at this moment. */

import { readClock } from '../database/read-clock.ts';
import type { Sql } from '../database/sql.ts';
import type { AskedAudience, AskedTest, Met } from '../domain/asked-audience.ts';
import { askedTestsOf, isPlain, withFacets } from '../domain/asked-audience.ts';
import { meetsTest } from '../domain/attribute-test.ts';
import type { Scope } from '../domain/device.ts';
import type { DayAttribute } from '../domain/device-days.ts';
import { DAY_ATTRIBUTE_NAMES, rangesOf } from '../domain/device-days.ts';
import { isNumberType, numbersTest } from '../domain/device-numbers.ts';
import type { Audience } from '../domain/notification.ts';
import { isRelativeTime } from '../domain/test-times.ts';
import { livingAttributes } from './living-attributes.ts';
import type { Facet } from './sql/read-facets.ts';
import { readFacets } from './sql/read-facets.ts';

/** The audience as an index of an (app, platform) is asked for it. */
type AudienceIn = (scope: Scope) => Audience;

/**
 * Nothing is read for an audience without tests. `nowMs`: the moment that relative times count
 * from; absent: the database's clock says it.
 */
export async function compileFor(
  sql: Sql,
  clientId: number,
  asked: AskedAudience,
  nowMs?: number,
): Promise<AudienceIn> {
  if (isPlain(asked)) return () => asked;
  const tests = askedTestsOf(asked);
  const facets = await facetsOf(sql, clientId, tests);
  const living = await numberedAttributes(sql, tests);
  const isRelative = tests.some(
    ({ type, values }) => type === 'time' && values.some(isRelativeTime),
  );
  const atMs = nowMs ?? (isRelative ? await readClock(sql) : 0);
  return withMet(
    asked,
    new Map(tests.map((test) => [test, metBy(test, { facets, living }, atMs)])),
  );
}

const isDay = (subject: AskedTest['subject']): subject is DayAttribute =>
  DAY_ATTRIBUTE_NAMES.some((name) => name === subject);

/** A function of its own: what it keeps must not hold on to all values of the attributes. */
const withMet =
  (asked: AskedAudience, met: ReadonlyMap<AskedTest, Met | null>): AudienceIn =>
  (scope) =>
    withFacets(asked, (test) => met.get(test) ?? meetsInScope(test, scope));

/** All values of the attributes, or where values are asked for as they are, those. */
function facetsOf(
  sql: Sql,
  clientId: number,
  tests: readonly AskedTest[],
): Promise<readonly Facet[]> | readonly Facet[] {
  const ofDevices = tests.flatMap(({ subject, ...test }) =>
    typeof subject === 'number' && !isNumberType(test.type) ? [{ ...test, subject }] : [],
  );
  if (ofDevices.length === 0) return [];
  const exact = ofDevices.filter(isExact);
  const pairs = exact.flatMap(({ subject, values }) => values.map((value) => ({ subject, value })));
  return readFacets(sql, clientId, {
    whole: [...new Set(ofDevices.filter((test) => !isExact(test)).map(({ subject }) => subject))],
    attributeIds: pairs.map(({ subject }) => subject),
    values: pairs.map(({ value }) => value),
  });
}

/** Those with declared numbers and times that are there: one that was deleted has no value. */
async function numberedAttributes(
  sql: Sql,
  tests: readonly AskedTest[],
): Promise<ReadonlySet<number>> {
  const ids = tests.flatMap(({ subject, type }) =>
    typeof subject === 'number' && isNumberType(type) ? [subject] : [],
  );
  return ids.length === 0 ? NONE : await livingAttributes(sql, ids);
}

const NONE: ReadonlySet<number> = new Set();

const isExact = ({ type, operator }: Pick<AskedTest, 'type' | 'operator'>): boolean =>
  type !== 'language' && (operator === '=' || operator === 'in');

interface Values {
  readonly facets: readonly Facet[];
  readonly living: ReadonlySet<number>;
}

/** Null: it is the (app, platform) that answers. */
function metBy(
  { subject, type, operator, values }: AskedTest,
  { facets, living }: Values,
  nowMs: number,
): Met | null {
  if (isDay(subject)) return rangesOf(subject, operator, values, nowMs);
  if (typeof subject !== 'number') return null;
  if (isNumberType(type)) {
    const test = numbersTest(subject, type, operator, values, nowMs);
    return test === null || !living.has(subject) ? [] : [test];
  }
  return facets
    .filter(
      ({ attributeId, value }) =>
        attributeId === subject && meetsTest(type, operator, values, value),
    )
    .map(({ id }) => id);
}

/** The (app, platform) answers for all its devices. */
const meetsInScope = ({ subject, type, operator, values }: AskedTest, scope: Scope): boolean =>
  meetsTest(type, operator, values, String(subject === 'app' ? scope.appId : scope.platformId));
