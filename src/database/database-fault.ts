/** Explains in one sentence, without the password of the URL, why a PostgreSQL cannot be used. */

import { SettingFault } from '../std/setting-fault.ts';
import { tlsFault } from '../std/tls-fault.ts';
import { describePlace } from './database-url.ts';
import { faultOf } from './faults.ts';

/** SQLSTATEs, or codes of the socket: what is wrong, and what to do. */
const MEANINGS: readonly (readonly [codes: RegExp, meaning: string])[] = [
  [/^ECONNREFUSED$/, 'nothing listens there: start PostgreSQL, or correct host and port'],
  [/^ENOENT$/, 'there is no such socket: start PostgreSQL, or correct the path'],
  [/^(ENOTFOUND|EAI_)/, 'the host name cannot be resolved: correct it, or check the DNS'],
  [
    /^(ETIMEDOUT|CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/,
    'no answer: correct host and port, or check the firewall',
  ],
  [
    /^(ECONNRESET|EPIPE|CONNECTION_)/,
    'the connection was closed: check the log of the server, or of the proxy in between',
  ],
  [/^28/, 'the server refuses the sign-in: correct user and password, or pg_hba.conf'],
  [/^3D000$/, 'the server has no such database: create it (createdb), or correct the name'],
  [/^42501$/, 'the user lacks a right: allow it to create tables in its schema'],
  [/^25006$/, 'it accepts no writes (a standby, or read-only): use the primary, or promote it'],
  [/^53300$/, 'the server has no more connections: raise max_connections'],
  [/^53100$/, 'the disk of the server is full: make room; nothing is lost'],
  [/^57P03$/, 'the server is starting or stopping: start again when it is up'],
];

const TLS_ADVICE = {
  trust: 'name the PEM file of its authority by sslrootcert in the URL',
  plain: 'take sslmode out of the URL, or turn TLS on at the server (ssl = on)',
};

/** A missing database, a missing right. */
const MISSING = /^(3D000|42501)$/;

/** The fault to report for an error of the database or of the connection to it. */
export function databaseFault(url: string, error: unknown): SettingFault {
  const message = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  const meaning = tlsFault(error, TLS_ADVICE) ?? MEANINGS.find(([codes]) => codes.test(code))?.[1];
  const why = meaning === undefined ? message : `${meaning} (${message})`;
  return new SettingFault(`DATABASE_URL: ${describePlace(url)}: ${why}.`, { cause: error });
}

/** Other errors are shown with their stack. */
export const isOfDatabase = (error: unknown): boolean =>
  faultOf(error) === 'unavailable' || MISSING.test(codeOf(error));

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';
