/**
 * What the optional parameters of a client's tags may have together: they are held in memory with
 * its catalogue.
 */

import type { Tag } from '../../domain/tag.ts';
import { OPTIONAL_PARAMETER_BYTES_PER_CLIENT_MAX } from '../../domain/tag.ts';
import type { Sql } from '../../store/sql.ts';
import { parameterBytes } from '../../store/tags/parameter-bytes.ts';
import type { Fault } from '../problem.ts';

/**
 * The fault of these tags, as they are to be, if the client would have too many bytes with them.
 */
export async function parameterFaults(
  tx: Sql,
  clientId: number,
  tags: readonly Tag[],
  path: string,
): Promise<readonly Fault[]> {
  const given = tags.flatMap(({ optionalParameters }) =>
    optionalParameters === null ? [] : [optionalParameters],
  );
  if (given.length === 0) return [];
  const ids = tags.map(({ id }) => id);
  const added = given.reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify(one)), 0);
  const { own, others } = await parameterBytes(tx, clientId, ids);
  // Who has too many, from before there was a bound, may have fewer.
  if (others + added <= OPTIONAL_PARAMETER_BYTES_PER_CLIENT_MAX || added <= own) return [];
  const message = `would bring the tagOptionalParameters of all tags to ${others + added} bytes; a client may have ${OPTIONAL_PARAMETER_BYTES_PER_CLIENT_MAX}`;
  return [{ path, message }];
}
