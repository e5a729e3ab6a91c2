/** `tagcast client limits`: what a client may have, and how often its callers may ask. */

import type { ClientLimitName, ClientLimits } from '../domain/client-limits.ts';
import {
  CLIENT_LIMIT_DEFAULTS,
  CLIENT_LIMIT_MEANINGS,
  CLIENT_LIMIT_NAMES,
  limitOf,
} from '../domain/client-limits.ts';
import type { LimitChanges } from '../store/clients/client-limits.ts';
import type { Errand } from './operator-command.ts';
import { readFlags, readNumber, readPositionals } from './operator-command.ts';

const DEFAULT = 'default';

/** `requestsPerSecond` as a flag: `requests-per-second`. */
const flagOf = (name: ClientLimitName): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const FLAGS = Object.fromEntries(
  CLIENT_LIMIT_NAMES.map((name) => [flagOf(name), { type: 'string' } as const]),
);

const FLAG_WIDTH = 2 + Math.max(...CLIENT_LIMIT_NAMES.map((name) => flagOf(name).length));

/** The flags, for `--help`. */
export const LIMITS_USAGE = CLIENT_LIMIT_NAMES.map(
  (name) =>
    `  --${flagOf(name).padEnd(FLAG_WIDTH)}${CLIENT_LIMIT_MEANINGS[name]} (${CLIENT_LIMIT_DEFAULTS[name]})`,
).join('\n');

/** Makes the errand: without a flag, it only tells the limits. */
export function planLimits(args: readonly string[]): Errand {
  const { values, positionals } = readFlags(args, FLAGS);
  const { client } = readPositionals(positionals, ['client']);
  const changes: LimitChanges = Object.fromEntries(
    CLIENT_LIMIT_NAMES.flatMap((name): [ClientLimitName, number | null][] => {
      const text = values[flagOf(name)];
      if (typeof text !== 'string') return [];
      return [[name, text === DEFAULT ? null : readNumber(`--${flagOf(name)}`, text)]];
    }),
  );
  return { action: 'client.limits', input: { client, ...changes }, describe: describeLimits };
}

const describeLimits = (own: ClientLimits): string =>
  CLIENT_LIMIT_NAMES.map((name) => {
    const isOwn = own[name] !== undefined;
    const origin = isOwn ? `set; default ${CLIENT_LIMIT_DEFAULTS[name]}` : DEFAULT;
    return `${name}\t${limitOf(own, name)}\t${CLIENT_LIMIT_MEANINGS[name]} (${origin})`;
  }).join('\n');
