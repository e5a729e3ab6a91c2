/** The operator's routes in the process of a command, beside the engines on its database. */

import { loadSecretKey } from '../../access/secret-key.ts';
import { createSecrets } from '../../access/secrets.ts';
import { fetchWithin } from '../../api/operator-door.ts';
import { operatorRoutes } from '../../api/operator-routes.ts';
import { GivenAttributes } from '../../attributes/given-attributes.ts';
import { Catalogue } from '../../catalogue/catalogue.ts';
import { operatorApi } from '../../cli/operator-api.ts';
import type { OperatorSession } from '../../cli/operator-command.ts';
import { openPostgres } from '../../database/store.ts';
import { IMPORT_LANES, Importer } from '../../devices/import/importer.ts';
import { createCheck } from '../../provider-credentials/provider-check.ts';
import { jobCanceller } from '../../push/cancel-jobs.ts';
import { NO_FEED } from '../../tag-index/tag-index.ts';
import { JobJournal } from '../../telemetry/job-journal.ts';
import { createCommandLogger } from '../../telemetry/log.ts';
import type { Config } from '../config.ts';
import { providerOrigins } from '../provider-origins.ts';

/** The database is migrated first, so that a client can be created before the first start. */
export async function openOperatorRoutes(
  config: Config & { readonly DATABASE_URL: string },
): Promise<OperatorSession> {
  const origins = providerOrigins(config, null);
  const secrets = createSecrets(await loadSecretKey(config), config.SECRET_KEY_OTHER);
  const store = await openPostgres(config.DATABASE_URL);
  const { sql } = store;
  const importer = new Importer({
    sql,
    // The group versions show the index which changes it lacks.
    feed: NO_FEED,
    log: createCommandLogger('error'),
    onCommitted: () => undefined,
    lanes: IMPORT_LANES,
    devicesPerAppMax: config.DEVICES_PER_APP_MAX,
    tagsPerDeviceMax: config.TAGS_PER_DEVICE_MAX,
  });
  const log = createCommandLogger('info');
  const routes = operatorRoutes({
    sql,
    secrets,
    origins,
    check: createCheck(sql, secrets, origins),
    log,
    cancelJobs: jobCanceller({ sql, journal: new JobJournal(log) }),
    catalogue: new Catalogue(sql),
    importer,
    attributes: new GivenAttributes({ sql }),
  });
  return {
    api: operatorApi(fetchWithin(routes)),
    close: () => store.close(),
  };
}
