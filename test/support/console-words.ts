/** Functions of the console for tests without a browser: bundled as its page has them. */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Lifetime } from './lifetime.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const CONSOLE = createRequire(join(ROOT, 'console', 'package.json'));

interface Bundler {
  readonly build: (options: {
    readonly input: string;
    readonly output: { readonly file: string; readonly format: 'esm' };
    readonly logLevel: 'warn';
  }) => Promise<unknown>;
}

/** The module `console/src/words/<name>.ts`. */
export async function consoleWords<Module>(t: Lifetime, name: string): Promise<Module> {
  const { build } = (await import(CONSOLE.resolve('rolldown'))) as Bundler;
  const file = join(temporaryDirectory(t), `${name}.mjs`);
  const input = join(ROOT, 'console', 'src', 'words', `${name}.ts`);
  await build({ input, output: { file, format: 'esm' }, logLevel: 'warn' });
  return (await import(pathToFileURL(file).href)) as Module;
}
