/** The log: pino, JSON lines on stdout, with every secret and device token removed. */

import type { DestinationStream, Logger } from 'pino';
import { pino } from 'pino';
import { visibleText } from '../std/visible-text.ts';

/** Fields that may hold a secret or a device token, at the top level and one level below. */
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

/** `name` identifies the thread. Without `to` it writes to stdout. */
export const createLogger = (level: string, name: string, to?: DestinationStream): Logger =>
  pino(optionsOf(level, name), to);

/** For frequent lines without secrets in objects: looking for one costs three times the line. */
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
  // In JSON the escape means the same, and people read the log on a terminal.
  hooks: { streamWrite: visibleText },
});
