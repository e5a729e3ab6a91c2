/**
 * Every route of the server × every role and scope, by credential and by session × the wrong
 * client, the wrong app, no credential, one that was rotated, in its grace and after it: the
 * answers stand in the table. A route that it does not have fails the test.
 */

import t from 'tap';
import { createCredential, rotateCredential } from '../../src/access/credentials.ts';
import { makeDocument } from '../../src/api/openapi/document.ts';
import { insertApp } from '../../src/catalogue/sql/insert-app.ts';
import { raiseCatalogueVersion } from '../../src/clients/lock-client.ts';
import type { SqlPool } from '../../src/database/sql.ts';
import type { Store } from '../../src/database/store.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { createKey } from '../../src/keys/keys.ts';
import type { NewAccount, SignedIn } from '../support/accounts.ts';
import { addAccount, beginSession } from '../support/accounts.ts';
import type { Tenant } from '../support/api.ts';
import { addTenant, secrets } from '../support/api.ts';
import { DocumentCheck } from '../support/document-check.ts';
import { nextSlug, sharedService } from '../support/shared-service.ts';
import { makeWebhook } from '../support/webhooks.ts';

/** Who asks, in the order of the columns. */
const CALLERS = [
  'nobody',
  'one who guesses',
  'the API user',
  'the API user in its grace',
  'the API user after its grace',
  "another app's API user",
  "another client's API user",
  'the super user',
  'the super user in its grace',
  'the super user after its grace',
  "another client's super user",
  'a key to send',
  'a key to read',
  'a key to administer',
  'a key of another tag to send and read',
  'a key of another app to send and read',
  "another client's key of all scopes",
  'an owner, signed in',
  'a publisher, signed in',
  'a viewer, signed in',
  "another client's owner, signed in",
  'an owner without the CSRF token',
  'an owner, from a page elsewhere',
  'an owner whose session has ended',
  'an operator, signed in, of no client',
] as const;
type CallerName = (typeof CALLERS)[number];

/** The things that a caller may ask for: its own where asking uses it up. */
interface Things {
  readonly demo: Tenant;
  readonly tagId: number;
  readonly job: string;
  /** Not due for a long time. */
  readonly later: string;
  /** The number of this caller. */
  readonly number: number;
  readonly operationId: number;
  readonly doomedKey: number;
  readonly webhookId: number;
  readonly doomedTag: number;
  readonly groupId: number;
  readonly doomedGroup: number;
}

type Ask = (things: Things) => { readonly path: string; readonly body?: unknown };
type Row = readonly [route: string, ask: Ask, ...statuses: readonly (readonly Status[])[]];
/** `200i`: OK, and nothing was done, because the app was ignored as none of the caller's. */
type Status = number | '200i';

const device = ({ demo }: Things) => ({
  appId: demo.appId,
  platformId: 3,
  deviceId: 'a'.repeat(64),
});
const to =
  (path: string, body?: (things: Things) => unknown): Ask =>
  (things) => ({
    path: path
      .replace('APP', String(things.demo.appId))
      .replace('TAG', String(things.tagId))
      .replace('JOB', things.job)
      .replace('LATER', things.later),
    ...(body === undefined ? {} : { body: body(things) }),
  });
const doomed = ({ number }: Things) => ({ tags: [{ sourceId: `doomed-${number}` }] });
const admin = '/push-admin-api';
const own = '/console/api';
const jobs = '/push-api/v3/demo/notifications';
const goal = ({ tagId }: Things) => ({ tagIds: [tagId], payload: { title: 'goal!' } });

/**
 * Columns, in groups: none, guess · API user: own, in grace, after, another app's, another client's
 * · super user: own, in grace, after, another client's · keys: send, read, admin, another tag's,
 * another app's, another client's · sessions: owner, publisher, viewer, another client's owner,
 * owner without CSRF token, from elsewhere, ended, operator of no client.
 */
// biome-ignore format: a table is read by its columns.
const TABLE: readonly Row[] = [
  ['GET /', to('/'), [200, 200], [200, 200, 200, 200, 200], [200, 200, 200, 200], [200, 200, 200, 200, 200, 200], [200, 200, 200, 200, 200, 200, 200, 200]],
  ['GET /livez', to('/livez'), [200, 200], [200, 200, 200, 200, 200], [200, 200, 200, 200], [200, 200, 200, 200, 200, 200], [200, 200, 200, 200, 200, 200, 200, 200]],
  ['GET /openapi.json', to('/openapi.json'), [200, 200], [200, 200, 200, 200, 200], [200, 200, 200, 200], [200, 200, 200, 200, 200, 200], [200, 200, 200, 200, 200, 200, 200, 200]],
  ['GET /docs/api', to('/docs/api'), [200, 200], [200, 200, 200, 200, 200], [200, 200, 200, 200], [200, 200, 200, 200, 200, 200], [200, 200, 200, 200, 200, 200, 200, 200]],
  ['GET /docs/api/:file', to('/docs/api/viewer.js'), [200, 200], [200, 200, 200, 200, 200], [200, 200, 200, 200], [200, 200, 200, 200, 200, 200], [200, 200, 200, 200, 200, 200, 200, 200]],
  ['GET /readyz', to('/readyz'), [200, 200], [200, 200, 200, 200, 200], [200, 200, 200, 200], [200, 200, 200, 200, 200, 200], [200, 200, 200, 200, 200, 200, 200, 200]],
  // From this machine only, whatever the credential; these callers come through a proxy.
  ['GET /metrics', to('/metrics'), [403, 403], [403, 403, 403, 403, 403], [403, 403, 403, 403], [403, 403, 403, 403, 403, 403], [403, 403, 403, 403, 403, 403, 403, 403]],

  ['POST /push-api/reg', to('/push-api/reg', (things) => ({ ...device(things), tagId: things.tagId })), [401, 401], [200, 200, 401, '200i', '200i'], [403, 403, 401, 403], [403, 403, 403, 403, 403, 403], [403, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/ureg', to('/push-api/ureg', (things) => ({ ...device(things), tagId: things.tagId })), [401, 401], [200, 200, 401, '200i', '200i'], [403, 403, 401, 403], [403, 403, 403, 403, 403, 403], [403, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/set', to('/push-api/set', (things) => ({ ...device(things), tagId: things.tagId })), [401, 401], [200, 200, 401, '200i', '200i'], [403, 403, 401, 403], [403, 403, 403, 403, 403, 403], [403, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/list', to('/push-api/list', device), [401, 401], [200, 200, 401, 403, 403], [403, 403, 401, 403], [403, 403, 403, 403, 403, 403], [403, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/tags', to('/push-api/tags', device), [401, 401], [200, 200, 401, 403, 403], [403, 403, 401, 403], [403, 403, 403, 403, 403, 403], [403, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-api/v3/:client/tags/:app', (things) => ({ path: `/push-api/v3/demo/tags/${things.demo.appId}` }), [401, 401], [200, 200, 401, 403, 403], [403, 403, 401, 403], [403, 403, 403, 403, 403, 403], [403, 403, 403, 403, 403, 403, 401, 403]],
  // 404: the device is not known.
  ['POST /push-api/v3/:client/device', to('/push-api/v3/demo/device', (things) => ({ ...device(things), deviceId: 'd'.repeat(64) })), [401, 401], [404, 404, 401, 403, 403], [403, 403, 401, 403], [403, 403, 403, 403, 403, 403], [403, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/v3/:client/device/erase', to('/push-api/v3/demo/device/erase', (things) => ({ ...device(things), deviceId: 'd'.repeat(64) })), [401, 401], [200, 200, 401, 403, 403], [403, 403, 401, 403], [403, 403, 403, 403, 403, 403], [403, 403, 403, 403, 403, 403, 401, 403]],
  // 404: the device is not there.
  ['POST /push-api/v3/:client/devices/replace', to('/push-api/v3/demo/devices/replace', (things) => ({ ...device(things), deviceId: 'b'.repeat(64), newDeviceId: 'c'.repeat(64) })), [401, 401], [404, 404, 401, 403, 403], [403, 403, 401, 403], [403, 403, 403, 403, 403, 403], [403, 403, 403, 403, 403, 403, 401, 403]],

  // Sent by another client, whose tag it is not: no device gets it.
  ['POST /push-api/push', to('/push-api/push', goal), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 200], [200, 403, 403, 403, 200, 200], [200, 200, 403, 200, 403, 403, 401, 403]],
  ['GET /push-api/status/:id', to('/push-api/status/JOB'), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 404], [403, 200, 403, 404, 404, 404], [200, 200, 200, 404, 403, 403, 401, 403]],

  ['GET /push-api/v3/:client/notifications', to(jobs), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 200, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['POST /push-api/v3/:client/notifications', to(jobs, goal), [401, 401], [403, 403, 401, 403, 403], [202, 202, 401, 403], [202, 403, 403, 403, 202, 403], [202, 202, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/v3/:client/notifications/preview', to(`${jobs}/preview`, goal), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [200, 403, 403, 403, 200, 403], [200, 200, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/v3/:client/notifications/estimate', to(`${jobs}/estimate`, ({ tagId }) => ({ tagIds: [tagId] })), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [200, 403, 403, 403, 200, 403], [200, 200, 403, 403, 403, 403, 401, 403]],
  // 400: a message of nothing, so that no rate is used up.
  ['POST /push-api/v3/:client/notifications/test', to(`${jobs}/test`, (things) => ({ ...device(things), payload: {} })), [401, 401], [403, 403, 401, 403, 403], [400, 400, 401, 403], [400, 403, 403, 403, 403, 403], [400, 400, 403, 403, 403, 403, 401, 403]],
  ['GET /push-api/v3/:client/notifications/:id', to(`${jobs}/JOB`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 404, 404, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['GET /push-api/v3/:client/notifications/:id/events', to(`${jobs}/JOB/events`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 404, 404, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['PATCH /push-api/v3/:client/notifications/:id', to(`${jobs}/LATER`, () => ({})), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [200, 403, 403, 404, 404, 403], [200, 200, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/v3/:client/notifications/:id/pause', to(`${jobs}/LATER/pause`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [200, 403, 403, 404, 404, 403], [200, 200, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/v3/:client/notifications/:id/resume', to(`${jobs}/LATER/resume`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [200, 403, 403, 404, 404, 403], [200, 200, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/v3/:client/notifications/:id/cancel', to(`${jobs}/LATER/cancel`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [200, 403, 403, 404, 404, 403], [200, 200, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/v3/:client/notifications/:id/replace', to(`${jobs}/LATER/replace`, goal), [401, 401], [403, 403, 401, 403, 403], [409, 409, 401, 403], [409, 403, 403, 403, 404, 403], [409, 409, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/v3/:client/notifications/:id/retry', to(`${jobs}/LATER/retry`, () => ({})), [401, 401], [403, 403, 401, 403, 403], [409, 409, 401, 403], [409, 403, 403, 403, 403, 403], [409, 409, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/v3/:client/notifications/:id/correct', to(`${jobs}/LATER/correct`, () => ({ payload: { title: 'x' } })), [401, 401], [403, 403, 401, 403, 403], [409, 409, 401, 403], [409, 403, 403, 403, 403, 403], [409, 409, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/v3/:client/notifications/:id/retract', to(`${jobs}/LATER/retract`, () => ({})), [401, 401], [403, 403, 401, 403, 403], [409, 409, 401, 403], [409, 403, 403, 403, 403, 403], [409, 409, 403, 403, 403, 403, 401, 403]],
  ['GET /push-api/v3/:client/drafts', to('/push-api/v3/demo/drafts'), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [200, 403, 403, 403, 403, 403], [200, 200, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/v3/:client/drafts', to('/push-api/v3/demo/drafts', () => ({ name: 'Draft', content: {} })), [401, 401], [403, 403, 401, 403, 403], [201, 201, 401, 403], [201, 403, 403, 403, 403, 403], [201, 201, 403, 403, 403, 403, 401, 403]],
  // 404: one that does not exist.
  ['GET /push-api/v3/:client/drafts/:id', to('/push-api/v3/demo/drafts/2147483647'), [401, 401], [403, 403, 401, 403, 403], [404, 404, 401, 403], [404, 403, 403, 403, 403, 403], [404, 404, 403, 403, 403, 403, 401, 403]],
  ['PATCH /push-api/v3/:client/drafts/:id', to('/push-api/v3/demo/drafts/2147483647', () => ({ revision: 1 })), [401, 401], [403, 403, 401, 403, 403], [404, 404, 401, 403], [404, 403, 403, 403, 403, 403], [404, 404, 403, 403, 403, 403, 401, 403]],
  ['DELETE /push-api/v3/:client/drafts/:id', to('/push-api/v3/demo/drafts/2147483647'), [401, 401], [403, 403, 401, 403, 403], [404, 404, 401, 403], [404, 403, 403, 403, 403, 403], [404, 404, 403, 403, 403, 403, 401, 403]],
  ['GET /push-api/v3/:client/test-devices', to('/push-api/v3/demo/test-devices'), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [200, 403, 403, 403, 403, 403], [200, 200, 403, 403, 403, 403, 401, 403]],
  ['POST /push-api/v3/:client/test-devices', to('/push-api/v3/demo/test-devices', (things) => ({ ...device(things), deviceId: `phone ${things.number}`, name: 'Phone' })), [401, 401], [403, 403, 401, 403, 403], [201, 201, 401, 403], [201, 403, 403, 403, 403, 403], [201, 201, 403, 403, 403, 403, 401, 403]],
  // 404: one that does not exist.
  ['DELETE /push-api/v3/:client/test-devices/:id', to('/push-api/v3/demo/test-devices/2147483647'), [401, 401], [403, 403, 401, 403, 403], [404, 404, 401, 403], [404, 403, 403, 403, 403, 403], [404, 404, 403, 403, 403, 403, 401, 403]],

  ['GET /push-admin-api/endpoints/get', to(`${admin}/endpoints/get`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 200], [200, 200, 200, 200, 200, 200], [200, 200, 200, 200, 403, 403, 401, 403]],
  ['GET /push-admin-api/tag/id/:value/:client', to(`${admin}/tag/id/TAG/demo`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 403, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/tag/sourceId/:value/:client', to(`${admin}/tag/sourceId/goals/demo`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 403, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/tag/add/:client', to(`${admin}/tag/add/demo`, ({ number }) => ({ tags: [{ name: 'New', sourceId: `doomed-${number}` }] })), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 403, 200, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/tag/update/:client', to(`${admin}/tag/update/demo`, doomed), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 403, 200, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/tag/delete/:client', to(`${admin}/tag/delete/demo`, doomed), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 403, 200, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/tags', to(`${admin}/v3/demo/tags`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 200, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/tags', to(`${admin}/v3/demo/tags`, () => ({ name: 'New' })), [401, 401], [403, 403, 401, 403, 403], [201, 201, 401, 403], [403, 403, 201, 403, 403, 403], [201, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/tags/:id', to(`${admin}/v3/demo/tags/TAG`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 403, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['PATCH /push-admin-api/v3/:client/tags/:id', to(`${admin}/v3/demo/tags/TAG`, () => ({ name: 'Goals' })), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 403, 200, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['DELETE /push-admin-api/v3/:client/tags/:id', ({ doomedTag }) => ({ path: `${admin}/v3/demo/tags/${doomedTag}` }), [401, 401], [403, 403, 401, 403, 403], [204, 204, 401, 403], [403, 403, 204, 403, 403, 403], [204, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/policies', to(`${admin}/v3/demo/policies`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 200, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['PUT /push-admin-api/v3/:client/policies', to(`${admin}/v3/demo/policies`, () => ({ categories: [] })), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 403, 200, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/segments', to(`${admin}/v3/demo/segments`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 403, 403, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/segments', to(`${admin}/v3/demo/segments`, ({ number }) => ({ name: `segment-${number}`, expression: 'goals' })), [401, 401], [403, 403, 401, 403, 403], [201, 201, 401, 403], [403, 403, 201, 403, 403, 403], [201, 403, 403, 403, 403, 403, 401, 403]],
  // 404: one that does not exist.
  ['GET /push-admin-api/v3/:client/segments/:name', to(`${admin}/v3/demo/segments/none`), [401, 401], [403, 403, 401, 403, 403], [404, 404, 401, 403], [403, 404, 403, 403, 403, 403], [404, 404, 404, 403, 403, 403, 401, 403]],
  ['PATCH /push-admin-api/v3/:client/segments/:name', to(`${admin}/v3/demo/segments/none`, () => ({ description: 'New' })), [401, 401], [403, 403, 401, 403, 403], [404, 404, 401, 403], [403, 403, 404, 403, 403, 403], [404, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/segments/:name/estimate', to(`${admin}/v3/demo/segments/none/estimate`), [401, 401], [403, 403, 401, 403, 403], [404, 404, 401, 403], [404, 403, 403, 403, 403, 403], [404, 404, 403, 403, 403, 403, 401, 403]],
  ['DELETE /push-admin-api/v3/:client/segments/:name', to(`${admin}/v3/demo/segments/none`), [401, 401], [403, 403, 401, 403, 403], [404, 404, 401, 403], [403, 403, 404, 403, 403, 403], [404, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/groups', to(`${admin}/v3/demo/groups`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 200, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/groups', to(`${admin}/v3/demo/groups`, () => ({ name: 'New' })), [401, 401], [403, 403, 401, 403, 403], [201, 201, 401, 403], [403, 403, 201, 403, 403, 403], [201, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/groups/:id', ({ groupId }) => ({ path: `${admin}/v3/demo/groups/${groupId}` }), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 403, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['PATCH /push-admin-api/v3/:client/groups/:id', ({ groupId }) => ({ path: `${admin}/v3/demo/groups/${groupId}`, body: { name: 'Clubs' } }), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 403, 200, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['DELETE /push-admin-api/v3/:client/groups/:id', ({ doomedGroup }) => ({ path: `${admin}/v3/demo/groups/${doomedGroup}` }), [401, 401], [403, 403, 401, 403, 403], [204, 204, 401, 403], [403, 403, 204, 403, 403, 403], [204, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/app/get/:client', to(`${admin}/app/get/demo`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 200, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/app/add/:client', to(`${admin}/app/add/demo`, () => ({ name: 'New', platformId: 7 })), [401, 401], [403, 403, 401, 403, 403], [200, 403, 401, 403], [403, 403, 200, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/app/update/:client', to(`${admin}/app/update/demo`, ({ demo }) => ({ id: demo.appId, platformId: 3 })), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 403, 200, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/apps', to(`${admin}/v3/demo/apps`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 200, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/apps', to(`${admin}/v3/demo/apps`, () => ({ name: 'New', platformIds: [7] })), [401, 401], [403, 403, 401, 403, 403], [201, 403, 401, 403], [403, 403, 201, 403, 403, 403], [201, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/apps/:id', to(`${admin}/v3/demo/apps/APP`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 200, 403, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['PATCH /push-admin-api/v3/:client/apps/:id', to(`${admin}/v3/demo/apps/APP`, () => ({ name: 'App' })), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 403, 200, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/apps/:id/platforms/:platform', to(`${admin}/v3/demo/apps/APP/platforms/3`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 403, 403, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  // 400: no credential, so that no provider is asked.
  ['PUT /push-admin-api/v3/:client/apps/:id/platforms/:platform', to(`${admin}/v3/demo/apps/APP/platforms/3`, () => ({})), [401, 401], [403, 403, 401, 403, 403], [400, 403, 401, 403], [403, 403, 400, 403, 403, 403], [400, 403, 403, 403, 403, 403, 401, 403]],
  ['DELETE /push-admin-api/v3/:client/apps/:id/platforms/:platform', to(`${admin}/v3/demo/apps/APP/platforms/3`), [401, 401], [403, 403, 401, 403, 403], [204, 204, 401, 403], [403, 403, 204, 403, 403, 403], [204, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/templates', to(`${admin}/v3/demo/templates`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 403, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/apps/:id/platforms/:platform/template', to(`${admin}/v3/demo/apps/APP/platforms/3/template`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 403, 403, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['PUT /push-admin-api/v3/:client/apps/:id/platforms/:platform/template', to(`${admin}/v3/demo/apps/APP/platforms/15/template`, () => ({ expression: '$' })), [401, 401], [403, 403, 401, 403, 403], [200, 403, 401, 403], [403, 403, 200, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/apps/:id/platforms/:platform/template/preview', to(`${admin}/v3/demo/apps/APP/platforms/15/template/preview`, () => ({ expression: '$' })), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 403, 200, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['DELETE /push-admin-api/v3/:client/apps/:id/platforms/:platform/template', to(`${admin}/v3/demo/apps/APP/platforms/3/template`), [401, 401], [403, 403, 401, 403, 403], [204, 204, 401, 403], [403, 403, 204, 403, 403, 403], [204, 403, 403, 403, 403, 403, 401, 403]],
  // 404: the app is not on this platform.
  ['POST /push-admin-api/v3/:client/apps/:id/platforms/:platform/probe', to(`${admin}/v3/demo/apps/APP/platforms/7/probe`), [401, 401], [403, 403, 401, 403, 403], [404, 404, 401, 403], [403, 403, 404, 403, 403, 403], [404, 403, 403, 403, 403, 403, 401, 403]],
  // 404: no such device is registered. For no key that is limited to some tags.
  ['GET /push-admin-api/v3/:client/attributes', to(`${admin}/v3/demo/attributes`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 200, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/attributes', to(`${admin}/v3/demo/attributes`, ({ number }) => ({ name: `a${number}`, type: 'text' })), [401, 401], [403, 403, 401, 403, 403], [201, 201, 401, 403], [403, 403, 201, 403, 403, 403], [201, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/attributes/:name', to(`${admin}/v3/demo/attributes/language`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 200, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  // 404: no attribute has this name.
  ['GET /push-admin-api/v3/:client/attributes/:name/values', to(`${admin}/v3/demo/attributes/nobody/values`), [401, 401], [403, 403, 401, 403, 403], [404, 404, 401, 403], [403, 404, 403, 403, 403, 403], [404, 404, 404, 403, 403, 403, 401, 403]],
  ['PATCH /push-admin-api/v3/:client/attributes/:name', to(`${admin}/v3/demo/attributes/nobody`, () => ({})), [401, 401], [403, 403, 401, 403, 403], [404, 404, 401, 403], [403, 403, 404, 403, 403, 403], [404, 403, 403, 403, 403, 403, 401, 403]],
  ['DELETE /push-admin-api/v3/:client/attributes/:name', to(`${admin}/v3/demo/attributes/nobody`), [401, 401], [403, 403, 401, 403, 403], [404, 404, 401, 403], [403, 403, 404, 403, 403, 403], [404, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/apps/:id/platforms/:platform/attributes', to(`${admin}/v3/demo/apps/APP/platforms/3/attributes`, () => ({ devices: [{ deviceId: 'nobody', attributes: { language: 'de' } }] })), [401, 401], [403, 403, 401, 403, 403], [202, 202, 401, 403], [403, 403, 202, 403, 403, 403], [202, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/apps/:id/devices/lookup', to(`${admin}/v3/demo/apps/APP/devices/lookup`, () => ({ platformId: 3, deviceId: 'nobody' })), [401, 401], [403, 403, 401, 403, 403], [404, 404, 401, 403], [403, 404, 403, 403, 403, 403], [404, 404, 404, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/apps/:id/devices/explain', to(`${admin}/v3/demo/apps/APP/devices/explain`, ({ job }) => ({ platformId: 3, deviceId: 'nobody', notificationId: job })), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 403, 403, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/apps/:id/devices/erase', to(`${admin}/v3/demo/apps/APP/devices/erase`, () => ({ platformId: 3, deviceId: 'nobody' })), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 403, 200, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  // 404 and not 204: an app that does not exist, so that the others' are left.
  ['POST /push-admin-api/app/delete/:client', to(`${admin}/app/delete/demo`, () => ({ id: 2147483647 })), [401, 401], [403, 403, 401, 403, 403], [404, 403, 401, 403], [403, 403, 404, 403, 403, 403], [404, 403, 403, 403, 403, 403, 401, 403]],
  ['DELETE /push-admin-api/v3/:client/apps/:id', to(`${admin}/v3/demo/apps/2147483647`), [401, 401], [403, 403, 401, 403, 403], [404, 403, 401, 403], [403, 403, 404, 403, 403, 403], [404, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/apps/:id/platforms/:platform/subscriptions', to(`${admin}/v3/demo/apps/APP/platforms/3/subscriptions`, ({ tagId }) => ({ action: 'subscribe', tagIds: [tagId], deviceIds: ['nobody'] })), [401, 401], [403, 403, 401, 403, 403], [202, 202, 401, 403], [403, 403, 202, 403, 403, 403], [202, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/tags/:id/members', to(`${admin}/v3/demo/tags/TAG/members`, () => ({ action: 'remove' })), [401, 401], [403, 403, 401, 403, 403], [202, 202, 401, 403], [403, 403, 202, 403, 403, 403], [202, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/operations', to(`${admin}/v3/demo/operations`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 200, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  // 404: of keys with limits, which see their own only.
  ['GET /push-admin-api/v3/:client/operations/:id', ({ operationId }) => ({ path: `${admin}/v3/demo/operations/${operationId}` }), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 404, 404, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  // 404: an operation that does not exist, because one that has ended is 409.
  ['POST /push-admin-api/v3/:client/operations/:id/cancel', to(`${admin}/v3/demo/operations/2147483647/cancel`), [401, 401], [403, 403, 401, 403, 403], [404, 404, 401, 403], [403, 403, 404, 403, 403, 403], [404, 403, 403, 403, 403, 403, 401, 403]],
  // Covers all tags: for no key that is limited to some.
  ['GET /push-admin-api/v3/:client/removals', to(`${admin}/v3/demo/removals`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 403, 403, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/audit', to(`${admin}/v3/demo/audit`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 403, 200, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/history/get/:client', to(`${admin}/history/get/demo`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 200, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/stats/tag/:tag', to(`${admin}/v3/demo/stats/tag/TAG`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 403, 403, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  // Covers all tags: for no key that is limited to some. The key of another app is not for this
  // one.
  ['GET /push-admin-api/v3/:client/stats/app/:app', (things) => ({ path: `${admin}/v3/demo/stats/app/${things.demo.appId}` }), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 403, 403, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/settings', to(`${admin}/v3/demo/settings`), [401, 401], [403, 403, 401, 403, 403], [200, 200, 401, 403], [403, 200, 403, 200, 200, 403], [200, 200, 200, 403, 403, 403, 401, 403]],
  ['PATCH /push-admin-api/v3/:client/settings', to(`${admin}/v3/demo/settings`, () => ({})), [401, 401], [403, 403, 401, 403, 403], [200, 403, 401, 403], [403, 403, 403, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/credentials', to(`${admin}/v3/demo/credentials`), [401, 401], [403, 403, 401, 403, 403], [200, 403, 401, 403], [403, 403, 403, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  // The API user's: a super user that is rotated here may no longer do what follows.
  ['POST /push-admin-api/v3/:client/credentials/:role/rotate', ({ demo }) => ({ path: `${admin}/v3/demo/credentials/api-user/rotate`, body: { appId: demo.appId, graceHours: 168 } }), [401, 401], [403, 403, 401, 403, 403], [200, 403, 401, 403], [403, 403, 403, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/keys', to(`${admin}/v3/demo/keys`), [401, 401], [403, 403, 401, 403, 403], [200, 403, 401, 403], [403, 403, 403, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/keys', to(`${admin}/v3/demo/keys`, () => ({ name: 'Another', scopes: ['read'] })), [401, 401], [403, 403, 401, 403, 403], [201, 403, 401, 403], [403, 403, 403, 403, 403, 403], [201, 403, 403, 403, 403, 403, 401, 403]],
  ['DELETE /push-admin-api/v3/:client/keys/:id', ({ doomedKey }) => ({ path: `${admin}/v3/demo/keys/${doomedKey}` }), [401, 401], [403, 403, 401, 403, 403], [204, 403, 401, 403], [403, 403, 403, 403, 403, 403], [204, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/webhooks', to(`${admin}/v3/demo/webhooks`), [401, 401], [403, 403, 401, 403, 403], [200, 403, 401, 403], [403, 403, 403, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/webhooks', to(`${admin}/v3/demo/webhooks`, () => ({ url: 'https://cms.example/hook' })), [401, 401], [403, 403, 401, 403, 403], [201, 403, 401, 403], [403, 403, 403, 403, 403, 403], [201, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/webhooks/:id', ({ webhookId }) => ({ path: `${admin}/v3/demo/webhooks/${webhookId}` }), [401, 401], [403, 403, 401, 403, 403], [200, 403, 401, 403], [403, 403, 403, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['PATCH /push-admin-api/v3/:client/webhooks/:id', ({ webhookId }) => ({ path: `${admin}/v3/demo/webhooks/${webhookId}`, body: {} }), [401, 401], [403, 403, 401, 403, 403], [200, 403, 401, 403], [403, 403, 403, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/webhooks/:id/rotate', ({ webhookId }) => ({ path: `${admin}/v3/demo/webhooks/${webhookId}/rotate`, body: { graceHours: 168 } }), [401, 401], [403, 403, 401, 403, 403], [200, 403, 401, 403], [403, 403, 403, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['GET /push-admin-api/v3/:client/webhooks/:id/deliveries', ({ webhookId }) => ({ path: `${admin}/v3/demo/webhooks/${webhookId}/deliveries` }), [401, 401], [403, 403, 401, 403, 403], [200, 403, 401, 403], [403, 403, 403, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  ['POST /push-admin-api/v3/:client/webhooks/:id/deliveries/replay', ({ webhookId }) => ({ path: `${admin}/v3/demo/webhooks/${webhookId}/deliveries/replay`, body: { state: 'dead' } }), [401, 401], [403, 403, 401, 403, 403], [200, 403, 401, 403], [403, 403, 403, 403, 403, 403], [200, 403, 403, 403, 403, 403, 401, 403]],
  // 404: a webhook that does not exist, so that there are not too many.
  ['DELETE /push-admin-api/v3/:client/webhooks/:id', to(`${admin}/v3/demo/webhooks/2147483647`), [401, 401], [403, 403, 401, 403, 403], [404, 403, 401, 403], [403, 403, 403, 403, 403, 403], [404, 403, 403, 403, 403, 403, 401, 403]],
  // For sessions only. 400: nothing is asked for, so that no password is hashed.
  ['GET /console/api/settings', to(`${own}/settings`), [200, 200], [200, 200, 200, 200, 200], [200, 200, 200, 200], [200, 200, 200, 200, 200, 200], [200, 200, 200, 200, 200, 403, 200, 200]],
  ['POST /console/api/register', to(`${own}/register`, () => ({})), [400, 400], [400, 400, 400, 400, 400], [400, 400, 400, 400], [400, 400, 400, 400, 400, 400], [400, 400, 400, 400, 400, 403, 400, 400]],
  ['GET /console/api/session', to(`${own}/session`), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [200, 200, 200, 200, 200, 403, 401, 200]],
  ['POST /console/api/session', to(`${own}/session`, () => ({})), [400, 400], [400, 400, 400, 400, 400], [400, 400, 400, 400], [400, 400, 400, 400, 400, 400], [400, 400, 400, 400, 400, 403, 400, 400]],
  ['DELETE /console/api/session', to(`${own}/session`), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [204, 204, 204, 204, 403, 403, 401, 204]],
  ['POST /console/api/session/end-all', to(`${own}/session/end-all`), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [204, 204, 204, 204, 403, 403, 401, 204]],
  ['POST /console/api/password', to(`${own}/password`, () => ({})), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [400, 400, 400, 400, 403, 403, 401, 400]],
  ['POST /console/api/password/reset', to(`${own}/password/reset`, () => ({})), [400, 400], [400, 400, 400, 400, 400], [400, 400, 400, 400], [400, 400, 400, 400, 400, 400], [400, 400, 400, 400, 400, 403, 400, 400]],
  ['GET /console/api/members', to(`${own}/members`), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [200, 403, 403, 200, 403, 403, 401, 403]],
  ['POST /console/api/members', to(`${own}/members`, () => ({ role: 'viewer' })), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [201, 403, 403, 201, 403, 403, 401, 403]],
  // 404: a member that does not exist.
  ['PATCH /console/api/members/:id', to(`${own}/members/2147483647`, () => ({ role: 'viewer' })), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [404, 403, 403, 404, 403, 403, 401, 403]],
  ['DELETE /console/api/members/:id', to(`${own}/members/2147483647`), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [404, 403, 403, 404, 403, 403, 401, 403]],
  ['POST /console/api/members/:id/reset', to(`${own}/members/2147483647/reset`), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [404, 403, 403, 404, 403, 403, 401, 403]],
  ['GET /console/api/credentials', to(`${own}/credentials`), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [200, 403, 403, 200, 403, 403, 401, 403]],
  ['GET /console/api/audit', to(`${own}/audit`), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [200, 403, 403, 200, 403, 403, 401, 403]],
  ['GET /console/api/system', to(`${own}/system`), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [403, 403, 403, 403, 403, 403, 401, 200]],
  // For the operator's token only.
  ['GET /operator/v1/system', to('/operator/v1/system'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['GET /operator/v1/clients', to('/operator/v1/clients'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/clients', to('/operator/v1/clients'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['GET /operator/v1/clients/:clientId/limits', to('/operator/v1/clients/other/limits'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['PATCH /operator/v1/clients/:clientId/limits', to('/operator/v1/clients/other/limits'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/clients/:clientId/enable', to('/operator/v1/clients/other/enable'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/clients/:clientId/disable', to('/operator/v1/clients/other/disable'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['DELETE /operator/v1/clients/:clientId', to('/operator/v1/clients/other'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['GET /operator/v1/clients/:clientId/credential', to('/operator/v1/clients/other/credential'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/clients/:clientId/credential/rotate', to('/operator/v1/clients/other/credential/rotate'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['GET /operator/v1/clients/:clientId/apps', to('/operator/v1/clients/other/apps'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/clients/:clientId/apps', to('/operator/v1/clients/other/apps'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['GET /operator/v1/apps/:id/platforms', to('/operator/v1/apps/APP/platforms'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['PUT /operator/v1/apps/:id/platforms/:platform', to('/operator/v1/apps/APP/platforms/3'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['DELETE /operator/v1/apps/:id/platforms/:platform', to('/operator/v1/apps/APP/platforms/3'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/apps/:id/platforms/:platform/check', to('/operator/v1/apps/APP/platforms/3/check'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/secret-key/rotate', to('/operator/v1/secret-key/rotate'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/operators', to('/operator/v1/operators'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['GET /operator/v1/operators', to('/operator/v1/operators'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['DELETE /operator/v1/operators/:email', to('/operator/v1/operators/a@b.example'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/invitations', to('/operator/v1/invitations'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/accounts/:email/reset', to('/operator/v1/accounts/a@b.example/reset'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['GET /operator/v1/clients/:clientId/members', to('/operator/v1/clients/other/members'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/clients/:clientId/members', to('/operator/v1/clients/other/members'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['PATCH /operator/v1/clients/:clientId/members/:email', to('/operator/v1/clients/other/members/a@b.example'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['DELETE /operator/v1/clients/:clientId/members/:email', to('/operator/v1/clients/other/members/a@b.example'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['GET /operator/v1/apps/:id/devices', to('/operator/v1/apps/APP/devices'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['GET /operator/v1/apps/:id/devices/scope', to('/operator/v1/apps/APP/devices/scope'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/apps/:id/devices/tag-names', to('/operator/v1/apps/APP/devices/tag-names'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/apps/:id/devices/begin-import', to('/operator/v1/apps/APP/devices/begin-import'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/apps/:id/devices/find-tags', to('/operator/v1/apps/APP/devices/find-tags'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/apps/:id/devices', to('/operator/v1/apps/APP/devices'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['GET /operator/v1/deletions', to('/operator/v1/deletions'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/deletions/:job/release', to('/operator/v1/deletions/JOB/release'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/deletions/:job/discard', to('/operator/v1/deletions/JOB/discard'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['GET /operator/v1/parked', to('/operator/v1/parked'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
  ['POST /operator/v1/parked/:job/release', to('/operator/v1/parked/JOB/release'), [401, 401], [401, 401, 401, 401, 401], [401, 401, 401, 401], [401, 401, 401, 401, 401, 401], [401, 401, 401, 401, 401, 401, 401, 401]],
];

t.test('every route, every caller', async (t) => {
  const { engine, store } = await sharedService();
  const world = await populate(store, engine.url);
  const served = engine.routes
    .filter(({ operation }) => operation !== 'page')
    .map(({ method, path }) => `${method} ${path}`)
    .sort();
  t.same(TABLE.map(([route]) => route).sort(), served, 'the table has every route, once');
  const check = new DocumentCheck(makeDocument(engine.routes));

  for (const [route, ask, ...groups] of TABLE) {
    const expected = groups.flat();
    t.equal(expected.length, CALLERS.length, `${route} tells of every caller`);
    const [method = '', pattern = ''] = route.split(' ');
    for (const [index, caller] of CALLERS.entries()) {
      const { path, body } = ask({
        ...world,
        number: index,
        doomedKey: world.doomed[index] ?? 0,
        doomedTag: world.doomedTags[index] ?? 0,
        doomedGroup: world.doomedGroups[index] ?? 0,
      });
      const answer = await fetch(engine.url + path.replace('demo', world.demo.slug), {
        method,
        headers: {
          // Each from an address of its own: many wrong ones from one would be 429.
          'X-Forwarded-For': `10.0.${TABLE.findIndex(([name]) => name === route)}.${index}`,
          ...(await world.headersOf(caller, route.includes(own))),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const fault = check.answerFault({
        method,
        path: pattern.replaceAll(/:(\w+)/g, '{$1}'),
        status: answer.status,
        contentType: answer.headers.get('content-type') ?? '',
        body: await answer.text(),
      });
      t.equal(fault, null, `${route} by ${caller} is answered as the document says`);
      const isIgnored = answer.headers.get('tagcast-ignored')?.includes('appId') ?? false;
      const status = isIgnored ? `${answer.status}i` : answer.status;
      t.equal(status, expected[index], `${route} by ${caller}`);
      const challenge = answer.headers.get('www-authenticate');
      t.equal(challenge !== null, answer.status === 401, 'a challenge with 401, and only then');
    }
  }
});

async function populate(store: Store, url: string) {
  const { sql } = store;
  const demo = await addTenant(sql, nextSlug());
  const other = await addTenant(sql, nextSlug());
  const { clientId } = demo;
  const owner = { clientId, clientSlug: demo.slug };
  const secondApp = await insertApp(sql, { clientId, name: 'Second', platformIds: [3] });
  await raiseCatalogueVersion(sql, clientId);
  const second = await createCredential(sql, secrets, { ...owner, appId: secondApp });

  const rotated = async (appId: number | null) => {
    const graced = await rotateCredential(sql, secrets, { ...owner, appId }, 0);
    const current = await rotateCredential(sql, secrets, { ...owner, appId }, 168);
    return { graced: graced.token, current: current.token };
  };
  const apiUser = await rotated(demo.appId);
  const superUser = await rotated(null);
  const ask = (path: string, body: unknown) => {
    const headers = { Authorization: `Bearer ${superUser.current}` };
    return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  type Added = Readonly<Record<'tags' | 'groups', readonly { readonly id: number }[]>>;
  const added = await ask(`${admin}/tag/add/${demo.slug}`, {
    tags: [
      { name: 'Goals', sourceId: 'goals' },
      { name: 'Other', sourceId: 'other' },
      ...CALLERS.map((name) => ({ name })),
    ],
    groups: [{ name: 'Clubs' }, ...CALLERS.map((name) => ({ name }))],
  });
  const { tags, groups } = (await added.json()) as Added;
  const [tagId = 0, otherTag = 0, ...doomedTags] = tags.map(({ id }) => id);
  const [groupId = 0, ...doomedGroups] = groups.map(({ id }) => id);
  const push = { tagIds: [tagId], payload: { title: 'goal!' } };
  const pushed = await ask('/push-api/push', push);
  const notDue = await ask('/push-api/push', { ...push, sendAt: '2100-01-01T00:00:00Z' });

  const asked = await ask(`${admin}/v3/${demo.slug}/tags/${otherTag}/members`, {
    action: 'remove',
  });
  const { id: operationId } = (await asked.json()) as { readonly id: number };

  type Rights = NonNullable<Caller['key']>;
  const key = async (rights: Partial<Rights> & Pick<Rights, 'scopes'>, of: Tenant = demo) => {
    const made = await createKey(sql, secrets, {
      tagIds: null,
      groupIds: null,
      appIds: null,
      maxDevices: null,
      ...rights,
      clientId: of.clientId,
      clientSlug: of.slug,
      name: 'Key',
      expiresAtMs: null,
    });
    if ('over' in made) throw new Error('too many keys');
    return made;
  };
  const doomed: number[] = [];
  for (const _ of CALLERS) doomed.push((await key({ scopes: ['read'] })).id);
  const tokens: Readonly<Partial<Record<CallerName, string>>> = {
    'one who guesses': `tcs_${'x'.repeat(32)}`,
    'the API user': apiUser.current,
    'the API user in its grace': apiUser.graced,
    'the API user after its grace': demo.apiUser.token,
    "another app's API user": second.token,
    "another client's API user": other.apiUser.token,
    'the super user': superUser.current,
    'the super user in its grace': superUser.graced,
    'the super user after its grace': demo.superUser.token,
    "another client's super user": other.superUser.token,
    'a key to send': (await key({ scopes: ['send'] })).token,
    'a key to read': (await key({ scopes: ['read'] })).token,
    'a key to administer': (await key({ scopes: ['admin'] })).token,
    'a key of another tag to send and read': (
      await key({ scopes: ['send', 'read'], tagIds: [otherTag] })
    ).token,
    'a key of another app to send and read': (
      await key({ scopes: ['send', 'read'], appIds: [secondApp] })
    ).token,
    "another client's key of all scopes": (await key({ scopes: ['send', 'read', 'admin'] }, other))
      .token,
  };
  const webhook = await makeWebhook(sql, clientId, 'https://cms.example/hook');
  const [job, later] = await Promise.all([pushed.text(), notDue.text()]);
  const sessionHeaders = await signIn(sql, demo, other);
  const headersOf = (
    caller: CallerName,
    usesUp: boolean,
  ): Promise<Record<string, string>> | Record<string, string> => {
    const token = tokens[caller];
    if (token === undefined) return sessionHeaders(caller, usesUp);
    return { Authorization: `Bearer ${token}`, ...OUR_PAGE };
  };
  return {
    demo,
    tagId,
    groupId,
    job,
    later,
    operationId,
    doomed,
    webhookId: webhook.id,
    doomedTags,
    doomedGroups,
    headersOf,
  };
}

const OUR_PAGE = { 'Sec-Fetch-Site': 'same-origin' };

/** The headers of those who have signed in. `usesUp`: each request has a session of its own. */
async function signIn(sql: SqlPool, demo: Tenant, other: Tenant) {
  const { clientId } = demo;
  const account = (email: string, roles: NewAccount['roles'] = [], isOperator = false) =>
    addAccount(sql, { email, roles, isOperator });
  const owner = await account(`owner@${demo.slug}.example`, [[clientId, 'owner']]);
  const accounts: Readonly<Partial<Record<CallerName, number>>> = {
    'an owner, signed in': owner,
    'a publisher, signed in': await account(`publisher@${demo.slug}.example`, [
      [clientId, 'publisher'],
    ]),
    'a viewer, signed in': await account(`viewer@${demo.slug}.example`, [[clientId, 'viewer']]),
    "another client's owner, signed in": await account(`owner@${other.slug}.example`, [
      [other.clientId, 'owner'],
    ]),
    'an owner without the CSRF token': owner,
    'an owner, from a page elsewhere': owner,
    'an operator, signed in, of no client': await account(
      `operator@${demo.slug}.example`,
      [],
      true,
    ),
  };
  const known = new Map<number, SignedIn>();
  return async (caller: CallerName, usesUp: boolean): Promise<Record<string, string>> => {
    const accountId = accounts[caller];
    const client = (caller.startsWith('another') ? other : demo).slug;
    if (accountId === undefined) {
      const isEnded = caller === 'an owner whose session has ended';
      return isEnded ? { Cookie: `tagcast_session=tcn_${'x'.repeat(32)}`, ...OUR_PAGE } : OUR_PAGE;
    }
    const session =
      (usesUp ? undefined : known.get(accountId)) ?? (await beginSession(sql, accountId));
    if (!usesUp) known.set(accountId, session);
    const { Cookie = '' } = session.headers;
    switch (caller) {
      case 'an owner without the CSRF token':
        return { Cookie, 'Tagcast-Client': client, ...OUR_PAGE };
      case 'an owner, from a page elsewhere':
        return { ...session.headers, 'Tagcast-Client': client, 'Sec-Fetch-Site': 'cross-site' };
      default:
        return { ...session.headers, 'Tagcast-Client': client };
    }
  };
}
