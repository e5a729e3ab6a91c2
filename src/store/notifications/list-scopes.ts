/** Every (app, platform) of some clients: where a push of theirs can go. */

import type { Scope } from '../../domain/notification.ts';
import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';

export interface ClientScope extends Scope {
  readonly clientId: number;
}

export const listScopes = (sql: Sql, clientIds: readonly number[]) => sql<ClientScope[]>`
  select a.client_id as "clientId", p.app_id as "appId", p.platform_id as "platformId"
  from apps a join app_platforms p on p.app_id = a.id
  where a.client_id = any(${list(clientIds)}::integer[])
  order by p.app_id, p.platform_id`;
