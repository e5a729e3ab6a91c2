/**
 * tap without its async hooks. tap finds the test of an uncaught error by hooks which follow each
 * promise and each timer: a quarter of the processor time of a lane. A lane runs one file after
 * another, so such an error is that of the file that runs. `lane.ts` reports it there.
 */

import type { AsyncHook } from 'node:async_hooks';
import asyncHooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

const { createHook } = asyncHooks;
const inert: AsyncHook = { enable: () => inert, disable: () => inert };

asyncHooks.createHook = () => inert;
syncBuiltinESMExports();
const { default: t } = await import('tap');
asyncHooks.createHook = createHook;
syncBuiltinESMExports();

export { t };
