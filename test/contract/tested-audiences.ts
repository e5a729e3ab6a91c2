/** Expressions with tests, evaluated by a tag index and plainly, over the same devices. */

import * as fc from 'fast-check';
import { compileFor } from '../../src/attributes/compile-for.ts';
import type { Sql } from '../../src/database/sql.ts';
import { readExpression } from '../../src/domain/audience-expression.ts';
import type { Audience } from '../../src/domain/notification.ts';
import { resolve } from '../../src/push/accept/resolve.ts';
import { listDeviceGroupsOf } from '../../src/tag-index/groups/list-device-groups.ts';
import { SqlTagIndex } from '../../src/tag-index/sql/sql-tag-index.ts';
import type { TagIndex } from '../../src/tag-index/tag-index.ts';
import { aPush } from '../support/a-notification.ts';
import type { TestedDevice } from '../support/tested-devices.ts';
import { isMeant, TESTED_AT_MS, testedText, testedTrees } from '../support/tested-devices.ts';

interface Scene {
  readonly sql: Sql;
  readonly clientId: number;
  readonly appId: number;
  readonly devices: readonly TestedDevice[];
}

const accepted = testedTrees.filter((tree) => readExpression(testedText(tree)).ok);

/** Throws where one of the indexes answers otherwise than the plain evaluation. */
export async function agreesOnTests(
  scene: Scene,
  indexes: Readonly<Record<string, TagIndex>>,
  runs: number,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(accepted, async (tree) => {
      const text = testedText(tree);
      const meant = scene.devices.filter((device) => isMeant(tree, device)).map(nameOf);
      for (const [name, index] of Object.entries(indexes)) {
        const { found, count } = await askedOf(scene, index, text);
        if (found.join() !== meant.join()) {
          const wrong = [...new Set([...found, ...meant])].filter(
            (one) => found.includes(one) !== meant.includes(one),
          );
          throw new Error(`${name}: ${text}: ${wrong.length} differ, as ${wrong[0]}`);
        }
        if (count !== meant.length) throw new Error(`${name}: ${text}: counted ${count}`);
      }
    }),
    { numRuns: runs },
  );
}

const nameOf = ({ platformId, ordinal }: { platformId: number; ordinal: number }): string =>
  `${platformId}/${ordinal}`;

async function askedOf({ sql, clientId, appId }: Scene, index: TagIndex, text: string) {
  const read = readExpression(text);
  if (!read.ok) throw new Error(read.fault.message);
  const push = aPush({ expression: read.expression });
  const [targets] = await resolve(sql, clientId, [push]);
  if (!targets?.ok) throw new Error(`${text}: ${JSON.stringify(targets?.faults)}`);
  const audienceIn = await compileFor(sql, clientId, targets.audience, TESTED_AT_MS);
  const found: string[] = [];
  let count = 0;
  for (const { platformId } of targets.scopes) {
    const audience = audienceIn({ appId, platformId });
    const ordinalEnd = Number.MAX_SAFE_INTEGER;
    for (const group of await listDeviceGroupsOf(sql, { appId, platformId })) {
      const expectedVersion = group.version;
      const run = await index.resolve({ group, audience, ordinalEnd, expectedVersion });
      for (const offset of run.offsets) {
        found.push(nameOf({ platformId, ordinal: group.groupNumber * 8_192 + offset }));
      }
    }
    count += (await index.count(sql, { appId, platformId }, audience)).count;
  }
  return { found, count };
}

/** The database, which Redis asks for everybody, and for days and numbers alone. */
export function databaseForRows(sql: Sql): TagIndex {
  const truth = new SqlTagIndex(sql);
  const forRows = ({ isToEverybody, asksRows }: Audience) => {
    if (isToEverybody !== true && asksRows !== true) throw new Error('the database was asked');
  };
  return {
    resolve: (request) => {
      forRows(request.audience);
      return truth.resolve(request);
    },
    count: (asked, scope, audience, groupsMax) => {
      forRows(audience);
      return truth.count(asked, scope, audience, groupsMax);
    },
    recheck: (...asked) => truth.recheck(...asked),
  };
}
