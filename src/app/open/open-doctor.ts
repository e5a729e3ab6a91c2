/** Puts the checks of `tagcast doctor` together, on the settings of the engine beside it. */

import { loadSecretKey } from '../../access/secret-key.ts';
import { createSecrets } from '../../access/secrets.ts';
import { checkCertificates } from '../../doctor/certificates.ts';
import { checkCredentials } from '../../doctor/credentials.ts';
import { checkDatabase } from '../../doctor/database.ts';
import { checkEmbedded } from '../../doctor/embedded.ts';
import { checkEngine } from '../../doctor/engine-check.ts';
import type { Finding } from '../../doctor/finding.ts';
import { findingsAbout } from '../../doctor/finding.ts';
import { checkFront } from '../../doctor/front.ts';
import { checkDescriptors, checkDisk, checkNode, readDisk } from '../../doctor/machine.ts';
import { checkRedis } from '../../doctor/redis.ts';
import { createCheck } from '../../provider-credentials/provider-check.ts';
import { SettingFault } from '../../std/setting-fault.ts';
import type { Config } from '../config.ts';
import { mistypedSettings, redisAddressOf, settingsWithoutDatabase } from '../config.ts';
import { providerOrigins } from '../provider-origins.ts';

/** All findings, in the order of the parts. `asksProviders`: each stored credential is tried. */
export async function examine(config: Config, asksProviders: boolean): Promise<readonly Finding[]> {
  const { DATA_DIR, DATABASE_URL, EMBEDDED_FSYNC: fsync } = config;
  const address = redisAddressOf(config);
  return [
    checkNode(),
    await checkFront(config.HTTP_FRONT),
    ...doubtfulSettings(config),
    checkDescriptors(DATABASE_URL === undefined),
    checkDisk(DATA_DIR, await readDisk(DATA_DIR), DATABASE_URL === undefined),
    ...checkCertificates(config),
    ...(DATABASE_URL === undefined
      ? await checkEmbedded(DATA_DIR, { fsync })
      : await examineDatabase(config, DATABASE_URL, asksProviders)),
    ...(address === null ? [] : await checkRedis(address)),
    ...(await checkEngine(config)),
  ];
}

/** Settings that were most likely meant otherwise: the start logs them, too. */
function doubtfulSettings(config: Config): readonly Finding[] {
  const { warning } = findingsAbout('settings');
  const unset = settingsWithoutDatabase(config);
  return [
    ...mistypedSettings().map(([name, nearest]) =>
      warning(`${name} is not read: call it ${nearest}, if it is meant to be that.`),
    ),
    ...(unset.length === 0
      ? []
      : [
          warning(
            `${unset.join(', ')} without DATABASE_URL: the embedded database is used; set DATABASE_URL for another.`,
          ),
        ]),
  ];
}

export const settingsFindings = (faults: readonly string[]): readonly Finding[] =>
  faults.map(findingsAbout('settings').problem);

async function examineDatabase(
  config: Config,
  url: string,
  asksProviders: boolean,
): Promise<readonly Finding[]> {
  const key = await loadSecretKey(config).catch((error: unknown) => {
    if (error instanceof SettingFault) return error;
    throw error;
  });
  if (key instanceof SettingFault) return settingsFindings([key.message]);
  const secrets = createSecrets(key, config.SECRET_KEY_OTHER);
  const { findings, sql, close } = await checkDatabase(url, config.WORKERS, secrets);
  try {
    if (sql === null) return findings;
    const check = asksProviders ? createCheck(sql, secrets, providerOrigins(config, null)) : null;
    return [...findings, ...(await checkCredentials(sql, check))];
  } finally {
    await close();
  }
}
