/** The process that runs initdb into the directory that its argument names, and ends. */

import { MemoryFS, PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { START_PARAMS } from './settings.ts';

/**
 * A directory that PGlite takes for files in memory, so that initdb writes into it directly.
 * Otherwise initdb writes into memory; then all files are copied twice, and an archive of them
 * once, which takes 200 MB.
 */
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

const [, , path] = process.argv;
if (path === undefined) throw new Error('Which directory?');
const database = await PGlite.create({
  fs: new Directory(path),
  startParams: [...START_PARAMS],
});
await database.close();
