/** Finds the tags of the languages that payloads are in, when the push is accepted. */

import { findReferencedTags } from '../../catalogue/find-referenced-tags.ts';
import type { Sql } from '../../database/sql.ts';
import type { LanguagePayload, Payload } from '../../domain/notification.ts';
import type { Content } from './contents.ts';
import type { PushFault } from './push.ts';

type Fit = Extract<Content, { readonly kind: 'fit' }>;

/** Null: the tag has expired, so no device has it. Undefined: there is none. */
type TagIds = ReadonlyMap<string, number | null>;

/** The contents with the tags of their languages. Without languages nothing is asked. */
export async function withLanguages(
  sql: Sql,
  clientId: number,
  contents: readonly Content[],
): Promise<readonly Content[]> {
  const sourceIds = contents.flatMap((content) =>
    content.kind === 'fit'
      ? payloadsOf(content).flatMap(({ languages = [] }) =>
          languages.flatMap((one) => ('language' in one ? [] : one.tagSourceId)),
        )
      : [],
  );
  if (sourceIds.length === 0) return contents;
  const named = { ids: [], sourceIds: [...new Set(sourceIds)] };
  const found = await findReferencedTags(sql, clientId, named);
  const tagIds: TagIds = new Map(
    found.map(({ sourceId, id, isExpired }) => [sourceId ?? '', isExpired ? null : id]),
  );
  return contents.map((content) => (content.kind === 'fit' ? known(content, tagIds) : content));
}

const payloadsOf = ({ payload, templated }: Fit): readonly Payload[] => [
  payload,
  ...Object.values(templated?.payloads ?? {}),
];

function known(content: Fit, tagIds: TagIds): Content {
  const { payload, templated } = content;
  const unknown = new Set(
    payloadsOf(content).flatMap(({ languages = [] }) =>
      languages.flatMap((one) =>
        'language' in one || tagIds.has(one.tagSourceId) ? [] : one.tagSourceId,
      ),
    ),
  );
  if (unknown.size > 0) return { kind: 'invalid', faults: [...unknown].map(unknownTag) };
  const payloads = Object.entries(templated?.payloads ?? {});
  return {
    kind: 'fit',
    payload: withTags(payload, tagIds),
    templated: templated && {
      ...templated,
      payloads: Object.fromEntries(payloads.map(([key, one]) => [key, withTags(one, tagIds)])),
    },
  };
}

/** A tag that is misspelt would leave its devices with the default language, silently. */
const unknownTag = (tagSourceId: string): PushFault => ({
  path: 'payload.languages',
  message: `There is no tag with the sourceId ${JSON.stringify(tagSourceId)}.`,
});

function withTags(payload: Payload, tagIds: TagIds): Payload {
  if (payload.languages === undefined) return payload;
  const languages = payload.languages.flatMap((one): readonly LanguagePayload[] => {
    if ('language' in one) return [one];
    const tagId = tagIds.get(one.tagSourceId);
    return tagId === undefined || tagId === null ? [] : [{ ...one, tagId }];
  });
  return { ...payload, languages };
}
