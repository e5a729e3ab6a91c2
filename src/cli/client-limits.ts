/** `tagcast client limits`: what a client may have, and how often its callers may ask. */

import type { ClientLimitName, ClientLimits } from '../domain/client-limits.ts';
import {
  CLIENT_LIMIT_DEFAULTS,
  CLIENT_LIMIT_MEANINGS,
  CLIENT_LIMIT_NAMES,
  limitOf,
} from '../domain/client-limits.ts';
import { tableRow } from '../std/visible-text.ts';
import { readNumber } from './arguments.ts';
import type { Flag } from './command.ts';
import type { Plan } from './operator-command.ts';
import { asking } from './operator-command.ts';

const DEFAULT = 'default';

/** `requestsPerSecond` as a flag: `requests-per-second`. */
const flagOf = (name: ClientLimitName): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const LIMIT_FLAGS: Readonly<Record<string, Flag & { readonly type: 'string' }>> =
  Object.fromEntries(
    CLIENT_LIMIT_NAMES.map((name) => [
      flagOf(name),
      {
        type: 'string',
        value: `number|${DEFAULT}`,
        about: `${CLIENT_LIMIT_MEANINGS[name]} (${CLIENT_LIMIT_DEFAULTS[name]})`,
      },
    ]),
  );

export type LimitValues = Readonly<Record<string, string | undefined>>;

const LIMITS = '/operator/v1/clients/{clientId}/limits';

/** Makes the request: without a flag, it only shows the limits. */
export function planLimits(client: string, flags: LimitValues): Plan {
  const changes: { readonly [Name in ClientLimitName]?: number | null } = Object.fromEntries(
    CLIENT_LIMIT_NAMES.flatMap((name): [ClientLimitName, number | null][] => {
      const text = flags[flagOf(name)];
      if (text === undefined) return [];
      return [[name, text === DEFAULT ? null : readNumber(`--${flagOf(name)}`, text)]];
    }),
  );
  const path = { clientId: client };
  return asking(async (api) => {
    const { body } = await (Object.keys(changes).length === 0
      ? api.request('GET', LIMITS, { path })
      : api.request('PATCH', LIMITS, { path, body: changes }));
    return body;
  }, describeLimits);
}

const describeLimits = (own: ClientLimits): string =>
  CLIENT_LIMIT_NAMES.map((name) => {
    const isOwn = own[name] !== undefined;
    const origin = isOwn ? `set; default ${CLIENT_LIMIT_DEFAULTS[name]}` : DEFAULT;
    return tableRow(name, limitOf(own, name), `${CLIENT_LIMIT_MEANINGS[name]} (${origin})`);
  }).join('\n');
