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

const UNDO =
  'So many seconds the console holds what a member sends now and not urgently: until then it can be taken back. The API does not wait (`holdSeconds`).';
/** @limit `undoSeconds` of a client → `400` */
const UNDO_SECONDS_MAX = 60;
const UNDO_FAULT = `must be 0–${UNDO_SECONDS_MAX}`;

const settings = z
  .object({
    confirmAboveDevices: count.meta({ description: CONFIRM_ABOVE }),
    undoSeconds: count.meta({ description: UNDO }),
  })
  .meta({ id: 'ClientSettings' });
const settingsForm = strictForm({
  confirmAboveDevices: z
    .int(CONFIRM_ABOVE_FAULT)
    .min(0, CONFIRM_ABOVE_FAULT)
    .max(clientLimitMax('devices'), CONFIRM_ABOVE_FAULT)
    .optional()
    .meta({ description: CONFIRM_ABOVE }),
  undoSeconds: z
    .int(UNDO_FAULT)
    .min(0, UNDO_FAULT)
    .max(UNDO_SECONDS_MAX, UNDO_FAULT)
    .optional()
    .meta({ description: UNDO }),
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
      answer: shown('All of them, as they are now.', settings, {
        ...CLIENT_SETTING_DEFAULTS,
        confirmAboveDevices: 500,
      }),
    },
    asSuperUser(sql, async (tx, { clientId, record }, { body }) => {
      const before = await readClientSettings(tx, clientId);
      const { confirmAboveDevices = before.confirmAboveDevices } = body;
      const { undoSeconds = before.undoSeconds } = body;
      const after = { confirmAboveDevices, undoSeconds };
      const fields = changedFields(before, after);
      if (fields.length > 0) {
        await writeClientSettings(tx, clientId, after);
        await record({ action: 'client.settings', id: clientId, name: null, detail: { fields } });
      }
      return done(after);
    }),
  );
