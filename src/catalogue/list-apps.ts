/** Lists the apps of a client by id, with their platforms and whether these have a credential. */

import type { Sql } from '../database/sql.ts';

export interface AppRow {
  readonly id: number;
  readonly name: string;
  readonly platforms: readonly {
    readonly platformId: number;
    readonly hasCredential: boolean;
    /** The provider has refused the credential that was put last. */
    readonly isRefused: boolean;
    readonly isHealthy: boolean | null;
  }[];
}

export const listApps = (sql: Sql, clientId: number): Promise<readonly AppRow[]> =>
  sql<AppRow[]>`
    select apps.id, apps.name, coalesce(
      json_agg(json_build_object('platformId', p.platform_id, 'hasCredential', credential_sealed is not null,
                                'isRefused', refused_reason is not null, 'isHealthy', check_ok)
               order by p.platform_id) filter (where p.platform_id is not null),
      '[]') as platforms
    from apps left join app_platforms p on p.app_id = apps.id
      left join credential_health h on h.app_id = p.app_id and h.platform_id = p.platform_id
    where client_id = ${clientId}
    group by apps.id
    order by apps.id`;
