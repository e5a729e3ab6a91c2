/** The log: pino, JSON lines on stdout, with every secret and device token taken out. */

import type { Logger } from 'pino';
import { pino } from 'pino';

/** Fields that may hold a secret or a device token, wherever a caller might put them. */
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
  // PostgreSQL quotes the row or the key there that it refuses.
  'detail',
];

/** Makes the process' logger; `name` tells threads apart. */
export const createLogger = (level: string, name: string): Logger => pino(optionsOf(level, name));

/** The logger of a command, whose stdout may be somebody's data. */
export const createCommandLogger = (): Logger =>
  pino(optionsOf('error', 'tagcast'), pino.destination(2));

const optionsOf = (level: string, name: string) => ({
  level,
  name,
  redact: {
    paths: REDACTED_FIELDS.flatMap((field) => [field, `*.${field}`]),
    censor: '[redacted]',
  },
});
