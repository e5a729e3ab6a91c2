/** `credentials`: shows owners the tokens and passwords of the super user and of each app. */

import { z } from 'zod';
import { clientLimitMax } from '../../domain/client-limits.ts';
import { shown } from '../../http/answers.ts';
import { CLIENT_HEADER, id } from '../../http/openapi/parts.ts';
import { done } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { openCredential } from '../credentials.ts';
import type { Secrets } from '../secrets.ts';
import type { CredentialInForce } from '../sql/list-credentials-in-force.ts';
import { listCredentialsInForce } from '../sql/list-credentials-in-force.ts';
import type { MemberParts } from './members.ts';

const credential = z
  .object({ userName: z.string(), password: z.string(), token: z.string() })
  .nullable()
  .meta({ description: 'Null: it cannot be read with the `SECRET_KEY` in use.' });
const credentials = z.object({
  superUser: credential,
  apps: z.array(z.object({ appId: id, name: z.string(), apiUser: credential })),
});
const CREDENTIALS = {
  superUser: { userName: 'demo-super', password: 'x9Kd…', token: 'tcs_…' },
  apps: [],
};

export const credentialsRoute = ({ sql, secrets }: MemberParts) =>
  routesAt('/console/api/credentials', { api: 'console', needs: 'owner' }).get(
    'showCredentials',
    {
      summary: 'Show the credentials of the client and its apps',
      description: 'In clear text. No cache may store them.',
      headers: CLIENT_HEADER,
      answer: shown('The credentials in force.', credentials, CREDENTIALS),
    },
    async ({ caller: { clientId } }) => {
      const rows = await listCredentialsInForce(sql, clientId, clientLimitMax('apps') + 1);
      const superUser = rows.find(({ appId }) => appId === null);
      return done({
        superUser: superUser === undefined ? null : open(secrets, superUser),
        apps: rows.flatMap(({ appId, appName, ...sealed }) =>
          appId === null || appName === null
            ? []
            : [{ appId, name: appName, apiUser: open(secrets, sealed) }],
        ),
      });
    },
  );

/** Null: it was made with another SECRET_KEY, and cannot be read. */
function open(secrets: Secrets, sealed: Omit<CredentialInForce, 'appId' | 'appName'>) {
  const opened = openCredential(secrets, sealed);
  if (opened.kind === 'unreadable') return null;
  const { username, password, token } = opened.credential;
  return { userName: username, password, token };
}
