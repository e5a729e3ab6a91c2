/** `settings`: the owners of a client change how its members work in the console. */

import { z } from 'zod';
import { asSuperUser } from '../../access/routes/in-client.ts';
import type { SqlPool } from '../../database/sql.ts';
import { changedFields } from '../../domain/audit.ts';
import { clientLimitMax } from '../../domain/client-limits.ts';
import { CLIENT_SETTING_DEFAULTS } from '../../domain/client-settings.ts';
import { shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { count } from '../../http/openapi/parts.ts';
import { done } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { strictForm } from '../../std/strict-form.ts';
import { readClientSettings, writeClientSettings } from '../client-settings.ts';

const CONFIRM_ABOVE =
  'Members who send to more devices in the console type their number first. The API does not ask.';
const CONFIRM_ABOVE_FAULT = `must be 0–${clientLimitMax('devices')}`;

const settings = z
  .object({ confirmAboveDevices: count.meta({ description: CONFIRM_ABOVE }) })
  .meta({ id: 'ClientSettings' });
const settingsForm = strictForm({
  confirmAboveDevices: z
    .int(CONFIRM_ABOVE_FAULT)
    .min(0, CONFIRM_ABOVE_FAULT)
    .max(clientLimitMax('devices'), CONFIRM_ABOVE_FAULT)
    .optional()
    .meta({ description: CONFIRM_ABOVE }),
});

const SETTINGS = '/push-admin-api/v3/:client/settings';

export const settingsRoutes = (sql: SqlPool): readonly Route[] =>
  [getRoute, changeRoute].map((make) => make(sql));

const getRoute = (sql: SqlPool) =>
  routesAt(SETTINGS, { api: 'admin', needs: 'read' }).get(
    'getClientSettings',
    {
      summary: 'The settings of the client',
      answer: shown('All of them.', settings, CLIENT_SETTING_DEFAULTS),
    },
    async ({ caller: { clientId } }) => done(await readClientSettings(sql, clientId)),
  );

const changeRoute = (sql: SqlPool) =>
  routesAt(SETTINGS, { api: 'admin', needs: 'super-user' }).patch(
    'changeClientSettings',
    {
      summary: 'Change settings of the client',
      description: 'What is absent stays.',
      body: form(settingsForm, { confirmAboveDevices: 500 }),
      answer: shown('All of them, as they are now.', settings, { confirmAboveDevices: 500 }),
    },
    asSuperUser(sql, async (tx, { clientId, record }, { body }) => {
      const before = await readClientSettings(tx, clientId);
      const { confirmAboveDevices = before.confirmAboveDevices } = body;
      const after = { confirmAboveDevices };
      const fields = changedFields(before, after);
      if (fields.length > 0) {
        await writeClientSettings(tx, clientId, after);
        await record({ action: 'client.settings', id: clientId, name: null, detail: { fields } });
      }
      return done(after);
    }),
  );
