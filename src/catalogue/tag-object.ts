/** A tag as apps see it: ids are JSON numbers, and absent properties are left out. */

export interface TagObject {
  readonly id: number;
  readonly name: string;
  readonly sourceId?: string;
  readonly tagOptionalParameters?: Readonly<Record<string, string>>;
}

/** An empty map of parameters counts as none. */
export function tagObject(tag: {
  readonly id: number;
  readonly name: string;
  readonly sourceId: string | null;
  readonly optionalParameters: Readonly<Record<string, string>> | null;
}): TagObject {
  const { id, name, sourceId, optionalParameters } = tag;
  const hasParameters = optionalParameters !== null && Object.keys(optionalParameters).length > 0;
  return {
    id,
    name,
    ...(sourceId === null ? {} : { sourceId }),
    ...(hasParameters ? { tagOptionalParameters: optionalParameters } : {}),
  };
}
