/** Checks PostgreSQL: that it answers, its settings, its schema, and that the secret key fits. */

import { secretKeyFault } from '../access/credentials.ts';
import type { Secrets } from '../access/secrets.ts';
import { CONNECTIONS_PER_NODE, CONNECTIONS_PER_WORKER } from '../database/connections.ts';
import { databaseFault } from '../database/database-fault.ts';
import { checkSessionSettings, findAddress } from '../database/find-address.ts';
import { readSchemaState } from '../database/migrate.ts';
import { readClock } from '../database/read-clock.ts';
import type { Sql, SqlPool } from '../database/sql.ts';
import { connect } from '../database/sql.ts';
import { POSTGRES_VERSION_MIN } from '../database/store.ts';
import { counted } from '../std/counted.ts';
import { SettingFault } from '../std/setting-fault.ts';
import { checkClock, checkSetBack } from './clock.ts';
import type { Finding } from './finding.ts';
import { findingsAbout } from './finding.ts';

const { ok, warning, problem } = findingsAbout('PostgreSQL');
const secretKey = findingsAbout('SECRET_KEY');

/** For commands, backups and people. */
const CONNECTIONS_KEPT = 20;
const CONNECTIONS_MAX = 2;
const CLOSE_TIMEOUT_SECONDS = 1;

interface Settings {
  readonly version: string;
  readonly versionNumber: number;
  readonly fsync: string;
  readonly synchronousCommit: string;
  readonly fullPageWrites: string;
  readonly connectionsMax: number;
  readonly isReadOnly: boolean;
}

interface DatabaseCheck {
  readonly findings: readonly Finding[];
  /** To look further into it; null: it cannot be used, or is empty. */
  readonly sql: SqlPool | null;
  close(): Promise<void>;
}

/** Looks, and changes nothing: the schema is brought up to date by the next start of an engine. */
export async function checkDatabase(
  url: string,
  workers: number,
  secrets: Secrets,
): Promise<DatabaseCheck> {
  let close = async (): Promise<void> => undefined;
  try {
    const sql = connect(await findAddress(url), CONNECTIONS_MAX);
    close = () => sql.end({ timeout: CLOSE_TIMEOUT_SECONDS });
    await checkSessionSettings(sql);
    const settings = await readSettings(sql);
    const findings = [
      ...checkServer(settings),
      await checkClock('PostgreSQL', () => readClock(sql)),
    ];
    const schema = await checkSchema(sql);
    findings.push(...schema.findings);
    if (!schema.isThere) return { findings, sql: null, close };
    findings.push(...(await checkSetBack(sql)));
    findings.push(await checkConnections(sql, settings, workers));
    const fault = await secretKeyFault(sql, secrets);
    findings.push(fault === null ? secretKey.ok('it fits the database') : secretKey.problem(fault));
    return { findings, sql, close };
  } catch (error) {
    const fault = error instanceof SettingFault ? error : databaseFault(url, error);
    return { findings: [problem(fault.message)], sql: null, close };
  }
}

async function readSettings(sql: Sql): Promise<Settings> {
  const [row] = await sql<Settings[]>`
    select current_setting('server_version') as version,
      current_setting('server_version_num')::integer as "versionNumber",
      current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as "synchronousCommit",
      current_setting('full_page_writes') as "fullPageWrites",
      current_setting('max_connections')::integer as "connectionsMax",
      pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as "isReadOnly"`;
  if (row === undefined) throw new Error('PostgreSQL did not return its settings');
  return row;
}

function* checkServer(settings: Settings): Generator<Finding> {
  const { version, versionNumber, isReadOnly, fsync, synchronousCommit, fullPageWrites } = settings;
  yield versionNumber < POSTGRES_VERSION_MIN
    ? problem(`it is ${version}: upgrade it to 15 or later.`)
    : ok(`it answers: version ${version}`);
  if (isReadOnly) yield problem('it accepts no writes: use the primary, or promote this one.');
  const off = [
    ...(fsync === 'off' ? ['fsync'] : []),
    ...(fullPageWrites === 'off' ? ['full_page_writes'] : []),
  ];
  yield off.length === 0
    ? ok('fsync and full_page_writes are on')
    : problem(`${off.join(' and ')} off: a power cut may destroy the database; set it on.`);
  yield synchronousCommit === 'off'
    ? problem(
        'synchronous_commit is off: registrations that were answered OK may be gone after a crash; set it on.',
      )
    : ok(`synchronous_commit is ${synchronousCommit}`);
}

async function checkSchema(
  sql: SqlPool,
): Promise<{ readonly isThere: boolean; readonly findings: readonly Finding[] }> {
  const { isEmpty, missing, ahead, fault } = await readSchemaState(sql);
  if (isEmpty) {
    const text =
      'it is empty: the first start of an engine makes the tables, and `tagcast store move` brings here what an embedded database has.';
    return { isThere: false, findings: [warning(text)] };
  }
  if (fault !== null) return { isThere: false, findings: [problem(fault)] };
  const findings = [
    ...(missing.length === 0
      ? [ok('its tables are up to date')]
      : [
          warning(
            `it lacks ${counted(missing.length, 'migration')}: the next start of an engine of this version applies what is missing.`,
          ),
        ]),
    ...(ahead.length === 0
      ? []
      : [warning(`a later version runs on it (${ahead.at(-1)}): upgrade this node, too.`)]),
  ];
  return { isThere: missing.length === 0, findings };
}

/** The nodes that live now, or the one to be started, and one more for a rolling upgrade. */
async function checkConnections(
  sql: Sql,
  { connectionsMax }: Settings,
  workers: number,
): Promise<Finding> {
  const [row] = await sql<{ nodes: number }[]>`
    select count(*)::integer as nodes from nodes where died_at is null`;
  const nodes = Math.max(row?.nodes ?? 0, 1);
  const perNode = CONNECTIONS_PER_NODE + CONNECTIONS_PER_WORKER * workers;
  const wanted = (nodes + 1) * perNode + CONNECTIONS_KEPT;
  const sentence = `max_connections is ${connectionsMax}; ${counted(nodes, 'node')} and one more in an upgrade want ${wanted}`;
  return connectionsMax >= wanted
    ? ok(sentence)
    : warning(`${sentence}: raise it, or answers will be 503 when they run out.`);
}
