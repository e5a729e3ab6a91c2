/**
 * The engine's actions for imports and exports of devices: small steps, each with its answer, so
 * that none is lost when an engine stops.
 */

import { z } from 'zod';
import { operatorOrigin } from '../audit/operator-origin.ts';
import { recordChange } from '../audit/record-change.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Snapshot } from '../catalogue/snapshot.ts';
import { findAppClient } from '../clients/find-app.ts';
import { readClock } from '../database/read-clock.ts';
import type { SqlPool } from '../database/sql.ts';
import type { FoundTag } from '../devices/import/import-tags.ts';
import { createTags, findTags } from '../devices/import/import-tags.ts';
import type { ImportResult } from '../devices/import/imported.ts';
import type { Importer } from '../devices/import/importer.ts';
import { deviceRef } from '../devices/operation.ts';
import { beginImport } from '../devices/sql/begin-import.ts';
import type { DevicePage } from '../devices/sql/read-page.ts';
import { readDevicePage } from '../devices/sql/read-page.ts';
import { isDeviceId } from '../domain/device.ts';
import { eachAttribute, takeAttributes } from '../domain/device-attributes.ts';
import { SOURCE_ID_LENGTH_MAX, TAG_NAME_LENGTH_MAX, TAGS_PER_CLIENT_MAX } from '../domain/tag.ts';
import { id } from './credential-actions.ts';

export interface DeviceParts {
  readonly sql: SqlPool;
  readonly catalogue: Catalogue;
  readonly importer: Importer;
  readonly tagsPerDeviceMax: number;
}

/**
 * Devices of one request: a batch of the lanes, so that all of it is committed at once.
 * @limit devices of a batch of an import → the next batch
 */
export const DEVICES_PER_REQUEST_MAX = 1_000;
/**
 * Ordinals of one page: some tens of milliseconds of the database's time when every one is a
 * device.
 * @limit ordinals of a page of an export → the next page
 */
export const ORDINALS_PER_REQUEST_MAX = 2_048;
/** Tags named in one request. */
export const TAGS_PER_REQUEST_MAX = 1_000;

const appForm = z.object({ appId: id });

const tagForm = z.object({
  sourceId: z.string().max(SOURCE_ID_LENGTH_MAX).nullable(),
  id: id.nullable(),
  name: z.string().max(TAG_NAME_LENGTH_MAX).nullable(),
});

export const FORMS = {
  app: appForm,
  tags: appForm.extend({ tags: z.array(tagForm).max(TAGS_PER_REQUEST_MAX), create: z.boolean() }),
  tagNames: appForm.extend({ tagIds: z.array(id).max(TAGS_PER_REQUEST_MAX) }),
  page: appForm.extend({
    after: z.object({ platformId: z.int(), ordinal: z.int() }),
    ordinals: z.int().min(1).max(ORDINALS_PER_REQUEST_MAX),
  }),
  import: appForm.extend({
    replacesTags: z.boolean(),
    startedAtMs: z.number(),
    devices: z
      .array(
        z.object({
          platformId: z.int(),
          deviceId: z.string().refine(isDeviceId),
          ...eachAttribute(() => z.string().nullable()),
          registeredAtMs: z.number().nullable(),
          tagIds: z.array(id).max(TAGS_PER_CLIENT_MAX),
        }),
      )
      .max(DEVICES_PER_REQUEST_MAX),
  }),
};

type Input<Name extends keyof typeof FORMS> = z.infer<(typeof FORMS)[Name]>;
type Device = Input<'import'>['devices'][number];

/** A value, or the sentence that refuses it. */
type Answer<T> = { readonly value: T } | { readonly fault: string };

export interface AppScope {
  readonly client: string;
  readonly platformIds: readonly number[];
  /** The database's clock. */
  readonly nowMs: number;
}

/** `devices.scope`: the data that an export begins with. */
export const readScope = (parts: DeviceParts, input: Input<'app'>): Promise<Answer<AppScope>> =>
  scopeAt(parts, input, () => readClock(parts.sql));

/** `devices.begin-import`: the data that an import begins with, at `nowMs`. */
export const readImportScope = (
  parts: DeviceParts,
  input: Input<'app'>,
): Promise<Answer<AppScope>> =>
  scopeAt(parts, input, async (clientId) => {
    // Before it, and apart: the beginning of an import holds no lock.
    const detail = { appId: input.appId };
    const change = { action: 'device.import', id: null, name: null, detail } as const;
    await recordChange(parts.sql, operatorOrigin(clientId), change);
    return beginImport(parts.sql, input.appId);
  });

async function scopeAt(
  { sql, catalogue }: DeviceParts,
  { appId }: Input<'app'>,
  nowMs: (clientId: number) => Promise<number>,
): Promise<Answer<AppScope>> {
  const client = await findAppClient(sql, appId);
  if (client === null) return noApp(appId);
  const { apps } = await catalogue.fresh(client.clientId);
  const platformIds = apps.get(appId)?.platformIds ?? [];
  return { value: { client: client.clientSlug, platformIds, nowMs: await nowMs(client.clientId) } };
}

export interface MappedTags {
  /** In the order of the request. */
  readonly found: readonly FoundTag[];
  readonly created: number;
}

/** `devices.tags`: the ids of tags, which are created first if the request says so. */
export async function mapTags(
  { sql, catalogue }: DeviceParts,
  { appId, tags, create }: Input<'tags'>,
): Promise<Answer<MappedTags>> {
  const client = await findAppClient(sql, appId);
  if (client === null) return noApp(appId);
  const find = async () =>
    findTags(await catalogue.fresh(client.clientId), appId, tags, Date.now());
  const found = await find();
  const unknown = tags.filter((_, index) => found[index] === 'unknown');
  if (!create || unknown.length === 0) return { value: { found, created: 0 } };
  const created = await createTags(sql, operatorOrigin(client.clientId), unknown);
  if ('fault' in created) return created;
  return { value: { found: await find(), created: created.count } };
}

interface TagName {
  readonly id: number;
  readonly sourceId: string | null;
  readonly name: string;
}

/** `devices.tag-names`: the names of tags, without deleted ones. */
export async function readTagNames(
  { sql, catalogue }: DeviceParts,
  { appId, tagIds }: Input<'tagNames'>,
): Promise<Answer<readonly TagName[]>> {
  const client = await findAppClient(sql, appId);
  if (client === null) return noApp(appId);
  const { tags } = (await catalogue.fresh(client.clientId)).resolve({
    ids: tagIds,
    sourceIds: [],
  });
  return { value: tags.map(({ id, sourceId, name }) => ({ id, sourceId, name })) };
}

/** `devices.page`: the next devices of an app; null: there are no more. */
export const readPage = async (
  { sql }: DeviceParts,
  { appId, after, ordinals }: Input<'page'>,
): Promise<Answer<DevicePage | null>> => ({
  value: await readDevicePage(sql, appId, after, ordinals),
});

/** `devices.import`: makes devices durable; returns their results, in the order of the request. */
export async function importDevices(
  { sql, catalogue, importer }: DeviceParts,
  { appId, devices, replacesTags, startedAtMs }: Input<'import'>,
): Promise<Answer<readonly ImportResult[]>> {
  const client = await findAppClient(sql, appId);
  if (client === null) return noApp(appId);
  const snapshot = await catalogue.recent(client.clientId);
  const foreign = devices.find(({ platformId }) => !snapshot.hasPlatform(appId, platformId));
  if (foreign !== undefined)
    return { fault: `App ${appId} has no platform ${foreign.platformId}.` };
  const common = { replacesTags, startedAtMs };
  return {
    value: await importer.submit(
      devices.map((device) => ({ ...common, ...operationOf(appId, device, snapshot) })),
    ),
  };
}

/** Tags of other clients are left out. */
const operationOf = (appId: number, device: Device, { tags }: Snapshot) => ({
  device: deviceRef(appId, device.platformId, device.deviceId),
  attributes: takeAttributes(device).attributes,
  registeredAtMs: device.registeredAtMs,
  tagIds: device.tagIds.filter((tagId) => tags.has(tagId)),
});

const noApp = (appId: number): { readonly fault: string } => ({
  fault: `There is no app ${appId}.`,
});
