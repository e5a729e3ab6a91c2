/** Days that the row of a device knows: of its first registration, and of the last one. */

import type { TestOperator } from './expression-tests.ts';
import { timeOf } from './test-times.ts';

/** Tested as attributes are. Their values stand in the row of a device, not in the dictionary. */
export const DAY_ATTRIBUTE_NAMES = ['registered', 'lastSeen'] as const;
export type DayAttribute = (typeof DAY_ATTRIBUTE_NAMES)[number];

/** Whether a day of a device is in a range. A device of which it is not known is in none. */
export interface DaysTest {
  readonly day: DayAttribute;
  /** Days since 1970, in UTC. Absent: any. */
  readonly from?: number;
  /** The day after the last one. Absent: any. */
  readonly until?: number;
  /** The devices in the range are not meant; all others are. */
  readonly isExcluded?: true;
}

/** Null: not known. */
export type DeviceDays = Readonly<Record<DayAttribute, number | null>>;

const DAY_MS = 86_400_000;

/** The ranges of which one meets the test. `values`: as `readTime` has kept them. */
export function rangesOf(
  day: DayAttribute,
  operator: TestOperator,
  values: readonly string[],
  nowMs: number,
): readonly DaysTest[] {
  if (operator === 'has') return [{ day }];
  const days = [...new Set(values.map((value) => Math.floor(timeOf(value, nowMs) / DAY_MS)))];
  return days.flatMap((at): readonly DaysTest[] => {
    switch (operator) {
      case '<':
        return [{ day, until: at }];
      case '<=':
        return [{ day, until: at + 1 }];
      case '>':
        return [{ day, from: at + 1 }];
      case '>=':
        return [{ day, from: at }];
      case '!=':
        return [
          { day, until: at },
          { day, from: at + 1 },
        ];
      default:
        return [{ day, from: at, until: at + 1 }];
    }
  });
}

/** Whether a device with these days meets it. */
export function meetsDays(test: DaysTest, days: DeviceDays | null): boolean {
  const { from = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = test;
  const known = days?.[test.day] ?? null;
  const isIn = known !== null && known >= from && known < until;
  return isIn !== (test.isExcluded ?? false);
}
