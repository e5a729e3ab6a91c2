/** A terminal that remembers, and an operator's context over given actions. */

import type { OperatorContext } from '../../src/cli/operator-command.ts';
import type { OperatorActions } from '../../src/operator/operator-actions.ts';

export interface RecordedContext extends OperatorContext {
  readonly printed: string[];
  readonly complaints: string[];
  readonly notes: string[];
  /** What was written as data. */
  data(): string;
  /** How often a way to the engine was opened, less how often it was closed again. */
  openSessions(): number;
}

export function recordedContext(actions: OperatorActions): RecordedContext {
  const printed: string[] = [];
  const complaints: string[] = [];
  const notes: string[] = [];
  let data = '';
  let sessions = 0;
  return {
    printed,
    complaints,
    notes,
    data: () => data,
    openSessions: () => sessions,
    terminal: {
      print: (text) => void printed.push(text),
      complain: (text) => void complaints.push(text),
      note: (text) => void notes.push(text),
      write(text) {
        data += text;
        return Promise.resolve(true);
      },
      progress: { isTerminal: false, write: () => undefined },
    },
    open() {
      sessions += 1;
      return Promise.resolve({
        actions,
        close() {
          sessions -= 1;
          return Promise.resolve();
        },
      });
    },
  };
}
