/**
 * `tagcast index …`: compares the tag index in Redis with the database, or rebuilds it, while the
 * engine runs.
 */

import type { MaintainedIndex, Walked } from '../tag-index/redis/maintain.ts';
import { dropOtherIndexes, rebuildIndex, verifyIndex } from '../tag-index/redis/maintain.ts';
import type { Command } from './command.ts';
import { readFlags, readPositionals, UsageError } from './operator-command.ts';
import type { ProgressOutput } from './progress.ts';
import { format, Progress } from './progress.ts';

const USAGE = `tagcast index verify                   compares Redis with the database, device by device; exits 1 and prints what differs
tagcast index rebuild [--drop-others]  rebuilds every group; sends and registrations continue
       --drop-others  also deletes the keys that other databases, or this one before a restore, left in this Redis

Both need DATABASE_URL and REDIS_URL or REDIS_CLUSTER, with the values of the engine. The running engine repairs a stale
group within seconds. A group that differs although it is current is a bug: please report it.`;

const EXIT_DIFFERENT = 1;
const EXIT_USAGE = 2;

export interface OpenedIndex extends MaintainedIndex {
  close(): Promise<void>;
}

export interface IndexContext {
  /** Opens the index, or returns a sentence why it cannot. */
  open(): Promise<OpenedIndex | string>;
  readonly terminal: {
    print(text: string): void;
    complain(text: string): void;
    readonly progress: ProgressOutput;
  };
}

/** Makes the command. */
export const indexCommand = (context: IndexContext): Command => ({
  usage: USAGE,
  run: (args) => run(context, args),
});

async function run(context: IndexContext, args: readonly string[]): Promise<number> {
  const { terminal } = context;
  if (args.includes('--help') || args.includes('-h')) {
    terminal.print(USAGE);
    return 0;
  }
  let work: (index: MaintainedIndex) => Promise<number>;
  try {
    work = plan(context, args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.complain(error.message);
    return EXIT_USAGE;
  }
  const index = await context.open();
  if (typeof index === 'string') {
    terminal.complain(index);
    return EXIT_USAGE;
  }
  try {
    return await work(index);
  } finally {
    await index.close();
  }
}

function plan(
  context: IndexContext,
  [verb = '', ...args]: readonly string[],
): (index: MaintainedIndex) => Promise<number> {
  switch (verb) {
    case 'verify':
      readPositionals(readFlags(args, {}).positionals, []);
      return (index) => verify(context, index);
    case 'rebuild': {
      const { values, positionals } = readFlags(args, { 'drop-others': { type: 'boolean' } });
      readPositionals(positionals, []);
      return (index) => rebuild(context, index, values['drop-others'] === true);
    }
    default:
      throw new UsageError(`index needs verify or rebuild\n${USAGE}`);
  }
}

async function verify({ terminal }: IndexContext, index: MaintainedIndex): Promise<number> {
  const progress = new Progress(terminal.progress, 'devices');
  const { groups, devices, stale, wrong } = await verifyIndex(
    index,
    (sentence) => {
      progress.clear();
      terminal.print(sentence);
    },
    (walked) => progress.show(standingOf(walked)),
  );
  progress.clear();
  terminal.print(
    `${format(groups)} groups with ${format(devices)} devices: ${format(stale)} are stale, ${format(wrong)} differ.`,
  );
  return stale + wrong === 0 ? 0 : EXIT_DIFFERENT;
}

async function rebuild(
  { terminal }: IndexContext,
  index: MaintainedIndex,
  dropsOthers: boolean,
): Promise<number> {
  const progress = new Progress(terminal.progress, 'devices');
  const { groups, devices } = await rebuildIndex(index, (walked) =>
    progress.show(standingOf(walked)),
  );
  progress.clear();
  terminal.print(`${format(groups)} groups with ${format(devices)} devices were rebuilt.`);
  if (dropsOthers) {
    terminal.print(`${format(await dropOtherIndexes(index))} keys of other indexes were deleted.`);
  }
  return 0;
}

const standingOf = ({ groups, groupsTotal, devices }: Walked) => ({
  done: groups,
  total: groupsTotal,
  count: devices,
});
