/**
 * tap as this project wants it: its `Test` class is generated with the plugins that package.json leaves in, and each test
 * file loads all that the class has.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const MODULES = join(import.meta.dirname, '..', '..', '..', 'node_modules');

/** tap's command. */
export const TAP = join(MODULES, '.bin', 'tap');

/** Generates the class unless it is as it should be: a clone comes with tap's default, and generating takes five seconds. */
export async function buildTap(): Promise<void> {
  const generated = readFileSync(join(MODULES, '@tapjs/test/test-built/dist/esm/index.js'), 'utf8');
  const wanted = (await wantedPlugins()).join('\n');
  if (generated.includes(`export const signature = \`${wanted}\``)) return;
  await once(spawn(TAP, ['build'], { stdio: 'ignore' }), 'exit');
}

async function wantedPlugins(): Promise<readonly string[]> {
  const { defaultPlugins } = (await import(
    join(MODULES, '@tapjs/test/dist/esm/default-plugins.js')
  )) as { readonly defaultPlugins: readonly string[] };
  const { tap } = JSON.parse(readFileSync(join(MODULES, '..', 'package.json'), 'utf8')) as {
    readonly tap: { readonly plugin: readonly string[] };
  };
  return defaultPlugins.filter((name) => !tap.plugin.includes(`!${name}`));
}
