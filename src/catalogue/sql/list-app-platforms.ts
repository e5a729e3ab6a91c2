/** A client's apps as the public service lists them: a row per platform, with the sealed token. */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';

export interface AppPlatform {
  readonly id: number;
  readonly name: string;
  readonly platformId: number;
  /** Null: none are kept. */
  readonly parameters: object | null;
  /** The credential in force; null: there is none. */
  readonly apiUser: {
    readonly username: string;
    readonly tokenSealed: Buffer;
    readonly keyId: string;
  } | null;
}

interface AppPlatformsToList {
  readonly clientId: number;
  /** Only these apps; null: all. */
  readonly appIds: readonly number[] | null;
  readonly afterId: number;
  readonly afterPlatformId: number;
  readonly limit: number;
}

export async function listAppPlatforms(
  sql: Sql,
  { clientId, appIds, afterId, afterPlatformId, limit }: AppPlatformsToList,
): Promise<readonly AppPlatform[]> {
  const rows = await sql<Row[]>`
    select a.id, a.name, p.platform_id as "platformId", m.parameters,
      c.username, c.token_sealed as "tokenSealed", c.key_id as "keyId"
    from apps a
    join app_platforms p on p.app_id = a.id
    left join app_parameters m on m.app_id = p.app_id and m.platform_id = p.platform_id
    left join lateral (
      select username, token_sealed, key_id from credentials
      where client_id = a.client_id and app_id = a.id and expires_at is null
      order by id desc limit 1
    ) c on true
    where a.client_id = ${clientId}
      and (a.id, p.platform_id) > (${afterId}::integer, ${afterPlatformId}::smallint)
      ${appIds === null ? sql`` : sql`and a.id = any (${list(appIds)}::integer[])`}
    order by a.id, p.platform_id limit ${limit}`;
  return rows.map(({ username, tokenSealed, keyId, ...app }) => ({
    ...app,
    apiUser:
      username === null || tokenSealed === null || keyId === null
        ? null
        : { username, tokenSealed, keyId },
  }));
}

type Row = Omit<AppPlatform, 'apiUser'> & {
  readonly username: string | null;
  readonly tokenSealed: Buffer | null;
  readonly keyId: string | null;
};
