/** The log of what the operator does to accounts: without a client they have no audit log. */

import type { Logger } from 'pino';
import { sourceOf } from '../../audit/operator-origin.ts';
import type { HttpRequest } from '../../http/handler.ts';

type Action =
  | `operator.${'add' | 'remove' | 'invite'}`
  | `member.${'invite' | 'role' | 'remove' | 'reset'}`;

/** Logs who gets into the console, or no longer does. `whom` has no secret, and no link. */
export const logAccountAction = (
  log: Logger,
  request: HttpRequest,
  action: Action,
  whom: {
    readonly email?: string;
    readonly client?: string;
    readonly role?: string;
    readonly cancelJobs?: boolean;
  },
): void =>
  log.info(
    { action, ...whom, ...sourceOf(request) },
    'the operator has carried out a command on accounts',
  );
