/** Tests of what only the row of a device knows: its days, and its numbers. No index has them. */

import type { DaysTest, DeviceDays } from './device-days.ts';
import { meetsDays } from './device-days.ts';
import type { NumberEntry, NumbersTest } from './device-numbers.ts';
import { meetsNumbers } from './device-numbers.ts';

export type RowTest = DaysTest | NumbersTest;

export interface DeviceRow extends DeviceDays {
  readonly numbers: readonly NumberEntry[];
}

/** Whether a device with this row meets it. Null: nothing is known of the device. */
export const meetsRow = (test: RowTest, row: DeviceRow | null): boolean =>
  'day' in test ? meetsDays(test, row) : meetsNumbers(test, row?.numbers ?? []);
