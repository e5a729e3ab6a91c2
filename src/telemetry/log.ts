/** The log: pino, JSON lines on stdout, with every secret and device token removed. */

import type { DestinationStream, Logger } from 'pino';
import { pino } from 'pino';

/**
 * Fields that may hold a secret or a device token; removed at the top level and one level below.
 */
const REDACTED_FIELDS = [
  'authorization',
  'password',
  'token',
  'privateKey',
  'private_key',
  'secretKey',
  'assertion',
  'deviceId',
  'deviceIds',
  // In this field PostgreSQL quotes the row or the key that it refuses.
  'detail',
];

const CENSOR = '[redacted]';

const STDOUT = 1;
/** A turn that has more to say writes what it has: one write to a pipe takes so much at once. */
const BLOCK_LENGTH_MAX = 65_536;

/**
 * Makes the logger of a process or thread; `name` tells them apart. Without `to` it writes to
 * stdout.
 */
export const createLogger = (
  level: string,
  name: string,
  to: DestinationStream = linesByTurn(pino.destination({ fd: STDOUT, sync: true })),
): Logger => pino(optionsOf(level, name), to);

/**
 * Writes the lines of a turn of the event loop together. A write wakes whoever reads the other end
 * of a pipe, which costs ten times as much as the line (decision 62). An exit, whatever its reason,
 * writes what is left; kill -9 loses the lines of one turn.
 */
export function linesByTurn(to: DestinationStream): DestinationStream {
  let lines = '';
  const flush = (): void => {
    if (lines === '') return;
    const block = lines;
    lines = '';
    to.write(block);
  };
  process.on('exit', flush);
  return {
    write(line) {
      if (lines === '') setImmediate(flush);
      lines += line;
      if (lines.length >= BLOCK_LENGTH_MAX) flush();
    },
  };
}

/**
 * A logger of lines that are written often and have no secret within an object: to look for one
 * there costs three times the line. At the top level it is removed here too.
 */
export const flatLogger = (log: Logger): Logger =>
  log.child({}, { redact: { paths: REDACTED_FIELDS, censor: CENSOR } });

/** The logger of a command. It writes to stderr, because stdout may be the command's data. */
export const createCommandLogger = (level: 'info' | 'error'): Logger =>
  pino(optionsOf(level, 'tagcast'), pino.destination(2));

const optionsOf = (level: string, name: string) => ({
  level,
  name,
  redact: {
    paths: REDACTED_FIELDS.flatMap((field) => [field, `*.${field}`]),
    censor: CENSOR,
  },
});
