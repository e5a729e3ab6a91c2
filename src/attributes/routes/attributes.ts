/** `attributes`: a client declares what its devices have. Built-in ones are listed with them. */

import { z } from 'zod';
import { inClientUnless } from '../../access/routes/in-client.ts';
import { name as NUMBERS } from '../../database/migrations/0052-numbers.ts';
import { needMigration } from '../../database/nodes/need-migration.ts';
import { nextObjectIds, OBJECT_IDS_USED_UP } from '../../database/object-ids.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { ATTRIBUTES_PER_CLIENT_MAX, BUILT_IN_ATTRIBUTES } from '../../domain/attributes.ts';
import { changedFields } from '../../domain/audit.ts';
import type { DayAttribute } from '../../domain/device-days.ts';
import { DAY_ATTRIBUTE_NAMES } from '../../domain/device-days.ts';
import { isNumberType } from '../../domain/device-numbers.ts';
import { created, noContent, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { outsideOfLimits } from '../../http/permission.ts';
import type { Refusal } from '../../http/result.ts';
import { done, refuse, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import type { AttributeTerms, ListedAttribute } from '../sql/attributes.ts';
import {
  changeAttribute,
  countAttributes,
  deleteAttribute,
  findAttribute,
  insertAttribute,
  listAttributes,
  unknownApps,
} from '../sql/attributes.ts';
import { attribute, attributeChange, newAttribute } from './attribute-forms.ts';
import { ATTRIBUTES_PATH, attributeName, NO_ATTRIBUTE } from './attribute-path.ts';
import { valuesRoute } from './attribute-values.ts';

const reads = routesAt(ATTRIBUTES_PATH, { api: 'admin', needs: 'read' });
const changes = routesAt(ATTRIBUTES_PATH, { api: 'admin', needs: 'admin' });

const IS_BUILT_IN = refused(409, 'A built-in attribute stays as it is.');
const IS_THERE = refused(409, 'This client has an attribute of this name.');
const TOO_MANY = refused(
  409,
  `A client may declare ${ATTRIBUTES_PER_CLIENT_MAX} attributes. Delete one of them first.`,
);

const NOT_KNOWN_TO_ALL = refused(
  503,
  'A node of an earlier version is at work, which does not know this type. Try again when all nodes have been upgraded.',
  { headers: { 'Retry-After': '60' } },
);

const path = { name: attributeName };

const PLAN = {
  name: 'plan',
  type: 'text',
  setBy: 'both',
  personal: false,
  description: 'What the reader pays for',
  isBuiltIn: false,
  createdAt: 1_795_392_000_000,
};
const LANGUAGE = {
  name: 'language',
  type: 'language',
  setBy: 'both',
  personal: false,
  isBuiltIn: true,
};

interface AttributeRouteParts {
  readonly sql: SqlPool;
  readonly patientReads: PatientReads;
}

export const attributeRoutes = (parts: AttributeRouteParts): readonly Route[] => [
  listRoute(parts.sql),
  createRoute(parts.sql),
  getRoute(parts.sql),
  valuesRoute(parts),
  changeRoute(parts.sql),
  deleteRoute(parts.sql),
];

const shownOf = (declared: ListedAttribute) => ({ ...declared, isBuiltIn: false });

const DAY_DESCRIPTIONS = {
  registered: 'The day of its first registration, in UTC; of an imported device it is not known.',
  lastSeen: 'The day of its last registration, in UTC.',
} as const satisfies Record<DayAttribute, string>;

/** The form in which a declared one is shown. */
const STORED = BUILT_IN_ATTRIBUTES.map(({ name, type, setBy, appIds, isPersonal }) => ({
  name,
  type,
  setBy,
  appIds,
  personal: isPersonal,
  description: null,
  isBuiltIn: true,
  createdAt: null,
}));

/** Days that the engine knows of each device. */
const DAYS = DAY_ATTRIBUTE_NAMES.map((name) => ({
  name,
  type: 'time' as const,
  setBy: 'engine' as const,
  appIds: null,
  personal: false,
  description: DAY_DESCRIPTIONS[name],
  isBuiltIn: true,
  createdAt: null,
}));

const BUILT_IN = [...STORED, ...DAYS];

const builtIn = (name: string) => BUILT_IN.find((each) => each.name === name);

const listRoute = (sql: Sql) =>
  reads.get(
    'listAttributes',
    {
      summary: 'List the attributes of devices',
      description: `The built-in ones, and those that the client has declared, ${ATTRIBUTES_PER_CLIENT_MAX} at most, by name.`,
      answer: shown('The attributes.', z.array(attribute), [LANGUAGE, PLAN]),
    },
    async ({ caller: { clientId } }) => {
      const declared = await listAttributes(sql, clientId);
      return done([...BUILT_IN, ...declared.map(shownOf)]);
    },
  );

const createRoute = (sql: SqlPool) =>
  changes.post(
    'declareAttribute',
    {
      summary: 'Declare an attribute of devices',
      description: `Apps and servers can set it from then on, within seconds. \`409\`: there is one of this name, or ${ATTRIBUTES_PER_CLIENT_MAX} in all. A key with limits: \`403\`. \`503\`: of the types \`integer\` and \`time\`, while a node of an earlier version is at work.`,
      body: form(newAttribute, { name: 'plan', type: 'text', description: PLAN.description }),
      answer: created('Declared.', attribute, PLAN),
      problems: [409, 503],
    },
    inClientUnless(sql, outsideOfLimits, async (tx, { clientId, record }, { body }) => {
      const { name, type, ...given } = body;
      const terms = termsOf(given, NEW);
      const fault = await appFault(tx, clientId, terms);
      if (fault !== null) return fault;
      if ((await findAttribute(tx, clientId, name)) !== null) return IS_THERE;
      if ((await countAttributes(tx, clientId)) >= ATTRIBUTES_PER_CLIENT_MAX) return TOO_MANY;
      // Such a node would take a test of it for one that no device meets, and its negation for all.
      if (isNumberType(type) && (await needMigration(tx, NUMBERS)) !== null) {
        return NOT_KNOWN_TO_ALL;
      }
      const [id] = (await nextObjectIds(tx, clientId, 1)) ?? [];
      if (id === undefined) return refuse.invalid([{ path: '', message: OBJECT_IDS_USED_UP }]);
      const made = await insertAttribute(tx, clientId, id, { name, type, ...terms });
      if (made === null) return IS_THERE;
      await record({ action: 'attribute.create', id, name, detail: { type } });
      return done(shownOf(made));
    }),
  );

const getRoute = (sql: Sql) =>
  reads.get(
    'getAttribute',
    {
      at: ':name',
      summary: 'One attribute of devices',
      path,
      answer: shown('The attribute.', attribute, PLAN),
    },
    async ({ caller: { clientId }, path: { name } }) => {
      const found = builtIn(name) ?? (await findAttribute(sql, clientId, name));
      if (found === null) return NO_ATTRIBUTE;
      return done('id' in found ? shownOf(found) : found);
    },
  );

const changeRoute = (sql: SqlPool) =>
  changes.patch(
    'changeAttribute',
    {
      at: ':name',
      summary: 'Change an attribute of devices',
      description:
        'What is absent stays. Values that devices have stay, too, where nobody may set them any more. `409`: it is built in. A key with limits: `403`; also for `personal` from true to false, unless by the super user or an owner.',
      path,
      body: form(attributeChange, { description: PLAN.description }),
      answer: shown('Changed.', attribute, PLAN),
      problems: [409],
    },
    inClientUnless(sql, outsideOfLimits, async (tx, { clientId, record }, asked) => {
      const { caller, path, body } = asked;
      if (builtIn(path.name) !== undefined) return IS_BUILT_IN;
      const before = await findAttribute(tx, clientId, path.name);
      if (before === null) return NO_ATTRIBUTE;
      const terms = termsOf(body, before);
      if (before.personal && !terms.personal && caller.role !== 'super-user') return STAYS_PERSONAL;
      const fault = await appFault(tx, clientId, terms);
      if (fault !== null) return fault;
      const fields = changedFields<AttributeTerms>(before, terms);
      if (fields.length > 0) {
        await changeAttribute(tx, before.id, terms);
        const { id, name } = before;
        await record({ action: 'attribute.change', id, name, detail: { fields } });
      }
      return done(shownOf({ ...before, ...terms }));
    }),
  );

const deleteRoute = (sql: SqlPool) =>
  changes.delete(
    'deleteAttribute',
    {
      at: ':name',
      summary: 'Delete an attribute of devices',
      description:
        'Its values match nobody at once, and the name is free. They are taken off the devices in the background. `409`: it is built in. A key with limits: `403`.',
      path,
      answer: noContent('Deleted.'),
      problems: [409],
    },
    inClientUnless(sql, outsideOfLimits, async (tx, { clientId, record }, { path: { name } }) => {
      if (builtIn(name) !== undefined) return IS_BUILT_IN;
      const found = await findAttribute(tx, clientId, name);
      if (found === null) return NO_ATTRIBUTE;
      await deleteAttribute(tx, clientId, found);
      await record({ action: 'attribute.delete', id: found.id, name });
      return done(null);
    }),
  );

/** Keys do not see the values of a personal one: a key must not give itself that right. */
const STAYS_PERSONAL = refused(
  403,
  'Only the super user or an owner may make an attribute that is personal one that is not.',
);

const NEW: AttributeTerms = { setBy: 'both', appIds: null, personal: false, description: null };

/** The terms after a request: absent ones stay. */
const termsOf = (
  given: z.infer<typeof attributeChange>,
  before: AttributeTerms,
): AttributeTerms => ({
  setBy: given.setBy ?? before.setBy,
  appIds: given.appIds === undefined ? before.appIds : given.appIds,
  personal: given.personal ?? before.personal,
  description: given.description === undefined ? before.description : given.description,
});

async function appFault(
  tx: Sql,
  clientId: number,
  { appIds }: AttributeTerms,
): Promise<Refusal | null> {
  if (appIds === null) return null;
  const unknown = new Set(await unknownApps(tx, clientId, appIds));
  const message = 'names no app of this client';
  const faults = appIds.flatMap((id, at) =>
    unknown.has(id) ? [{ path: `appIds.${at}`, message }] : [],
  );
  return faults.length === 0 ? null : refuse.invalid(faults);
}
