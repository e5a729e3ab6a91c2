/** Where the reach of a small send lies: in the row of its scope, which a report writes anyway. */

import { REACHED_IN_SCOPE_MAX } from '../../domain/progress.ts';
import type { Task } from '../protocol/task.ts';

/** `devices`: of the task. */
export const mayLieInScope = ({ isAlone }: Task, devices: number): boolean =>
  isAlone && devices <= REACHED_IN_SCOPE_MAX;
