/**
 * Limits the optional parameters of a client's tags: all go to every app that asks for its tags.
 */

import type { Sql } from '../database/sql.ts';
import type { Tag } from '../domain/tag.ts';
import { OPTIONAL_PARAMETER_BYTES_PER_CLIENT_MAX } from '../domain/tag.ts';
import type { FormFault } from '../std/strict-form.ts';
import { parameterBytes } from './sql/parameter-bytes.ts';

/** The fault of a request whose tags would bring the client's parameters over the limit. */
export async function parameterFaults(
  tx: Sql,
  clientId: number,
  tags: readonly Tag[],
  path: string,
): Promise<readonly FormFault[]> {
  const given = tags.flatMap(({ optionalParameters }) =>
    optionalParameters === null ? [] : [optionalParameters],
  );
  if (given.length === 0) return [];
  const ids = tags.map(({ id }) => id);
  const added = given.reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify(one)), 0);
  const { own, others } = await parameterBytes(tx, clientId, ids);
  // A client whose parameters are older than the limit may exceed it, and may still reduce them.
  if (others + added <= OPTIONAL_PARAMETER_BYTES_PER_CLIENT_MAX || added <= own) return [];
  const message = `would bring the tagOptionalParameters of all tags to ${others + added} bytes; a client may have ${OPTIONAL_PARAMETER_BYTES_PER_CLIENT_MAX}`;
  return [{ path, message }];
}
