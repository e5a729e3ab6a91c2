/**
 * `DATABASE_URL` as libpq reads it (PostgreSQL's documentation, "Connection URIs"): the driver
 * knows neither a socket in `?host=` nor other names of libpq, and sends what it does not know to
 * the server as a setting.
 */

import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';

/** Where a database is, and how to get in. What is absent has the default of the driver. */
export interface DatabasePlace {
  readonly server: { readonly host: string; readonly port: number } | null;
  /** In place of a server; null: none. */
  readonly socketPath: string | null;
  readonly user: string | null;
  readonly password: string | null;
  readonly database: string | null;
  readonly tls: Tls | null;
  readonly connectTimeoutSeconds: number | null;
  /** For the server, as `statement_timeout`. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface Tls {
  readonly mode: (typeof SSL_MODES)[number];
  /** Files; null: none. */
  readonly ca: string | null;
  readonly certificate: string | null;
  readonly key: string | null;
}

export type ReadPlace =
  | { readonly ok: true; readonly place: DatabasePlace }
  /** A sentence without subject and full stop; it quotes no secret. */
  | { readonly ok: false; readonly fault: string };

const FORM = 'must be a URL as postgres://user:password@host:5432/database';
const URL_FORM = /^postgres(?:ql)?:\/\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/i;
const HOST_FORM = /^(\[[0-9a-f:.]+\]|[^:[\]]*)(?::(\d{1,5}))?$/i;
const PORT = 5_432;
const PORT_MAX = 65_535;

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
/** What the driver calls them, in `ssl`. */
const SSL_OF_DRIVER: Readonly<Record<string, string>> = { true: 'verify-full', false: 'disable' };
/** Of libpq, and of no use to us, or what we do anyway. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  ...['application_name', 'fallback_application_name', 'client_encoding', 'tcp_user_timeout'],
  ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count'],
  ...['gssencmode', 'channel_binding', 'sslcompression', 'sslsni', 'krbsrvname', 'gsslib'],
]);
/** Of libpq, and not to be left out in silence. */
const UNKNOWN_HERE: ReadonlySet<string> = new Set([
  ...['service', 'passfile', 'require_auth', 'sslcrl', 'sslcrldir', 'sslpassword'],
  ...['ssl_min_protocol_version', 'ssl_max_protocol_version', 'sslcertmode', 'requiressl'],
  ...['load_balance_hosts', 'requirepeer', 'replication', 'sslnegotiation'],
]);

/** What may be asked of a server: whether it can be written to is checked at the start anyway. */
const SESSIONS: ReadonlySet<string> = new Set(['any', 'read-write', 'primary']);
const SESSION = 'must have target_session_attrs read-write, primary or any: the engine writes';
/** The driver goes round among several for ever while none of them answers. */
const SEVERAL =
  'names several hosts: give one address that leads to the primary, as a proxy or a virtual address does';

/** A sentence, thrown within this file only. */
class Unreadable extends Error {}

/** Reads a URL, or says what is wrong with it. */
export function readDatabaseUrl(text: string): ReadPlace {
  try {
    return { ok: true, place: read(text) };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, fault: error.message };
    // URIError: a % that begins no octet.
    if (error instanceof URIError) return { ok: false, fault: `${FORM}; a % in it is %25` };
    throw error;
  }
}

function read(text: string): DatabasePlace {
  const [, authority, path = '', query = ''] = URL_FORM.exec(text) ?? [];
  if (authority === undefined) throw new Unreadable(FORM);
  const at = authority.lastIndexOf('@');
  const [user = '', ...secret] = authority.slice(0, Math.max(at, 0)).split(':');
  const given = new Map(
    query
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => pair.split('='))
      .map(([name = '', ...value]) => [
        decodeURIComponent(name),
        decodeURIComponent(value.join('=')),
      ]),
  );
  const take = (name: string): string | null => {
    const value = given.get(name) ?? '';
    given.delete(name);
    return value === '' ? null : value;
  };
  const place = {
    ...serverOf(authority.slice(at + 1), take),
    user: take('user') ?? textOf(user),
    password: take('password') ?? textOf(secret.join(':')),
    database: take('dbname') ?? textOf(path),
    tls: tlsOf(take),
    connectTimeoutSeconds: Number(take('connect_timeout') ?? 0) || null,
  };
  const session = take('target_session_attrs') ?? 'any';
  if (!SESSIONS.has(session)) throw new Unreadable(SESSION);
  for (const name of WITHOUT_EFFECT) {
    if (take(name) === 'require') throw new Unreadable(`asks for ${name}, which is not known here`);
  }
  const unknown = [...given.keys()].find((name) => UNKNOWN_HERE.has(name));
  if (unknown !== undefined) throw new Unreadable(`has ${unknown}, which is not known here`);
  return { ...place, settings: Object.fromEntries(given) };
}

type Take = (name: string) => string | null;

const textOf = (encoded: string): string | null =>
  encoded === '' ? null : decodeURIComponent(encoded);

function serverOf(named: string, take: Take): Pick<DatabasePlace, 'server' | 'socketPath'> {
  // hostaddr saves libpq the look-up of host.
  const host = take('host');
  const given = take('hostaddr') ?? host;
  const port = take('port');
  if ([named, given, port].some((text) => text?.includes(','))) throw new Unreadable(SEVERAL);
  const [, inUrl, portInUrl] = HOST_FORM.exec(named) ?? [];
  if (inUrl === undefined) throw new Unreadable(FORM);
  const server = {
    host: given ?? decodeURIComponent(inUrl).replace(/^\[|\]$/g, ''),
    port: Number(port ?? portInUrl ?? PORT),
  };
  const isPort = Number.isInteger(server.port) && server.port > 0 && server.port <= PORT_MAX;
  if (!isPort) throw new Unreadable(FORM);
  if (server.host.startsWith('/')) {
    return { server: null, socketPath: `${server.host}/.s.PGSQL.${server.port}` };
  }
  return { server: server.host === '' ? null : server, socketPath: null };
}

function tlsOf(take: Take): Tls | null {
  const [mode, ssl] = [take('sslmode'), take('ssl')];
  const [ca, certificate, key] = [take('sslrootcert'), take('sslcert'), take('sslkey')];
  const named = mode ?? (ssl === null ? null : (SSL_OF_DRIVER[ssl] ?? ssl));
  if (named === null) {
    if (ca === null && certificate === null) return null;
    throw new Unreadable('has a certificate, and no sslmode: sslmode=verify-full checks it');
  }
  const known = SSL_MODES.find((one) => one === named);
  if (known === undefined)
    throw new Unreadable(`has an sslmode that is none of ${SSL_MODES.join(', ')}`);
  return { mode: known, ca: ca === 'system' ? null : ca, certificate, key };
}

/** Lists: the driver would cut a text at the colons of IPv6. Its types know none. */
const asLists = ({ host, port }: { readonly host: string; readonly port: number }) => ({
  host: [host] as unknown as string,
  port: [port] as unknown as number,
});

/** As the driver takes it. Files are read for each pool. */
export function driverOptionsOf(place: DatabasePlace) {
  const { server, socketPath, user, password, database, connectTimeoutSeconds } = place;
  return {
    ...(server === null ? {} : asLists(server)),
    ...(socketPath === null ? {} : { path: socketPath }),
    ...(user === null ? {} : { user }),
    ...(password === null ? {} : { password }),
    ...(database === null ? {} : { database }),
    ...(place.tls === null ? {} : { ssl: sslOf(place.tls) }),
    ...(connectTimeoutSeconds === null ? {} : { connect_timeout: connectTimeoutSeconds }),
  };
}

function sslOf({ mode, ca, certificate, key }: Tls): false | 'prefer' | ConnectionOptions {
  if (mode === 'disable') return false;
  // Whether there is TLS at all is the server's choice in both.
  if (mode === 'allow' || mode === 'prefer') return 'prefer';
  // As libpq does: with an authority the certificate is checked.
  const isChecked = mode !== 'require' || ca !== null;
  return {
    rejectUnauthorized: isChecked,
    ...(ca === null ? {} : { ca: readFileSync(ca) }),
    ...(certificate === null ? {} : { cert: readFileSync(certificate) }),
    ...(key === null ? {} : { key: readFileSync(key) }),
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

/** User, host, port and database for people, without the password. */
export function describePlace(url: string): string {
  const read = readDatabaseUrl(url);
  if (!read.ok) return 'the database';
  const { server, socketPath, user, database } = read.place;
  const where = socketPath ?? (server === null ? '' : textOfServer(server));
  return `${user === null ? '' : `${user}@`}${where}${database === null ? '' : `/${database}`}`;
}

const textOfServer = ({ host, port }: { readonly host: string; readonly port: number }): string =>
  `${host.includes(':') ? `[${host}]` : host}${port === PORT ? '' : `:${port}`}`;
