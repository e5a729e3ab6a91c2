/** The process that runs initdb into the directory that its argument names, and ends. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryFS, PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { syncFile, syncFolder } from '../../std/sync-folder.ts';
import { FILES_PARAMS, startParams } from './settings.ts';
import { thrownText } from './thrown.ts';

/** PGlite takes it for files in memory, so initdb writes directly; else it takes 200 MB more. */
class Directory extends MemoryFS {
  private readonly files: NodeFS;

  constructor(path: string) {
    super();
    this.files = new NodeFS(path);
  }

  override init(...parts: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    return this.files.init(...parts);
  }

  override closeFs(): Promise<void> {
    return this.files.closeFs();
  }
}

/** Writes all of it to the disk, once, at the end: initdb of PostgreSQL does the same. */
function syncTree(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) syncTree(path);
    else syncFile(path);
  }
  syncFolder(directory);
}

const [, , path, fsync] = process.argv;
if (path === undefined) throw new Error('Which directory?');
try {
  const database = await PGlite.create({
    fs: new Directory(path),
    startParams: startParams(false),
    initDbStartParams: [...FILES_PARAMS],
  });
  await database.close();
  if (fsync === 'fsync') syncTree(path);
} catch (error) {
  // One line: Node.js itself would print the line of PGlite's code, which has 100,000 characters.
  process.stderr.write(`${thrownText(error)}\n`);
  process.exit(1);
}
