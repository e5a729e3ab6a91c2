/** `credentials`: shows owners the tokens and passwords of the super user and of each app. */

import { clientLimitMax } from '../../domain/client-limits.ts';
import type { OwnerRoute } from '../../http/handler.ts';
import { json } from '../../http/json-body.ts';
import { openCredential } from '../credentials.ts';
import type { Secrets } from '../secrets.ts';
import type { CredentialInForce } from '../sql/list-credentials-in-force.ts';
import { listCredentialsInForce } from '../sql/list-credentials-in-force.ts';
import type { MemberParts } from './members.ts';

export const credentialsRoute = ({ sql, secrets }: MemberParts): OwnerRoute => ({
  api: 'console',
  needs: 'owner',
  operation: 'showCredentials',
  method: 'GET',
  path: '/console/api/credentials',
  bodyBytesMax: 0,
  async handle(_request, { clientId }) {
    const rows = await listCredentialsInForce(sql, clientId, clientLimitMax('apps') + 1);
    const superUser = rows.find(({ appId }) => appId === null);
    const apps = rows.filter(({ appId }) => appId !== null);
    return json({
      superUser: superUser === undefined ? null : show(secrets, superUser),
      apps: apps.map((row) => ({
        appId: row.appId,
        name: row.appName,
        apiUser: show(secrets, row),
      })),
    });
  },
});

/** Null: it was made with another SECRET_KEY, and nobody can read it. */
function show(secrets: Secrets, row: CredentialInForce) {
  const opened = openCredential(secrets, row);
  if (opened.kind === 'unreadable') return null;
  const { username, password, token } = opened.credential;
  return { userName: username, password, token };
}
