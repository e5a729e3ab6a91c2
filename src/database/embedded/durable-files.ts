/**
 * The files of PGlite, so that they survive a power cut. PGlite calls the fsync of a file system
 * where it has one, and that of Node's files has none (docs/decisions/0068).
 */

import { constants, fsyncSync } from 'node:fs';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { syncFolder } from '../../std/sync-folder.ts';

/** Emscripten's file system on Node's `fs`, as far as it is used here. */
interface NodeFiles {
  realPath(node: FileNode): string;
  readonly node_ops: { mknod: (parent: FileNode, ...rest: unknown[]) => FileNode };
  readonly stream_ops: { fsync?: (file: OpenFile) => void };
}

/** A file or a folder; the topmost folder is its own parent. */
interface FileNode {
  readonly parent: FileNode;
  readonly mode: number;
}

interface OpenFile {
  readonly node: FileNode;
  /** Its descriptor in this process. */
  readonly nfd: number;
}

/** Pass it to PGlite as `fs`. `failed` must end the thread: PGlite swallows what is thrown. */
export class DurableFiles extends NodeFS {
  readonly #failed: (error: unknown) => never;

  constructor(directory: string, failed: (error: unknown) => never) {
    super(directory);
    this.#failed = failed;
  }

  override async init(...parts: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(...parts);
    const preRun = [
      ...(emscriptenOpts.preRun ?? []),
      ({ NODEFS }: { readonly NODEFS: unknown }) => addSync(NODEFS as NodeFiles, this.#failed),
    ];
    return { emscriptenOpts: { ...emscriptenOpts, preRun } };
  }
}

/**
 * A file is synced with the folders that lead to it, where these have new names: PostgreSQL syncs
 * the folders of files that it renames, and leaves those of new tables to the file system.
 */
function addSync(files: NodeFiles, failed: (error: unknown) => never): void {
  const changedFolders = new Set<string>();
  const { mknod } = files.node_ops;
  files.node_ops.mknod = (parent, ...rest) => {
    const made = mknod(parent, ...rest);
    changedFolders.add(files.realPath(parent));
    return made;
  };
  files.stream_ops.fsync = ({ node, nfd }) => {
    try {
      if (isFolder(node)) changedFolders.add(files.realPath(node));
      else fsyncSync(nfd);
      for (const path of foldersTo(files, node)) {
        if (!changedFolders.has(path)) continue;
        syncFolder(path);
        changedFolders.delete(path);
      }
    } catch (error) {
      failed(error);
    }
  };
}

const isFolder = ({ mode }: FileNode): boolean => (mode & constants.S_IFMT) === constants.S_IFDIR;

/** The node itself, when it is a folder, and those above it up to the topmost. */
function foldersTo(files: NodeFiles, node: FileNode): readonly string[] {
  const above = node.parent === node ? [] : foldersTo(files, node.parent);
  return isFolder(node) ? [files.realPath(node), ...above] : above;
}
