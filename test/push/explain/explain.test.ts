/** Explanations beside the audience as the index finds it, for random expressions and devices. */

import * as fc from 'fast-check';
import t from 'tap';
import { compileFor } from '../../../src/attributes/compile-for.ts';
import type { Store } from '../../../src/database/store.ts';
import type { ExpressionNode } from '../../../src/domain/audience-expression.ts';
import { isLeaf, partsOf, readExpression } from '../../../src/domain/audience-expression.ts';
import { deviceKeyOf } from '../../../src/domain/device.ts';
import { operandText } from '../../../src/domain/operand-text.ts';
import { resolve } from '../../../src/push/accept/resolve.ts';
import type { Explanation } from '../../../src/push/explain/explain.ts';
import { explain } from '../../../src/push/explain/explain.ts';
import { pushTo } from '../../../src/push/routes/push-request.ts';
import { insertNotifications } from '../../../src/push/sql/notifications/insert-notifications.ts';
import { recheckOrdinals } from '../../../src/tag-index/sql/recheck-ordinals.ts';
import { aNotification } from '../../support/a-notification.ts';
import { makeTenant } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import {
  randomDevices,
  seedTestedDevices,
  testedText,
  testedTrees,
} from '../../support/tested-devices.ts';

t.setTimeout(180_000);

const ROUNDS = 60;
const EXPLAINED = 6;
const accepted = testedTrees.filter((tree) => readExpression(testedText(tree)).ok);

async function sceneOf({ sql }: Store) {
  const tenant = await makeTenant(sql, 'tested');
  const devices = randomDevices([80, 20]);
  await seedTestedDevices(sql, tenant, devices);
  // The engine finds devices by other keys than those of the seeds.
  const tokens = devices.map(({ platformId, ordinal }) => `${platformId}-${ordinal}`);
  for (const [at, token] of tokens.entries()) {
    const { platformId = 0, ordinal = 0 } = devices[at] ?? {};
    await sql`
      update devices set device_id = ${token}, device_key = ${deviceKeyOf(token)}::uuid
      where platform_id = ${platformId} and ordinal = ${ordinal}`;
  }
  return { sql, ...tenant, devices };
}

/** Whether the operands that held make the expression true. */
function isTrue(node: ExpressionNode, held: ReadonlyMap<string, boolean>): boolean {
  if (isLeaf(node)) {
    const isHeld = held.get(operandText(node));
    if (isHeld === undefined) throw new Error(`${operandText(node)} is not explained`);
    return isHeld;
  }
  const parts = partsOf(node);
  return 'and' in node
    ? parts.every((part) => isTrue(part, held))
    : parts.some((part) => isTrue(part, held));
}

await onEachStore(t, {
  'as the index finds it, and as its operands say': async (t, store) => {
    const { sql, clientId, appId, devices } = await sceneOf(store);
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(accepted, fc.nat(), async (tree, first) => {
        const text = testedText(tree);
        const read = readExpression(text);
        if (!read.ok) throw new Error(read.fault.message);
        const push = pushTo(read.expression);
        const [targets] = await resolve(sql, clientId, [push]);
        if (!targets?.ok) throw new Error(JSON.stringify(targets));
        const job = aNotification({
          clientId,
          audience: targets.audience,
          expression: text,
          scopes: targets.scopes.map((scope) => ({ ...scope, isSimulated: false })),
        });
        await insertNotifications(sql, [job]);
        const audienceIn = await compileFor(sql, clientId, targets.audience);
        for (let step = 0; step < EXPLAINED; step += 1) {
          const { platformId = 3, ordinal = 0 } =
            devices[(first + step * 17) % devices.length] ?? {};
          const scope = { appId, platformId };
          const found = await recheckOrdinals(sql, scope, [ordinal], audienceIn(scope), []);
          const deviceId = `${platformId}-${ordinal}`;
          const asked = {
            clientId,
            publisher: null,
            seesPersonal: false,
            reachRetentionDays: 7,
            device: { ...scope, deviceId, deviceKey: deviceKeyOf(deviceId) },
          };
          const ofPush = explanationIn(await explain(sql, { ...asked, of: push }));
          const ofJob = explanationIn(await explain(sql, { ...asked, of: job.id }));
          const isIn = found.length > 0;
          const { because, inAudience } = ofPush;
          const held = new Map(because.map((one) => [one.operand, one.held]));
          if (inAudience !== isIn) throw new Error(`${text}: ${deviceId}: not as the index`);
          if (isTrue(read.expression.root, held) !== isIn) {
            throw new Error(`${text}: ${deviceId}: not as ${JSON.stringify(because)}`);
          }
          t.same({ because: ofJob.because, inAudience: ofJob.inAudience }, { because, inAudience });
          for (const one of because) if (one.kind !== 'nobody') seen.add(`${one.kind} ${one.held}`);
          seen.add(String(isIn));
        }
      }),
      { numRuns: ROUNDS },
    );
    const answers = ['attribute', 'everybody', 'tag'].flatMap((kind) => [
      `${kind} false`,
      `${kind} true`,
    ]);
    t.same([...seen].sort(), [...answers, 'false', 'true'].sort(), 'each kind, both answers');
  },
});

function explanationIn(explained: Awaited<ReturnType<typeof explain>>): Explanation {
  if (explained.kind !== 'explained') throw new Error(JSON.stringify(explained));
  return explained.explanation;
}
