/**
 * Maps the places of stack traces to the TypeScript sources, as `--enable-source-maps` does; but a
 * map is read when a trace needs it, and not with each module. Hundreds of modules are loaded by
 * each test, engine and thread, and few of them are ever in a trace: a sixth of the CPU of loading.
 *
 * Loaded by `--import` (node-flags.ts), in each process and thread.
 */

import { existsSync, readFileSync } from 'node:fs';
import Module, { SourceMap, syncBuiltinESMExports } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** By the URL of the built file; null: it has no map. */
const maps = new Map<string, SourceMap | null>();

function mapOf(file: string): SourceMap | undefined {
  const url = file.startsWith('/') ? pathToFileURL(file).href : file;
  const known = maps.get(url);
  if (known !== undefined) return known ?? undefined;
  const path = url.startsWith('file:') ? `${fileURLToPath(url)}.map` : null;
  const found = path !== null && existsSync(path) ? new SourceMap(parsed(path, url)) : null;
  maps.set(url, found);
  return found ?? undefined;
}

/** With the sources as URLs, which is how Node has them. */
function parsed(path: string, url: string): ConstructorParameters<typeof SourceMap>[0] {
  const payload = JSON.parse(readFileSync(path, 'utf8'));
  return {
    ...payload,
    sources: payload.sources.map((source: string) => new URL(source, url).href),
  };
}

/** As V8 writes a frame, at the place in the source. */
function frame(site: NodeJS.CallSite): string {
  const written = String(site);
  const [file, line, column] = [site.getFileName(), site.getLineNumber(), site.getColumnNumber()];
  if (typeof file !== 'string' || line === null || column === null) return written;
  const origin = mapOf(file)?.findEntry(line - 1, column - 1);
  if (origin === undefined || !('originalSource' in origin)) return written;
  const source = origin.originalSource.startsWith('file:')
    ? fileURLToPath(origin.originalSource)
    : origin.originalSource;
  return written.replace(
    `${file}:${line}:${column}`,
    `${source}:${origin.originalLine + 1}:${origin.originalColumn + 1}`,
  );
}

Error.prepareStackTrace = (error, sites) =>
  [headOf(error), ...sites.map((site) => `    at ${frame(site)}`)].join('\n');

/** The error without its stack, whatever was thrown. */
function headOf(error: unknown): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}

// tap looks for the place of a failed assertion by it.
Module.findSourceMap = mapOf;
syncBuiltinESMExports();
