/** Lists how the providers of all clients are, those in trouble first, for the operator. */

import type { Sql } from '../../database/sql.ts';
import type { CredentialState } from './read-credential-states.ts';
import { credentialColumns } from './read-credential-states.ts';

interface CredentialStanding extends CredentialState {
  readonly appName: string;
  /** Its slug. */
  readonly clientId: string;
  readonly clientName: string;
}

/** Those with a credential, or with sends; without one the sends went to a simulator. */
export const listStandings = (sql: Sql, limit: number): Promise<readonly CredentialStanding[]> =>
  sql<CredentialStanding[]>`
    select ${credentialColumns(sql)}, a.name as "appName", c.slug as "clientId", c.name as "clientName"
    from app_platforms p
    join apps a on a.id = p.app_id
    join clients c on c.id = a.client_id
    left join credential_health h using (app_id, platform_id)
    where c.deleted_at is null
      and (p.credential_sealed is not null or h.accepted_at is not null or h.fault is not null)
    order by h.refused_since nulls last, p.app_id, p.platform_id
    limit ${limit}`;
