/**
 * The operator's routes of imports and exports of devices: small steps, each with its answer, so
 * that none is lost when an engine stops. A deviceId is long and private, so it is never in a path.
 */

import { z } from 'zod';
import { findAttributes } from '../../attributes/find-attributes.ts';
import type { GivenAttributes } from '../../attributes/given-attributes.ts';
import { operatorOrigin } from '../../audit/operator-origin.ts';
import { recordChange } from '../../audit/record-change.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Snapshot } from '../../catalogue/snapshot.ts';
import { findAppClient } from '../../clients/find-app.ts';
import { readClock } from '../../database/read-clock.ts';
import type { SqlPool } from '../../database/sql.ts';
import { ATTRIBUTE_TYPES, BUILT_IN_ATTRIBUTES } from '../../domain/attributes.ts';
import { takeAttributes } from '../../domain/device-attributes.ts';
import {
  ID_MAX,
  SOURCE_ID_LENGTH_MAX,
  TAG_NAME_LENGTH_MAX,
  TAGS_PER_CLIENT_MAX,
} from '../../domain/tag.ts';
import { shown } from '../../http/answers.ts';
import { deviceId } from '../../http/device-id-form.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { count, epochMs, id, orAbsent, platformId, word } from '../../http/openapi/parts.ts';
import type { QueryParameter } from '../../http/parameters.ts';
import { pathId } from '../../http/parameters.ts';
import type { Result } from '../../http/result.ts';
import { done, refused } from '../../http/result.ts';
import type { Asked } from '../../http/route.ts';
import { routesAt } from '../../http/route.ts';
import { measured, strictForm } from '../../std/strict-form.ts';
import { NO_FACETS } from '../facets.ts';
import { createTags, findTags } from '../import/import-tags.ts';
import { IMPORT_RESULTS } from '../import/imported.ts';
import type { Importer } from '../import/importer.ts';
import {
  DEVICES_PER_REQUEST_MAX,
  ORDINALS_PER_PAGE,
  TAGS_PER_REQUEST_MAX,
} from '../import/request-limits.ts';
import { NO_NUMBERS } from '../numbers.ts';
import { deviceRef } from '../operation.ts';
import { beginImport } from '../sql/begin-import.ts';
import { attributesByName } from '../sql/known-attributes.ts';
import type { PageEnd } from '../sql/read-page.ts';
import { readDevicePage } from '../sql/read-page.ts';
import {
  attributeFields,
  attributeValues,
  knownAttributeFields,
  knownFactFields,
} from './attribute-forms.ts';
import { importedAttributes, leftOutAttributes, valuesOfImported } from './imported-attributes.ts';

interface Parts {
  readonly sql: SqlPool;
  readonly catalogue: Catalogue;
  readonly importer: Importer;
  readonly attributes: GivenAttributes;
}

/**
 * A thousand devices with their tags: a thousand ids of devices alone may be 12 MB in UTF-8.
 * @limit body of a batch of an import → `413`
 */
const IMPORT_BYTES_MAX = 67_108_864;

/**
 * Two texts of 255 characters each; one that JSON escapes has six bytes.
 * @limit body of a request that finds the tags of an import → `413`
 */
const TAGS_BYTES_MAX = 4_194_304;

const route = routesAt('/operator/v1/apps/:id/devices', { api: 'operator' });
const path = { id: pathId('app', 1, refused(404, 'There is no such app.')) };

const scope = {
  clientId: z.string().meta({ description: 'Whose app it is, by its slug.' }),
  platformIds: z.array(platformId),
  attributes: orAbsent(
    z.array(z.object({ name: z.string(), type: word(ATTRIBUTE_TYPES) })).meta({
      description:
        'The attributes that devices of the app can have. Absent: of a version before attributes.',
    }),
  ),
};
const SCOPE = {
  clientId: 'demo',
  platformIds: [3, 7, 15],
  attributes: [{ name: 'language', type: 'language' }],
};
const DEVICE = { platformId: 3, deviceId: 'cd'.repeat(32) };
const TIME = 1_795_392_000_000;

const tagIds = (entriesMax: number) => measured(entriesMax, z.array(id));
const tag = strictForm({
  sourceId: z.string().max(SOURCE_ID_LENGTH_MAX).nullish(),
  id: id.nullish().meta({ description: 'The number that another engine knew it by.' }),
  name: z.string().max(TAG_NAME_LENGTH_MAX).nullish(),
});
const tagsForm = strictForm({
  tags: measured(TAGS_PER_REQUEST_MAX, z.array(tag)),
  create: z.boolean().meta({ description: 'Whether those that do not exist are created.' }),
});
const foundTags = z.object({
  found: z
    .array(z.union([id, z.enum(['unknown', 'expired', 'not-connected'])]))
    .meta({ description: 'Its id, or why devices of the app cannot have it, by the request.' }),
  created: count,
});

const importedDevice = strictForm({
  platformId,
  deviceId,
  ...attributeFields,
  registeredAt: epochMs.nullish().meta({ description: 'null, or absent: not known.' }),
  attributes: importedAttributes,
  tagIds: tagIds(TAGS_PER_CLIENT_MAX),
});
const importResult = z.enum(IMPORT_RESULTS);
const importAnswer = z.array(
  z.union([importResult, z.object({ result: importResult, leftOut: leftOutAttributes })]),
);
type ImportedDevice = z.output<typeof importedDevice>;
const importForm = strictForm({
  startedAt: epochMs.meta({
    description: 'When the import began: what an app has registered since then stays.',
  }),
  replacesTags: z
    .boolean()
    .meta({ description: 'Whether a device loses the tags that it is not given here.' }),
  devices: measured(DEVICES_PER_REQUEST_MAX, z.array(importedDevice)),
});

const exportedDevice = z.object({
  platformId,
  deviceId: z.string(),
  ...knownAttributeFields,
  registeredAt: epochMs,
  ...knownFactFields,
  attributes: orAbsent(attributeValues),
  tagIds: z.array(id),
});
const page = z.object({
  devices: z.array(exportedDevice),
  next: z
    .string()
    .nullable()
    .meta({ description: 'The `cursor` of the next page; null: this one has no devices.' }),
});

const CURSOR = /^(\d{1,10})\.(\d{1,10})$/;
const START: PageEnd = { platformId: 0, ordinal: -1 };

/** The device that a page begins after. */
const cursor: QueryParameter<PageEnd> = {
  description: 'The `next` of the page before; absent: the first page.',
  schema: z.string(),
  example: '3.2047',
  read(reader, name) {
    const text = reader.text(name);
    if (text === null) return START;
    const [platformId = 0, ordinal = 0] = (CURSOR.exec(text) ?? []).slice(1).map(Number);
    if (platformId > 0 && platformId <= ID_MAX && ordinal < ID_MAX) return { platformId, ordinal };
    reader.fault(name, 'must be the `next` of a page');
    return START;
  },
};

export const deviceTransferRoutes = (parts: Parts): readonly Route[] =>
  [scopeRoute, pageRoute, tagNamesRoute, beginRoute, tagsRoute, importRoute].map((make) =>
    make(parts),
  );

interface Owner {
  readonly clientId: number;
  readonly clientSlug: string;
}

/** A handler of what concerns an app, with the client that the app belongs to. */
const ofApp =
  <Of extends Asked<null, { readonly id: number }>, Value>(
    { sql }: Parts,
    handle: (owner: Owner, asked: Of) => Promise<Result<Value>>,
  ) =>
  async (asked: Of): Promise<Result<Value>> => {
    const owner = await findAppClient(sql, asked.path.id);
    return owner === null
      ? refused(404, `There is no app ${asked.path.id}.`)
      : handle(owner, asked);
  };

async function scopeOf({ sql, catalogue }: Parts, { clientId, clientSlug }: Owner, appId: number) {
  const [{ apps }, declared] = await Promise.all([
    catalogue.fresh(clientId),
    findAttributes(sql, clientId),
  ]);
  const ofApp = declared.filter(({ appIds }) => appIds === null || appIds.includes(appId));
  return {
    clientId: clientSlug,
    platformIds: apps.get(appId)?.platformIds ?? [],
    attributes: [...BUILT_IN_ATTRIBUTES, ...ofApp].map(({ name, type }) => ({ name, type })),
  };
}

const scopeRoute = (parts: Parts) =>
  route.get(
    'getDeviceScope',
    {
      at: 'scope',
      summary: 'Whose app it is, and its platforms: what an export begins with',
      path,
      answer: shown('By the clock of the database.', z.object({ ...scope, now: epochMs }), {
        ...SCOPE,
        now: TIME,
      }),
    },
    ofApp(parts, async (owner, { path: { id } }) =>
      done({ ...(await scopeOf(parts, owner, id)), now: await readClock(parts.sql) }),
    ),
  );

const pageRoute = (parts: Parts) =>
  route.get(
    'exportDevices',
    {
      summary: 'The devices of an app, page by page',
      description:
        'By platform. A page may have no devices and still name a next one. A device that moves to a new token meanwhile may come twice; none is missed.',
      path,
      query: { cursor },
      answer: shown('A page.', page, {
        devices: [{ ...DEVICE, registeredAt: TIME, refusals: 0, tagIds: [2] }],
        next: '3.4095',
      }),
    },
    ofApp(parts, async (_owner, { path: { id }, query }) => {
      const read = await readDevicePage(parts.sql, id, query.cursor, ORDINALS_PER_PAGE);
      const devices = read?.devices ?? [];
      return done({
        devices: devices.map(({ registeredAtMs, unsubscribedAtMs, refusedAtMs, ...device }) => ({
          ...device,
          attributes: shownAttributes(device.attributes),
          registeredAt: registeredAtMs,
          unsubscribedAt: unsubscribedAtMs,
          refusedAt: refusedAtMs,
        })),
        next: read === null ? null : `${read.end.platformId}.${read.end.ordinal}`,
      });
    }),
  );

const tagNamesRoute = (parts: Parts) =>
  route.post(
    'nameTags',
    {
      at: 'tag-names',
      summary: 'The names of tags, for an export',
      path,
      body: form(strictForm({ tagIds: tagIds(TAGS_PER_REQUEST_MAX) }), { tagIds: [2] }),
      answer: shown(
        'Deleted ones are left out.',
        z.array(z.object({ id, sourceId: z.string().nullable(), name: z.string() })),
        [{ id: 2, sourceId: 'news', name: 'News' }],
      ),
    },
    ofApp(parts, async ({ clientId }, { body }) => {
      const snapshot = await parts.catalogue.fresh(clientId);
      const { tags } = snapshot.resolve({ ids: body.tagIds, sourceIds: [] });
      return done(tags.map(({ id, sourceId, name }) => ({ id, sourceId, name })));
    }),
  );

const beginRoute = (parts: Parts) =>
  route.post(
    'beginImport',
    {
      at: 'begin-import',
      summary: 'Begin an import',
      description:
        'The audit log has it. From now on every registration of the app is written, so that what an app says later than the import stays.',
      path,
      answer: shown(
        'Whose app it is, and when it began.',
        z.object({ ...scope, startedAt: epochMs }),
        {
          ...SCOPE,
          startedAt: TIME,
        },
      ),
    },
    ofApp(parts, async (owner, { path: { id }, request }) => {
      const begun = await scopeOf(parts, owner, id);
      // Before it, and apart: the beginning of an import holds no lock.
      const change = { action: 'device.import', id: null, name: null } as const;
      const origin = operatorOrigin(owner.clientId, request);
      await recordChange(parts.sql, origin, { ...change, detail: { appId: id } });
      return done({ ...begun, startedAt: await beginImport(parts.sql, id) });
    }),
  );

const tagsRoute = (parts: Parts): Route => ({
  ...route.post(
    'findTagsToImport',
    {
      at: 'find-tags',
      summary: 'Find the tags that a file names, and create those that do not exist',
      path,
      body: form(tagsForm, { tags: [{ sourceId: 'news', name: 'News' }], create: false }),
      answer: shown('Each in its place.', foundTags, { found: [2], created: 0 }),
      problems: [403],
    },
    ofApp(
      parts,
      async ({ clientId }, { path: { id: appId }, body: { create, ...body }, request }) => {
        const { sql, catalogue } = parts;
        const tags = body.tags.map(({ sourceId = null, id = null, name = null }) => ({
          sourceId,
          id,
          name,
        }));
        const find = async () => findTags(await catalogue.fresh(clientId), appId, tags, Date.now());
        const found = await find();
        const unknown = tags.filter((_, index) => found[index] === 'unknown');
        if (!create || unknown.length === 0) return done({ found, created: 0 });
        const created = await createTags(sql, operatorOrigin(clientId, request), unknown);
        if ('fault' in created) return refused(403, created.fault);
        return done({ found: await find(), created: created.count });
      },
    ),
  ),
  bodyBytesMax: TAGS_BYTES_MAX,
});

const importRoute = (parts: Parts): Route => ({
  ...route.post(
    'importDevices',
    {
      summary: 'Import devices of an app',
      description:
        'Answered when they are durable. The same devices again change nothing. Tags of other clients are left out. Of two values of an attribute the one of the later registration stays. `503`: attributes cannot be kept now.',
      path,
      body: form(importForm, {
        startedAt: TIME,
        replacesTags: false,
        devices: [{ ...DEVICE, registeredAt: null, attributes: { language: 'de' }, tagIds: [2] }],
      }),
      answer: shown(
        'What came of each, in the order of the request. An object: some of its attributes were left out.',
        importAnswer,
        ['added'],
      ),
      problems: [503],
    },
    ofApp(parts, async ({ clientId }, { path: { id: appId }, body }) => {
      const { startedAt: startedAtMs, replacesTags, devices } = body;
      const snapshot = await parts.catalogue.recent(clientId);
      const foreign = devices.find(({ platformId }) => !snapshot.hasPlatform(appId, platformId));
      if (foreign !== undefined) {
        return refused(400, `App ${appId} has no platform ${foreign.platformId}.`);
      }
      const found = await valuesOfImported(parts.attributes, { clientId, appId }, devices);
      if (!found.ok) return found;
      const common = { replacesTags, startedAtMs };
      const results = await parts.importer.submit(
        devices.map((device, at) => ({
          ...common,
          ...operationOf(appId, device, snapshot),
          facets: found.value[at]?.facets ?? NO_FACETS,
          numbers: found.value[at]?.numbers ?? NO_NUMBERS,
        })),
      );
      return done(
        results.map((result, at) => {
          const { leftOut = [] } = found.value[at] ?? {};
          return leftOut.length === 0 ? result : { result, leftOut: [...leftOut] };
        }),
      );
    }),
  ),
  bodyBytesMax: IMPORT_BYTES_MAX,
});

/** All of them: an export is made for an operator, who may import it elsewhere. */
function shownAttributes(known: Parameters<typeof attributesByName>[0]) {
  return known.length === 0 ? null : attributesByName(known, { withPersonal: true });
}

const operationOf = (appId: number, device: ImportedDevice, { tags }: Snapshot) => ({
  device: deviceRef(appId, device.platformId, device.deviceId),
  attributes: takeAttributes(device).attributes,
  registeredAtMs: device.registeredAt ?? null,
  tagIds: device.tagIds.filter((tagId) => tags.has(tagId)),
});
