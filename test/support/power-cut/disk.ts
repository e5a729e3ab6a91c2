/**
 * A disk whose power can be cut: plays a recording, and keeps apart what was synced and what the
 * system may or may not have written yet. It is stricter than most file systems: the fsync of a
 * file writes its content, and only that of a folder the names in it.
 */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Random } from '../http2/played/random.ts';
import { Content } from './content.ts';
import type { Recorded } from './recording.ts';

/** A disk writes a sector whole or not at all. */
const SECTOR_OCTETS = 512;
/** How many of the changes that were not synced have arrived, of a file or a folder. */
const SHARES = [0, 0.5, 1];

type DataChange =
  | { readonly kind: 'write'; readonly position: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly size: number };

interface File {
  readonly kind: 'file';
  readonly synced: Content;
  pending: DataChange[];
}

/** A name goes, comes, or one takes the place of another: at once, as file systems do it. */
interface NameChange {
  readonly removed?: string;
  readonly added?: readonly [name: string, node: Node];
}

interface Folder {
  readonly kind: 'folder';
  readonly synced: Map<string, Node>;
  readonly current: Map<string, Node>;
  pending: NameChange[];
}

type Node = File | Folder;

/** A fault of the program, as a test sees it: an fsync that it does not ask for. */
export type Unsynced = 'nothing' | 'folders' | 'everything';

export class Disk {
  readonly #dataDir: string;
  readonly #unsynced: Unsynced;
  readonly #root: Folder;
  readonly #opened = new Map<string, Node>();

  /** Plays changes of `dataDir`, which had the files of `base`, all of them synced. */
  constructor(dataDir: string, base: string, unsynced: Unsynced) {
    this.#dataDir = dataDir;
    this.#unsynced = unsynced;
    this.#root = readFolder(base);
  }

  play({ change, data }: Recorded): void {
    switch (change.kind) {
      case 'open':
        this.#opened.set(change.file, this.#at(change.path));
        return;
      case 'fsync':
        this.#sync(this.#openedAs(change.file));
        return;
      case 'write':
        fileOf(this.#openedAs(change.file)).pending.push({ ...change, data });
        return;
      case 'truncate-open':
        this.#truncate(this.#openedAs(change.file), change.size);
        return;
      case 'truncate':
        this.#truncate(this.#at(change.path), change.size);
        return;
      case 'create':
        this.#create(change.path);
        return;
      case 'make-folder':
        this.#changeNames(change.path, { added: [basename(change.path), emptyFolder()] });
        return;
      case 'remove':
        this.#changeNames(change.path, { removed: basename(change.path) });
        return;
      case 'rename': {
        const { path, to } = change;
        if (dirname(path) !== dirname(to)) throw new Error(`${path} moves to another folder`);
        this.#changeNames(path, { removed: basename(path), added: [basename(to), this.#at(path)] });
      }
    }
  }

  /**
   * Writes into `directory` what is there after a power cut: all that was synced, and of the rest
   * what `random` chooses, in the order in which it was written; null: nothing of it.
   */
  writeTo(directory: string, random: Random | null): void {
    writeFolder(directory, this.#root, random);
  }

  #sync(node: Node): void {
    if (this.#unsynced === 'everything') return;
    if (this.#unsynced === 'folders' && node.kind === 'folder') return;
    sync(node);
  }

  #truncate(node: Node, size: number): void {
    fileOf(node).pending.push({ kind: 'truncate', size });
  }

  /** A file that is there is emptied. */
  #create(path: string): void {
    const there = this.#folderOf(path).current.get(basename(path));
    if (there === undefined) {
      const made: File = { kind: 'file', synced: new Content(Buffer.alloc(0)), pending: [] };
      this.#changeNames(path, { added: [basename(path), made] });
    } else this.#truncate(there, 0);
  }

  #changeNames(path: string, change: NameChange): void {
    const folder = this.#folderOf(path);
    apply(folder.current, change);
    folder.pending.push(change);
  }

  #openedAs(file: string): Node {
    const node = this.#opened.get(file);
    if (node === undefined) throw new Error(`${file} is not open`);
    return node;
  }

  #folderOf(path: string): Folder {
    const folder = this.#at(dirname(path));
    if (folder.kind !== 'folder') throw new Error(`${path} is in a file`);
    return folder;
  }

  #at(path: string): Node {
    let node: Node | undefined = this.#root;
    for (const name of relative(this.#dataDir, path).split(sep).filter(Boolean)) {
      node = node?.kind === 'folder' ? node.current.get(name) : undefined;
    }
    if (node === undefined) throw new Error(`${path} is not there`);
    return node;
  }
}

const emptyFolder = (): Folder => ({
  kind: 'folder',
  synced: new Map(),
  current: new Map(),
  pending: [],
});

function readFolder(path: string): Folder {
  const folder = emptyFolder();
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const at = join(path, entry.name);
    const node: Node = entry.isDirectory()
      ? readFolder(at)
      : { kind: 'file', synced: new Content(readFileSync(at)), pending: [] };
    folder.synced.set(entry.name, node);
    folder.current.set(entry.name, node);
  }
  return folder;
}

function fileOf(node: Node): File {
  if (node.kind === 'file') return node;
  throw new Error('A folder is written to.');
}

function sync(node: Node): void {
  if (node.kind === 'folder') for (const change of node.pending) apply(node.synced, change);
  else for (const change of node.pending) applyData(node.synced, change);
  node.pending = [];
}

function apply(names: Map<string, Node>, { removed, added }: NameChange): void {
  if (removed !== undefined) names.delete(removed);
  if (added !== undefined) names.set(...added);
}

function applyData(content: Content, change: DataChange): void {
  if (change.kind === 'write') content.write(change.position, change.data);
  else content.truncate(change.size);
}

function writeFolder(path: string, folder: Folder, random: Random | null): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const names = new Map(folder.synced);
  for (const change of arrived(folder.pending, random)) apply(names, change);
  for (const [name, node] of names) {
    const at = join(path, name);
    if (node.kind === 'folder') writeFolder(at, node, random);
    else writeFileSync(at, contentOf(node, random).octets, { mode: 0o600 });
  }
}

function contentOf({ synced, pending }: File, random: Random | null): Content {
  if (pending.length === 0 || random === null) return synced;
  const content = synced.copy();
  const pieces = pending.flatMap((change) => (random.chance(0.5) ? sectorsOf(change) : [change]));
  for (const piece of arrived(pieces, random)) applyData(content, piece);
  return content;
}

function arrived<Change>(changes: readonly Change[], random: Random | null): readonly Change[] {
  if (random === null) return [];
  const share = random.pick(SHARES);
  return changes.filter(() => random.chance(share));
}

/** A write that may be torn: its sectors, each by itself. */
function sectorsOf(change: DataChange): readonly DataChange[] {
  if (change.kind !== 'write') return [change];
  const { position, data } = change;
  const sectors: DataChange[] = [];
  for (let start = 0; start < data.length; ) {
    const end = start + SECTOR_OCTETS - ((position + start) % SECTOR_OCTETS);
    sectors.push({ kind: 'write', position: position + start, data: data.subarray(start, end) });
    start = end;
  }
  return sectors;
}
