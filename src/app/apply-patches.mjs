/**
 * npm runs this after each install: it applies `src/patches/<package>+<version>.patch` to
 * node_modules, because npm has no patches of its own. Plain JavaScript, since nothing is built
 * then.
 *
 * A patch that is applied already stays. One that does not fit ends the install, before a file is
 * changed: an upgrade of the library has to look at it again.
 */

import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyPatch, parsePatch, reversePatch } from 'diff';

const ROOT = join(import.meta.dirname, '..', '..');
const PATCHES = join(ROOT, 'src', 'patches');
/** git writes new paths below this. */
const PREFIX = /^b\//;
const NAME = /^(?<library>.+)\+(?<version>\d[^+]*)\.patch$/;

try {
  const changes = readdirSync(PATCHES).flatMap(changesOf);
  for (const { path, text } of changes) replace(path, text);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

/** The files that a patch changes, with their new texts; none when it is applied. */
function changesOf(name) {
  const { library, version } = NAME.exec(name)?.groups ?? {};
  const path = `src/patches/${name}`;
  if (library === undefined) throw new Error(`${path}: call it <package>+<version>.patch.`);
  const manifest = join(ROOT, 'node_modules', library, 'package.json');
  if (!existsSync(manifest)) throw new Error(`${path}: ${library} is not installed.`);
  const installed = JSON.parse(readFileSync(manifest, 'utf8')).version;
  if (installed !== version) {
    throw new Error(
      `${path}: version ${installed} of ${library} is installed. Make the patch for it, or delete it.`,
    );
  }
  return parsePatch(readFileSync(join(PATCHES, name), 'utf8')).flatMap((patch) => {
    const file = patch.newFileName?.replace(PREFIX, '') ?? '';
    const text = readFileSync(join(ROOT, file), 'utf8');
    const patched = applyPatch(text, patch, { fuzzFactor: 0 });
    if (patched !== false) return [{ path: join(ROOT, file), text: patched }];
    if (applyPatch(text, reversePatch(patch), { fuzzFactor: 0 }) !== false) return [];
    throw new Error(`${path} does not fit ${file}. Run \`npm ci\`, or make the patch again.`);
  });
}

/** Writes beside it and renames: a process that dies here leaves the old file or the new one. */
function replace(path, text) {
  writeFileSync(`${path}.patched`, text);
  renameSync(`${path}.patched`, path);
}
