/** Lists every (app, platform) of a client: its pushes can go there. */

import type { PlatformId } from '../../../../packages/std/src/platforms.ts';
import type { Sql } from '../../../database/sql.ts';
import type { Scope } from '../../../domain/device.ts';

export interface ClientScope extends Scope<PlatformId> {
  /** Whether a template turns payloads into what goes there (templates/templates.ts). */
  readonly hasTemplate: boolean;
}

export const listScopes = (sql: Sql, clientId: number) => sql<ClientScope[]>`
  select p.app_id as "appId", p.platform_id as "platformId", p.has_template as "hasTemplate"
  from apps a join app_platforms p on p.app_id = a.id
  where a.client_id = ${clientId}
  order by p.app_id, p.platform_id`;
