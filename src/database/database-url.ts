/**
 * `DATABASE_URL` as libpq reads it (PostgreSQL, "Connection URIs"): the driver does not know all of
 * its names, and sends those that it does not know to the server as settings.
 */

import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { counted } from '../std/counted.ts';

/** Where a database is, and how to get in. What is absent has the default of the driver. */
interface DatabasePlace {
  /** In the order in which they are tried, each once. Empty: the driver's default, or a socket. */
  readonly servers: readonly Server[];
  /** Abilities that a session must have, else the next server is tried; null: none. */
  readonly session: Session | null;
  /** In place of servers; null: none. */
  readonly socketPath: string | null;
  readonly user: string | null;
  readonly password: string | null;
  readonly database: string | null;
  readonly tls: Tls | null;
  readonly connectTimeoutSeconds: number | null;
  /** For the server, as `statement_timeout`. */
  readonly settings: Readonly<Record<string, string>>;
}

interface Server {
  readonly host: string;
  readonly port: number;
}

/** Values of `target_session_attrs`. */
type Session = 'read-write' | 'primary';

interface Tls {
  readonly mode: (typeof SSL_MODES)[number];
  /** Files; null: none. */
  readonly ca: string | null;
  readonly certificate: string | null;
  readonly key: string | null;
}

type ReadPlace =
  | { readonly ok: true; readonly place: DatabasePlace }
  /** A sentence without subject and full stop; it quotes no secret. */
  | { readonly ok: false; readonly fault: string };

const FORM = 'must be a URL as postgres://user:password@host:5432/database';
const ENCODED = 'must have its password percent-encoded: @ is %40, / is %2F, ? is %3F, # is %23';
const URL_FORM = /^postgres(?:ql)?:\/\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/i;
const HOST_FORM = /^(\[[0-9a-f:.]+\]|[^:[\]]*)(?::(\d{1,5}))?$/i;
const PORT = 5_432;
const PORT_MAX = 65_535;

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
/** The driver's names for them, in `ssl`. */
const SSL_OF_DRIVER: Readonly<Record<string, string>> = { true: 'verify-full', false: 'disable' };
/** Parameters of libpq that have no use here, or that name our only way. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  ...['application_name', 'fallback_application_name', 'client_encoding', 'tcp_user_timeout'],
  ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count'],
  ...['gssencmode', 'channel_binding', 'sslcompression', 'sslsni', 'krbsrvname', 'gsslib'],
]);
/** Parameters of libpq that must not be ignored in silence. */
const UNKNOWN_HERE: ReadonlySet<string> = new Set([
  ...['service', 'passfile', 'require_auth', 'sslcrl', 'sslcrldir', 'sslpassword'],
  ...['ssl_min_protocol_version', 'ssl_max_protocol_version', 'sslcertmode', 'requiressl'],
  ...['load_balance_hosts', 'requirepeer', 'replication', 'sslnegotiation'],
]);

/** The engine writes: `any` of several servers is one that can. */
const SESSIONS: ReadonlyMap<string, Session> = new Map([
  ['any', 'read-write'],
  ['read-write', 'read-write'],
  ['primary', 'primary'],
]);
const SESSION = 'must have target_session_attrs read-write, primary or any: the engine writes';
/** The driver tries several hosts, or one socket. */
const SEVERAL = 'names several places, one of them a socket: name hosts only, or one socket';

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
  // A / or ? of the password has cut the URL, and the rest of the password would count as a name.
  const isCut =
    path.includes('@') || (!HOST_FORM.test(authority.slice(at + 1)) && query.includes('@'));
  if (isCut) throw new Unreadable(ENCODED);
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
  const places = placesOf(authority.slice(at + 1), take);
  const session = SESSIONS.get(take('target_session_attrs') ?? 'any');
  if (session === undefined) throw new Unreadable(SESSION);
  const place = {
    ...places,
    session: places.servers.length > 1 ? session : null,
    user: take('user') ?? textOf(user),
    password: take('password') ?? textOf(secret.join(':')),
    database: take('dbname') ?? textOf(path),
    tls: tlsOf(take),
    connectTimeoutSeconds: Number(take('connect_timeout') ?? 0) || null,
  };
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

function placesOf(named: string, take: Take): Pick<DatabasePlace, 'servers' | 'socketPath'> {
  const inUrl = named.split(',').map((text) => {
    const [, host, port] = HOST_FORM.exec(text) ?? [];
    if (host === undefined) throw new Unreadable(FORM);
    return { host: decodeURIComponent(host).replace(/^\[|\]$/g, ''), port };
  });
  // hostaddr saves libpq the look-up of host.
  const names = take('host')?.split(',');
  const addresses = take('hostaddr')?.split(',');
  if (names !== undefined && addresses !== undefined && names.length !== addresses.length) {
    throw new Unreadable(
      `names ${counted(names.length, 'host')} and ${counted(addresses.length, 'address', 'addresses')}`,
    );
  }
  const hosts = addresses ?? names ?? inUrl.map(({ host }) => host);
  const ports = take('port')?.split(',') ?? inUrl.map(({ port }) => port);
  // One port is that of all.
  if (ports.length !== 1 && ports.length !== hosts.length) {
    throw new Unreadable(
      `names ${counted(hosts.length, 'host')} and ${counted(ports.length, 'port')}`,
    );
  }
  const servers = hosts.map((host, i) => ({
    host,
    port: portOf(ports.length === 1 ? ports[0] : ports[i]),
  }));
  if (servers.length > 1) {
    if (hosts.includes('')) throw new Unreadable(FORM);
    if (hosts.some(isSocket)) throw new Unreadable(SEVERAL);
    return { servers, socketPath: null };
  }
  const socketPath = servers
    .filter(({ host }) => isSocket(host))
    .map(({ host, port }) => `${host}/.s.PGSQL.${port}`);
  return {
    servers: servers.filter(({ host }) => host !== '' && !isSocket(host)),
    socketPath: socketPath[0] ?? null,
  };
}

const isSocket = (host: string): boolean => host.startsWith('/');

function portOf(text: string | undefined): number {
  const port = Number(text ?? PORT);
  if (Number.isInteger(port) && port > 0 && port <= PORT_MAX) return port;
  throw new Unreadable(FORM);
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
const asLists = (servers: readonly Server[]) => ({
  host: servers.map(({ host }) => host) as unknown as string,
  port: servers.map(({ port }) => port) as unknown as number,
});

/** The options in the driver's form. Files are read for each pool. */
export function driverOptionsOf(place: DatabasePlace) {
  const { servers, session, socketPath, user, password, database, connectTimeoutSeconds } = place;
  return {
    ...(servers.length === 0 ? {} : asLists(servers)),
    ...(session === null ? {} : { target_session_attrs: session }),
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
  // Like libpq: with an authority the certificate is checked.
  const isChecked = mode !== 'require' || ca !== null;
  return {
    rejectUnauthorized: isChecked,
    ...(ca === null ? {} : { ca: readFileSync(ca) }),
    ...(certificate === null ? {} : { cert: readFileSync(certificate) }),
    ...(key === null ? {} : { key: readFileSync(key) }),
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

/** User, hosts, ports and database for people, without the password. */
export function describePlace(url: string): string {
  const read = readDatabaseUrl(url);
  if (!read.ok) return 'the database';
  const { servers, socketPath, user, database } = read.place;
  const where = socketPath ?? servers.map(textOfServer).join(',');
  return `${user === null ? '' : `${user}@`}${where}${database === null ? '' : `/${database}`}`;
}

const textOfServer = ({ host, port }: Server): string =>
  `${host.includes(':') ? `[${host}]` : host}${port === PORT ? '' : `:${port}`}`;
