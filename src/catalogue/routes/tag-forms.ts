/** Fields that forms of tags, groups and apps share (internals/interface.md). */

import { z } from 'zod';
import { ISO_TIME, isoTimeMs } from '../../../packages/std/src/iso-8601.ts';
import { asObject } from '../../../packages/std/src/json.ts';
import {
  OPTIONAL_PARAMETER_LENGTH_MAX,
  OPTIONAL_PARAMETERS_MAX,
  SOURCE_ID_LENGTH_MAX,
  TAG_NAME_LENGTH_MAX,
} from '../../domain/tag.ts';
import { EPOCH_MS_MIN, LOOKS_LIKE_SECONDS, TIME_FAULT } from '../../http/epoch-time.ts';
import type { Fault } from '../../http/problem.ts';
import { isNameText, isStorable, NAME_FAULT, STORABLE_FAULT } from '../../std/name-text.ts';
import { measured } from '../../std/strict-form.ts';

const text = (lengthMax: number) =>
  z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(lengthMax, `must have ${lengthMax} characters at most`);

export const name = text(TAG_NAME_LENGTH_MAX)
  .refine(isNameText, NAME_FAULT)
  .meta({ description: 'Without control characters: line feeds, tabs, marks of direction.' });
/** Another system's name for it: kept as it is there, and escaped where people read it. */
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

export const tagFields = {
  sourceId: sourceId.nullish(),
  groupSourceId: sourceId.nullish(),
  expiration: expiration.nullish().meta({
    description:
      'An expired tag addresses nobody, and still excludes where it excludes. A day later the engine deletes it with its statistics, unless it has a later `expiration` by then; one that was made with a past one, a day after it was made. One with an operation on its members waits until this has ended. Open pushes that exclude it go on to do so.',
  }),
  tagOptionalParameters: optionalParameters
    .nullish()
    .meta({ description: 'An empty list counts as an empty object.' }),
};
export const groupFields = {
  sourceId: sourceId.nullish(),
  parentGroupSourceId: sourceId.nullish(),
};

/** Clients post answers back, so an entry to add may have an id. It is ignored. */
export const anyId = z.unknown().optional();

/** An id in the body that is not the one in the path. */
export const OTHER_ID: Fault = { path: 'id', message: 'is not the id in the path; leave it out' };
