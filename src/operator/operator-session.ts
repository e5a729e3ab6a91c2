/** An operator's actions directly on the database, beside the engines that run on it. */

import { loadSecretKey } from '../access/secret-key.ts';
import type { Secrets } from '../access/secrets.ts';
import { createSecrets } from '../access/secrets.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import type { Sql } from '../database/sql.ts';
import { openPostgres } from '../database/store.ts';
import { IMPORT_LANES, Importer } from '../devices/import/importer.ts';
import type { ProviderOrigins } from '../providers/origins.ts';
import { NO_FEED } from '../tag-index/tag-index.ts';
import { createCommandLogger } from '../telemetry/log.ts';
import type { OperatorActions, OperatorParts } from './operator-actions.ts';
import { createOperatorActions } from './operator-actions.ts';

/**
 * The session of a command. It is opened only when a command runs, so that `--help` opens nothing.
 */
export interface OperatorSession {
  readonly actions: OperatorActions;
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly DATABASE_URL: string;
  readonly SECRET_KEY?: string | undefined;
  readonly SECRET_KEY_OTHER?: string | undefined;
  readonly DATA_DIR: string;
  readonly DEVICES_PER_APP_MAX: number;
  readonly TAGS_PER_DEVICE_MAX: number;
  readonly origins: ProviderOrigins;
  /** Makes the function that asks a provider whether a credential works. */
  readonly checkOf: (sql: Sql, secrets: Secrets) => OperatorParts['check'];
}

/** The database is migrated first, so that a client can be created before the first start. */
export async function openOperatorSession(options: SessionOptions): Promise<OperatorSession> {
  const { DATABASE_URL, origins, checkOf } = options;
  const secrets = createSecrets(await loadSecretKey(options), options.SECRET_KEY_OTHER);
  const store = await openPostgres(DATABASE_URL);
  const importer = new Importer({
    sql: store.sql,
    // The group versions show the index which changes it lacks.
    feed: NO_FEED,
    log: createCommandLogger('error'),
    onCommitted: () => undefined,
    lanes: IMPORT_LANES,
    devicesPerAppMax: options.DEVICES_PER_APP_MAX,
    tagsPerDeviceMax: options.TAGS_PER_DEVICE_MAX,
  });
  return {
    actions: createOperatorActions({
      sql: store.sql,
      secrets,
      log: createCommandLogger('info'),
      origins,
      check: checkOf(store.sql, secrets),
      catalogue: new Catalogue(store.sql),
      importer,
      tagsPerDeviceMax: options.TAGS_PER_DEVICE_MAX,
    }),
    close: () => store.close(),
  };
}
