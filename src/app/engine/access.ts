/** Who may come in: credentials, sessions, accounts; and what the log says of who tried in vain. */

import type { Logger } from 'pino';
import { AccountLookup } from '../../access/accounts/account-lookup.ts';
import { Attempts } from '../../access/accounts/attempts.ts';
import { LinkLookup } from '../../access/accounts/links.ts';
import { Passwords } from '../../access/accounts/passwords.ts';
import { Sessions } from '../../access/accounts/sessions.ts';
import type { AccountParts } from '../../access/accounts/sign-in.ts';
import type { AccountReport } from '../../access/accounts/sign-in-records.ts';
import { SignInRecords } from '../../access/accounts/sign-in-records.ts';
import { Authenticator } from '../../access/authenticate.ts';
import { Failures } from '../../access/failures.ts';
import { Guesses } from '../../access/guesses.ts';
import type { EngineParts } from './parts.ts';

export interface Access extends AccountParts {
  readonly authenticator: Authenticator;
  readonly sessions: Sessions;
  readonly failures: Failures;
}

export function createAccess({ store, secrets, log }: EngineParts): Access {
  const { sql } = store;
  const guesses = new Guesses((report) =>
    log.warn(report, 'wrong credentials came from an address'),
  );
  return {
    sql,
    secrets,
    authenticator: new Authenticator(sql, secrets),
    sessions: new Sessions(sql, secrets),
    failures: new Failures(undefined, guesses),
    passwords: new Passwords(),
    attempts: new Attempts(),
    accounts: new AccountLookup(sql),
    links: new LinkLookup(sql, secrets),
    guesses,
    records: new SignInRecords(sql, (report) => tell(log, report)),
  };
}

/** Logs events of accounts without a client: those of clients have the audit log. */
function tell(log: Logger, { action, ...report }: AccountReport): void {
  switch (action) {
    case 'member.sign-in':
      log.info(report, 'an account of the operator, or without a client, has signed in');
      return;
    case 'member.password':
      log.info(report, 'an account of the operator, or without a client, has a new password');
      return;
    case 'member.sign-in-refused':
      log.warn(report, 'a sign-in of the operator, or of somebody without a client, was refused');
  }
}
