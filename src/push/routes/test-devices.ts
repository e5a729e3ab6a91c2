/** `test-devices`: the saved devices that the members of a client send trials to. */

import { z } from 'zod';
import { inClientUnless } from '../../access/routes/in-client.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { isLimited } from '../../domain/caller.ts';
import { normalizeDeviceId } from '../../domain/device.ts';
import { created, noContent, secret, shown } from '../../http/answers.ts';
import { deviceId } from '../../http/device-id-form.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { id as idForm } from '../../http/id-form.ts';
import { epochMs, id, platformId } from '../../http/openapi/parts.ts';
import { pathId } from '../../http/parameters.ts';
import { outsideOfLimits } from '../../http/permission.ts';
import { done, refuse, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { knowsMembers } from '../../http/user-name.ts';
import { strictForm } from '../../std/strict-form.ts';
import { listScopes } from '../sql/notifications/list-scopes.ts';
import { deleteTestDevice, insertTestDevice, listTestDevices } from '../sql/test-devices.ts';
import { objectName } from './object-name.ts';

/** @publisherLimit test devices of a client → `403` */
const TEST_DEVICES_MAX = 20;

const testDevice = z
  .object({
    id,
    name: z.string(),
    appId: id,
    platformId,
    deviceId: z.string().optional().meta({
      description: 'Its token. Not listed for a key without the scope `admin`.',
    }),
    createdAt: epochMs,
  })
  .meta({ id: 'TestDevice' });
const TERMS = { name: 'Phone of Ana', appId: 1, platformId: 3, deviceId: 'ab'.repeat(32) };
const TEST_DEVICE = { id: 1, ...TERMS, createdAt: 1_795_392_000_000 };

const route = routesAt('/push-api/v3/:client/test-devices', { api: 'notification', needs: 'send' });

export const testDeviceRoutes = (sql: SqlPool): readonly Route[] =>
  [listRoute, createRoute, deleteRoute].map((make) => make(sql));

const listRoute = (sql: SqlPool) =>
  route.get(
    'listTestDevices',
    {
      summary: 'List the saved test devices of the client',
      description:
        'A key without the scope `admin` sees no `deviceId`: they are phones of members. A key with limits: `403`.',
      answer: secret(shown('The test devices, by id.', z.array(testDevice), [TEST_DEVICE])),
    },
    // A key with limits sees no devices that it may not send to.
    async ({ caller }) => {
      if (isLimited(caller)) return refuse.outside();
      const devices = await listTestDevices(sql, caller.clientId);
      if (knowsMembers(caller)) return done(devices);
      return done(devices.map(({ deviceId: _, ...others }) => others));
    },
  );

const createRoute = (sql: SqlPool) =>
  route.post(
    'saveTestDevice',
    {
      summary: 'Save a test device',
      description: `All who may send can send a trial to it (\`testNotification\`). It need not be registered, and goes when the owner erases the device. A client may have ${TEST_DEVICES_MAX}. \`409\`: it is saved already. A key with limits: \`403\`.`,
      body: form(
        strictForm({ name: objectName, appId: idForm, platformId: idForm, deviceId }),
        TERMS,
      ),
      answer: secret(created('Saved.', testDevice, TEST_DEVICE)),
      problems: [404, 409],
    },
    inClientUnless(sql, outsideOfLimits, async (tx, { clientId, record }, { body }) => {
      if (!(await hasScope(tx, clientId, body))) return NO_SCOPE;
      if ((await listTestDevices(tx, clientId)).length >= TEST_DEVICES_MAX) return TOO_MANY;
      const { platformId } = body;
      const normalized = { ...body, deviceId: normalizeDeviceId(platformId, body.deviceId) };
      const saved = await insertTestDevice(tx, clientId, normalized);
      if (saved === null) return SAVED_ALREADY;
      const { id, name, appId } = saved;
      const detail = { appId, platformId };
      await record({ action: 'test-device.create', id, name, detail });
      return done(saved);
    }),
  );

const deleteRoute = (sql: SqlPool) =>
  route.delete(
    'deleteTestDevice',
    {
      at: ':id',
      summary: 'Delete a test device',
      description: 'The device itself stays as it is. A key with limits: `403`.',
      path: { id: pathId('test device', 1) },
      answer: noContent('Deleted.'),
    },
    inClientUnless(sql, outsideOfLimits, async (tx, { clientId, record }, { path: { id } }) => {
      const deleted = await deleteTestDevice(tx, clientId, id);
      if (deleted === null) return refuse.unknown('test device');
      await record({ action: 'test-device.delete', id, name: deleted.name });
      return done(null);
    }),
  );

async function hasScope(
  tx: Sql,
  clientId: number,
  { appId, platformId }: { readonly appId: number; readonly platformId: number },
): Promise<boolean> {
  const scopes = await listScopes(tx, clientId);
  return scopes.some((one) => one.appId === appId && one.platformId === platformId);
}

const NO_SCOPE = refused(404, 'This client has no such app on this platform.');
const TOO_MANY = refused(
  403,
  `A client may have ${TEST_DEVICES_MAX} test devices. Delete one of them first.`,
);
const SAVED_ALREADY = refused(409, 'This device is saved as a test device already.');
