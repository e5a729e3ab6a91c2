/** The terminal of this process: printed texts go to stdout, all others to stderr. */

import { visibleText } from '../std/visible-text.ts';
import type { Terminal } from './terminal.ts';

export const processTerminal: Terminal = {
  print: (text) => void process.stdout.write(`${visibleText(text)}\n`),
  complain: (text) => void process.stderr.write(`${visibleText(text)}\n`),
  note: (text) => void process.stderr.write(`${visibleText(text)}\n`),
  write,
  progress: {
    isTerminal: process.stderr.isTTY === true,
    write: (text) => void process.stderr.write(text),
  },
};

/** A reader that goes away (`| head`) is not an error. */
function write(data: string): Promise<boolean> {
  return new Promise((resolve) => {
    const onError = (): void => resolve(false);
    process.stdout.once('error', onError);
    process.stdout.write(data, (error) => {
      resolve(!error);
      // The event comes after this, and still needs its listener.
      setImmediate(() => process.stdout.off('error', onError));
    });
  });
}
