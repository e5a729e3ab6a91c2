/** Where a command writes. */

import type { ProgressOutput } from './progress.ts';

export interface Terminal {
  print(text: string): void;
  complain(text: string): void;
  /** Reports what a command does, apart from its output. */
  note(text: string): void;
  /** Writes data as it is. Resolves when there is room: with false when the reader has gone. */
  write(data: string): Promise<boolean>;
  readonly progress: ProgressOutput;
}
