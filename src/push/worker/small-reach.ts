/** Where the reach of a small send lies: in the row of its scope, which a report writes anyway. */

import type { Task } from '../protocol/task.ts';

/**
 * They take two octets each in a row that many things write.
 * @limit devices of a task whose reach is written into the row of its scope, where one group was
 * planned for it → a row of its own
 */
const REACHED_IN_SCOPE_MAX = 64;

/** `devices`: of the task. */
export const mayLieInScope = ({ isAlone }: Task, devices: number): boolean =>
  isAlone && devices <= REACHED_IN_SCOPE_MAX;
