/** Descriptions in the OpenAPI document of whole APIs, of credentials and of problems. */

import type { Route } from '../../http/handler.ts';

export const DESCRIPTION = `Devices register for tags; one notification reaches every device of a tag once.

Faults are answered as problems (RFC 9457), which list all that is wrong with a request. Every answer carries an \`X-Request-Id\`. \
Callers must ignore fields of answers that they do not know.`;

export const TAGS = {
  app: {
    name: 'App API',
    description: `Apps on devices call it, as the API user of their app. Bodies are JSON, whatever \`Content-Type\` says, of up to 64 KiB.

Parameters are read leniently. One is given when its key is there: \`null\`, \`[]\`, \`""\` and \`[""]\` are given, and name no tag. \
Unknown fields are ignored; \`reg\`, \`ureg\`, \`set\` and \`devices/replace\` name them in \`Tagcast-Ignored\`. \
Another app than the credential's, existing or not, is \`403\`; on \`reg\`, \`ureg\` and \`set\` it is an invalid parameter.`,
  },
  notification: {
    name: 'Notification API',
    description:
      'Publishers submit and control pushes. A key that is limited to tags, groups or apps sees and controls its own jobs only: `404` for others.',
  },
  admin: {
    name: 'Admin API',
    description:
      'Tags, groups, apps, statistics, credentials of a client. What existing clients call (`tag/…`, `app/…`) takes JSON, whatever the `Content-Type` says, or a `multipart/form-data` with one part `data` that is JSON.',
  },
  console: {
    name: 'Console',
    description: `What the pages under \`/console/\` use for accounts, with the session of somebody who has signed in. All else they do goes through the other APIs, with the session in place of a credential, under the role of its member. Every answer is \`Cache-Control: no-store\`.

A sign-in sets a cookie: \`HttpOnly\`, \`SameSite=Lax\`; over TLS \`Secure\`, and its name begins with \`__Host-\`. A request with it, under whatever prefix,

- carries \`X-CSRF-Token\` with the \`csrfToken\` of the session; all but \`GET session\` itself,
- comes from a page of the same origin, by \`Sec-Fetch-Site\` or \`Origin\`, and gets no CORS headers,
- names its client: in its path, or else in the header \`Tagcast-Client\`,
- has no \`Authorization\`: a credential counts before the cookie.

An owner may do what the super user may, and sees members and credentials. A publisher may do what a key with the scopes \`send\` and \`read\` may; a viewer, what a key with \`read\` may. No role may call the App API. Accounts of the operator see \`system\`; they belong to no client by that. \
A role that is taken away, a session that is ended, and a client that is disabled are refused within a second on every node. \`401\` has the challenge \`Session\`, so that no browser asks for a password in a window of its own.`,
  },
  operator: {
    name: 'Operator',
    description:
      'For the operator of the installation, where `OPERATOR_TOKEN` is set: `Authorization: Bearer <its value>`. Without it these paths are `404`. The socket of the engine, `DATA_DIR/engine.sock`, serves them without a token to who may open it: `curl -s --unix-socket data/engine.sock http://engine/operator/v1/clients`. The commands for operators ask there.',
  },
  open: {
    name: 'Service',
    description: 'Everybody may ask, without a credential: health, metrics, this document.',
  },
} as const satisfies Readonly<Record<Route['api'], unknown>>;

export const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'A token: `tca_…` of an app, `tcs_…` of a super user, `tck_…` of a further key.',
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'User name and password. Deprecated; it works.',
  },
  operator: {
    type: 'http',
    scheme: 'bearer',
    description: 'The value of `OPERATOR_TOKEN`.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'tagcast_session',
    description: 'Of somebody who has signed in to the console. Over TLS `__Host-tagcast_session`.',
  },
} as const;

export const PROBLEMS: Readonly<Record<number, string>> = {
  400: 'The body or the parameters are not valid: `errors` names each fault. Also a body that is not UTF-8 or is compressed, or has more than 131,072 names and values; a `%` in the path that is no percent-encoding.',
  401: 'No credential, or a wrong one.',
  403: 'The credential is for something else, or its client is disabled; or the client has as much as it may: `detail` names the limit.',
  404: 'No such path, or no such object of the client.',
  405: 'Another method: `Allow` lists those of the path.',
  408: 'The body did not arrive within 30 s. The connection is closed.',
  409: 'The state of the object does not allow it, or another one has the name.',
  412: 'It has been changed since the ETag of `If-Match`.',
  413: 'The body is too long: above 1 MiB, of `devices/replace` above 64 KiB, of the console 16 KiB.',
  422: 'The `Idempotency-Key` came before with another body.',
  429: 'Too much in a short time: `detail` names the limit.',
  500: 'A fault of the engine: its log says why.',
  503: 'The database cannot be reached, or too much is waiting. Nothing was committed.',
};
