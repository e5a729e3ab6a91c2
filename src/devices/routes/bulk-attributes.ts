/** `apps/<id>/platforms/<platformId>/attributes`: sets attributes of a list of devices. */

import { z } from 'zod';
import { inClient } from '../../access/routes/in-client.ts';
import type { GivenAttributes, IgnoredAttribute } from '../../attributes/given-attributes.ts';
import { isNotOn, SCOPE_PATH } from '../../catalogue/routes/app-on-platform.ts';
import { findOwnApp } from '../../catalogue/routes/own-app.ts';
import { name as NEEDED } from '../../database/migrations/0048-attributes.ts';
import { name as NEEDED_OF_NUMBERS } from '../../database/migrations/0052-numbers.ts';
import { needMigration } from '../../database/nodes/need-migration.ts';
import type { SqlPool } from '../../database/sql.ts';
import { ATTRIBUTES_PER_REQUEST_MAX } from '../../domain/attributes.ts';
import type { FacetPairs, NumberPairs } from '../../domain/bulk-operation.ts';
import { ATTRIBUTES_ACTION, BULK_DEVICES_MAX } from '../../domain/bulk-operation.ts';
import { isForTags } from '../../domain/caller.ts';
import { deviceId } from '../../http/device-id-form.ts';
import { form } from '../../http/form-body.ts';
import type { Fault } from '../../http/problem.ts';
import type { Result } from '../../http/result.ts';
import { done, refuse } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { measured, strictForm } from '../../std/strict-form.ts';
import { deviceRef } from '../operation.ts';
import { acceptedOperation, acceptOperation, BACKGROUND, refusedFull } from './accept-operation.ts';
import { ATTRIBUTES_LATER } from './attributes-later.ts';
import { SET_ATTRIBUTES } from './bulk-resources.ts';

const value = z.union(
  [z.string(), z.number(), z.boolean(), z.null()],
  'must be a string, a number, true, false or null',
);

const attributes = z
  .record(z.string(), value, 'must be an object')
  .refine((given) => Object.keys(given).length > 0, 'names none')
  .refine(
    (given) => Object.keys(given).length <= ATTRIBUTES_PER_REQUEST_MAX,
    `must have ${ATTRIBUTES_PER_REQUEST_MAX} attributes at most`,
  )
  .meta({ description: 'Their values by their names. null clears one; absent ones stay.' });

const attributesForm = strictForm({
  devices: measured(
    BULK_DEVICES_MAX,
    z
      .array(strictForm({ deviceId, attributes }), 'must be an array')
      .min(1, 'names none')
      .max(BULK_DEVICES_MAX),
  ),
});

type NamedDevices = z.infer<typeof attributesForm>['devices'];

export interface BulkAttributeParts {
  readonly sql: SqlPool;
  readonly attributes: GivenAttributes;
}

export const bulkAttributesRoute = ({ sql, attributes }: BulkAttributeParts) =>
  routesAt('/push-admin-api/v3/:client/apps/:id/platforms/:platform/attributes', {
    api: 'admin',
    needs: 'admin',
  }).post(
    'setAttributes',
    {
      summary: 'Set attributes of a list of devices',
      description: `${BACKGROUND} Only attributes that the client's servers may set, and values of their types: anything else is \`400\`, and nothing is done. A device that nobody has registered counts as \`unknown\`, and is not made; of one that is named twice the later values count. \`503\`: a node of an earlier version is at work. A key that is limited to tags: \`403\`.`,
      path: SCOPE_PATH,
      body: form(attributesForm, {
        devices: [{ deviceId: 'cd'.repeat(32), attributes: { language: 'de', country: 'CH' } }],
      }),
      answer: acceptedOperation(SET_ATTRIBUTES),
    },
    async (asked) => {
      const { caller, body, path } = asked;
      if (isForTags(caller)) return refuse.outside();
      const own = await findOwnApp(sql, caller, path.id, 'name');
      if (!own.ok) return own;
      const { id: appId, platformIds } = own.value;
      const platformId = path.platform;
      if (!platformIds.includes(platformId)) return isNotOn(platformIds);
      // Before the client is held: new values are made under its lock.
      const setter = { clientId: caller.clientId, appId, by: 'server' } as const;
      const full = await refusedFull(sql, caller.clientId);
      if (full !== null) return full;
      const resolved = await resolveAll(attributes, setter, body.devices);
      if (!resolved.ok) return resolved;
      const { facets, numbers } = byDevice(
        body.devices.map((device) => deviceRef(appId, platformId, device.deviceId).deviceKey),
        resolved.value,
      );
      const hasNumbers = [...numbers.values()].some((pairs) => pairs.length > 0);
      const change = inClient(sql, async (tx, { record }) => {
        // A node of the version before would stop at it, and every operation after it.
        const needed = hasNumbers ? NEEDED_OF_NUMBERS : NEEDED;
        if ((await needMigration(tx, needed)) !== null) return ATTRIBUTES_LATER;
        return await acceptOperation(tx, caller, record, {
          action: ATTRIBUTES_ACTION,
          subscribe: [],
          unsubscribe: [],
          memberOf: null,
          listed: { appId, platformId, deviceKeys: [...facets.keys()] },
          deviceFacets: [...facets.values()],
          ...(hasNumbers ? { deviceNumbers: [...numbers.values()] } : {}),
          appIds: null,
          total: facets.size,
        });
      });
      return change(asked);
    },
  );

interface ValuePairs {
  readonly facets: FacetPairs;
  readonly numbers: NumberPairs;
}

/** The values by the device; the later ones count where it is named twice. */
function byDevice(deviceKeys: readonly string[], given: readonly ValuePairs[]) {
  const facets = new Map<string, FacetPairs>();
  const numbers = new Map<string, NumberPairs>();
  for (const [at, key] of deviceKeys.entries()) {
    facets.set(key, [...new Map([...(facets.get(key) ?? []), ...(given[at]?.facets ?? [])])]);
    numbers.set(key, [...new Map([...(numbers.get(key) ?? []), ...(given[at]?.numbers ?? [])])]);
  }
  return { facets, numbers };
}

async function resolveAll(
  attributes: GivenAttributes,
  setter: Parameters<GivenAttributes['resolve']>[0],
  devices: NamedDevices,
): Promise<Result<readonly ValuePairs[]>> {
  const faults: Fault[] = [];
  const all: ValuePairs[] = [];
  const each = await attributes.resolveEach(
    setter,
    devices.map((device) =>
      Object.entries(device.attributes).map(([name, value]) => ({ name, value })),
    ),
  );
  for (const [at, resolved] of each.entries()) {
    if (resolved.ignored.some(({ reason }) => reason === 'later')) return ATTRIBUTES_LATER;
    faults.push(...resolved.ignored.map((one) => faultOf(at, one)));
    all.push({ facets: [...resolved.facets], numbers: [...resolved.numbers] });
  }
  return faults.length === 0 ? done(all) : refuse.invalid(faults.slice(0, FAULTS_MAX));
}

/** @limit faults of attributes that an answer names → left out */
const FAULTS_MAX = 100;

const faultOf = (at: number, { name, reason }: IgnoredAttribute): Fault => ({
  path: `devices.${at}.attributes.${name}`,
  message:
    reason === 'full'
      ? 'has a value that is new, and the attribute has as many different values as it may'
      : 'is no attribute that the servers of the client may set on devices of this app, or its value is none of its type',
});
