/**
 * Writes the log's lines of one turn of the event loop together: each write wakes whoever reads the
 * log, which costs more than the line. Lines are out before the process exits, also after an error
 * that nobody caught; `kill -9` loses those of the last turn.
 */

import type { DestinationStream } from 'pino';
import { pino } from 'pino';

/** @limit characters of log lines that wait for the end of a turn → they are written at once */
const WAITING_MAX = 65_536;

/** A destination that writes to stdout, or to `to`. */
export function gatheredLines(to: DestinationStream = pino.destination(1)): DestinationStream {
  let waiting = '';
  const flush = (): void => {
    if (waiting === '') return;
    const lines = waiting;
    waiting = '';
    to.write(lines);
  };
  process.on('exit', flush);
  return {
    write(line: string): void {
      if (waiting === '') setImmediate(flush);
      waiting += line;
      if (waiting.length > WAITING_MAX) flush();
    },
  };
}
