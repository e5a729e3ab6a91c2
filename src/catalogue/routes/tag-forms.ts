/**
 * The forms of tags and tag groups on the Admin API (internals/interface.md, "Admin API" and
 * "Errors, limits, versions").
 */

import { z } from 'zod';
import { ISO_TIME, isoTimeMs } from '../../../packages/std/src/iso-8601.ts';
import { asObject } from '../../../packages/std/src/json.ts';
import {
  OPTIONAL_PARAMETER_LENGTH_MAX,
  OPTIONAL_PARAMETERS_MAX,
  SOURCE_ID_LENGTH_MAX,
  TAG_NAME_LENGTH_MAX,
  TAGS_PER_REQUEST_MAX,
} from '../../domain/tag.ts';
import { EPOCH_MS_MIN, LOOKS_LIKE_SECONDS, TIME_FAULT } from '../../http/epoch-time.ts';
import { id } from '../../http/id-form.ts';
import type { Fault } from '../../http/problem.ts';
import { isNameText, isStorable, NAME_FAULT, STORABLE_FAULT } from '../../std/name-text.ts';
import { measured, strictForm } from '../../std/strict-form.ts';

const text = (lengthMax: number) =>
  z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(lengthMax, `must have ${lengthMax} characters at most`);

/** A name, of whatever has one. */
export const name = text(TAG_NAME_LENGTH_MAX).refine(isNameText, NAME_FAULT);
/** What another system calls it: kept as it is there, and escaped where people read it. */
export const sourceId = text(SOURCE_ID_LENGTH_MAX).refine(isStorable, STORABLE_FAULT);

const DIGITS = /^\d{1,16}$/;

/** Epoch milliseconds, also as digits in a string, or ISO 8601. */
const expiration = z
  .union(
    [
      z.number(),
      z.string().regex(DIGITS).transform(Number),
      z.string().regex(ISO_TIME).transform(isoTimeMs).pipe(z.number()),
    ],
    TIME_FAULT,
  )
  .refine((value) => Number.isSafeInteger(value) && value >= 0, TIME_FAULT)
  .refine(
    (value) => !Number.isInteger(value) || value < 0 || value >= EPOCH_MS_MIN,
    LOOKS_LIKE_SECONDS,
  );

const parameterText = z
  .string('must be a string')
  .max(
    OPTIONAL_PARAMETER_LENGTH_MAX,
    `must have ${OPTIONAL_PARAMETER_LENGTH_MAX} characters at most`,
  )
  .refine(isStorable, STORABLE_FAULT);
const optionalParameters = measured(
  OPTIONAL_PARAMETERS_MAX,
  z.preprocess(asObject, z.record(parameterText, parameterText, 'must be an object of strings')),
);

const tagFields = {
  sourceId: sourceId.nullish(),
  groupSourceId: sourceId.nullish(),
  expiration: expiration.nullish(),
  tagOptionalParameters: optionalParameters.nullish(),
};
const groupFields = {
  sourceId: sourceId.nullish(),
  parentGroupSourceId: sourceId.nullish(),
};

const atMostThousand = <T extends z.ZodType>(entry: T) =>
  measured(TAGS_PER_REQUEST_MAX, z.array(entry, 'must be an array').max(TAGS_PER_REQUEST_MAX));

/** Clients post answers back, so an entry to add may have an id. It is ignored. */
export const anyId = z.unknown().optional();

/** None is refused: whoever computed an empty list did not mean to take the tag from everybody. */
const appIds = measured(
  TAGS_PER_REQUEST_MAX,
  z
    .array(id, 'must be an array of ids')
    .min(1, 'names no app; null connects the tag to every app')
    .max(TAGS_PER_REQUEST_MAX),
).transform((ids) => [...new Set(ids)].sort((one, other) => one - other));

const tagResourceFields = { ...tagFields, groupId: id.nullish(), appIds: appIds.nullish() };
const groupResourceFields = { ...groupFields, parentId: id.nullish() };

/** A tag and a group as resources (v3): to be made. */
export const newTagForm = strictForm({ id: anyId, name, ...tagResourceFields });
export const newGroupForm = strictForm({ id: anyId, name, ...groupResourceFields });

/** And to be changed: an id, as in an answer that is sent back, is the one in the path. */
export const tagPatchForm = strictForm({
  id: id.optional(),
  name: name.optional(),
  ...tagResourceFields,
});
export const groupPatchForm = strictForm({
  id: id.optional(),
  name: name.optional(),
  ...groupResourceFields,
});

/** Of an id in the body that is not the one in the path. */
export const OTHER_ID: Fault = { path: 'id', message: 'is not the id in the path; leave it out' };

/** What `add` takes: several entries. */
export const addForm = strictForm({
  groups: atMostThousand(strictForm({ id: anyId, name, ...groupFields })).optional(),
  tags: atMostThousand(strictForm({ id: anyId, name, ...tagFields })).optional(),
}).refine(({ groups, tags }) => groups !== undefined || tags !== undefined, 'needs tags or groups');

const UNNAMED = 'needs an id or a sourceId';
const isNamed = (entry: {
  readonly id?: number | undefined;
  readonly sourceId?: string | null | undefined;
}): boolean => entry.id !== undefined || typeof entry.sourceId === 'string';

/**
 * The form of `update` and `delete`: one entry, named by its id or, without one, by its sourceId.
 */
export const oneForm = strictForm({
  groups: atMostThousand(
    strictForm({ id: id.optional(), name: name.optional(), ...groupFields }).refine(
      isNamed,
      UNNAMED,
    ),
  ).default([]),
  tags: atMostThousand(
    strictForm({ id: id.optional(), name: name.optional(), ...tagFields }).refine(isNamed, UNNAMED),
  ).default([]),
}).refine(
  ({ groups, tags }) => groups.length + tags.length === 1,
  'needs exactly one tag or group',
);

/** Fields of a tag that a request may give. Undefined: keep; null: clear. */
export type TagFields = z.infer<z.ZodObject<typeof tagFields>> & {
  readonly name?: string | undefined;
  readonly groupId?: number | null | undefined;
  readonly appIds?: readonly number[] | null | undefined;
};
export type TagGroupFields = z.infer<z.ZodObject<typeof groupFields>> & {
  readonly name?: string | undefined;
  readonly parentId?: number | null | undefined;
};
export type OneTag = TagFields & { readonly id?: number | undefined };
export type OneTagGroup = TagGroupFields & { readonly id?: number | undefined };
