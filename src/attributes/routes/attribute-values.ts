/** `attributes/<name>/values`: the values that devices have, and how many have each. */

import { z } from 'zod';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql } from '../../database/sql.ts';
import { BUILT_IN_ATTRIBUTES } from '../../domain/attributes.ts';
import { DAY_ATTRIBUTE_NAMES } from '../../domain/device-days.ts';
import { isNumberType } from '../../domain/device-numbers.ts';
import { listed } from '../../http/answers.ts';
import type { Route } from '../../http/handler.ts';
import { rowsOf } from '../../http/list-answer.ts';
import { count, epochMs } from '../../http/openapi/parts.ts';
import type { PathParameter } from '../../http/parameters.ts';
import { LIMIT, text, textCursor } from '../../http/parameters.ts';
import { outsideOfLimits } from '../../http/permission.ts';
import { refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { findAttribute } from '../sql/attributes.ts';
import { listValues } from '../sql/list-values.ts';
import { ValueCounts } from '../value-counts.ts';
import { ATTRIBUTES_PATH, attributeName, NO_ATTRIBUTE } from './attribute-path.ts';

/**
 * A count of few devices would be about persons.
 * @publisherLimit devices with a value that a list of values counts; fewer → `<5`
 */
const DEVICES_SHOWN_MIN = 5;
const FEW = `<${DEVICES_SHOWN_MIN}` as const;

const value = z
  .object({
    value: z.string().meta({ description: 'As it is kept, and as an audience may name it.' }),
    devices: z.union([count, z.literal(FEW)]).meta({
      description: 'With this value, up to an hour ago, in all apps. Below 5: `"<5"`.',
    }),
    lastSetAt: epochMs.meta({
      description: 'When a device was last given it, to the day. Milliseconds since 1970.',
    }),
  })
  .meta({ id: 'AttributeValue' });

/** One that every client has. */
const name: PathParameter<string> = { ...attributeName, example: 'language' };

const IS_PERSONAL = refused(403, 'This attribute is personal: its values are in no list.');
const IS_NUMBER = refused(
  409,
  'Numbers and times are in no list: nearly each device may have another one. Count those that meet a test of it: `POST notifications` with `dryRun`, or the estimate of a segment.',
);
const IS_DAY = refused(
  409,
  'The engine knows a day of each device, and has no list of them. An estimate counts those that meet a test of it.',
);
const NOT_COUNTED = refused(503, 'The devices are being counted. Try again.', {
  headers: { 'Retry-After': '5' },
});

const reads = routesAt(ATTRIBUTES_PATH, { api: 'admin', needs: 'read' });

interface ValuesRouteParts {
  readonly sql: Sql;
  readonly patientReads: PatientReads;
}

export function valuesRoute({ sql, patientReads }: ValuesRouteParts): Route {
  const valueCounts = new ValueCounts({ patientReads });
  return reads.get(
    'listAttributeValues',
    {
      at: ':name/values',
      summary: 'List the values of an attribute of devices',
      description:
        'By their letters, of built-in attributes too. `403`: the attribute is `personal`, or the caller is a key with limits: the counts are of all apps and tags. `409`: it is of the type `integer` or `time`, `registered` and `lastSeen` included: their values are in no list. `503` with `Retry-After`: the devices are still being counted, which takes some seconds for millions.',
      path: { name },
      query: {
        limit: LIMIT,
        cursor: textCursor('de-CH'),
        q: text('With this text in the value.', 'de'),
      },
      answer: listed('The values.', value, [
        { value: 'de-CH', devices: 20_412, lastSetAt: 1_795_392_000_000 },
        { value: 'de-LI', devices: FEW, lastSetAt: 1_795_392_000_000 },
      ]),
      problems: [409, 503],
    },
    async ({ caller, path: { name }, query }) => {
      const refusal = outsideOfLimits({ caller });
      if (refusal !== null) return refusal;
      const { clientId } = caller;
      if (DAY_ATTRIBUTE_NAMES.some((day) => day === name)) return IS_DAY;
      const builtIn = BUILT_IN_ATTRIBUTES.find((each) => each.name === name);
      const attribute = builtIn ?? (await findAttribute(sql, clientId, name));
      if (attribute === null) return NO_ATTRIBUTE;
      if ('personal' in attribute && attribute.personal) return IS_PERSONAL;
      if (isNumberType(attribute.type)) return IS_NUMBER;
      const counts = await valueCounts.of(clientId);
      if (counts === null) return NOT_COUNTED;
      return rowsOf(query, {
        async read(afterValue, limit) {
          const asked = { clientId, attributeId: attribute.id, text: query.q, afterValue, limit };
          const rows = await listValues(sql, asked);
          return rows.map(({ id, ...row }) => ({
            ...row,
            devices: shownCount(counts.get(id) ?? 0),
          }));
        },
        keyOf: (row) => row.value,
      });
    },
  );
}

const shownCount = (devices: number): number | typeof FEW =>
  devices < DEVICES_SHOWN_MIN ? FEW : devices;
