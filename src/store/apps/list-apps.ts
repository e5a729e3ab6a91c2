/** The apps of a client by id, each with its platforms and which of them have a provider's credential. */

import type { Sql } from '../sql.ts';

export interface AppRow {
  readonly id: number;
  readonly name: string;
  readonly platforms: readonly { readonly platformId: number; readonly hasCredential: boolean }[];
}

export const listApps = (sql: Sql, clientId: number): Promise<readonly AppRow[]> =>
  sql<AppRow[]>`
    select apps.id, apps.name, coalesce(
      json_agg(json_build_object('platformId', platform_id, 'hasCredential', credential_sealed is not null)
               order by platform_id) filter (where platform_id is not null),
      '[]') as platforms
    from apps left join app_platforms on app_id = apps.id
    where client_id = ${clientId}
    group by apps.id
    order by apps.id`;
