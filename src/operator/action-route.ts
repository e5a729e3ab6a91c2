/** The actions that have no routes of their own yet, by one route; on the engine's socket only. */

import { z } from 'zod';
import { parseJson } from '../../packages/std/src/json.ts';
import type { Route } from '../http/handler.ts';
import { json } from '../http/json-body.ts';
import type { OperatorActions } from './operator-actions.ts';

const requestForm = z.object({ action: z.string(), input: z.unknown() });
/** A thousand devices with all their tags. */
const BODY_BYTES_MAX = 67_108_864;

export const actionRoute = (actions: OperatorActions): Route => ({
  api: 'operator',
  operation: null,
  method: 'POST',
  path: '/operator/v1/actions',
  bodyBytesMax: BODY_BYTES_MAX,
  handle: async ({ body }) => {
    const { action, input } = requestForm.parse(parseJson(body.toString()));
    return json(await actions(action, input));
  },
});
