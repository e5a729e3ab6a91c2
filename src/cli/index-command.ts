/** `tagcast index …`: compares Redis's tag index with the database, or rebuilds it, live. */

import { counted, format } from '../std/counted.ts';
import type { MaintainedIndex, Walked } from '../tag-index/redis/maintain.ts';
import { dropOtherIndexes, rebuildIndex, verifyIndex } from '../tag-index/redis/maintain.ts';
import type { Command } from './command.ts';
import { createCommand, EXIT_USAGE, printedJson, verb, withJson } from './command.ts';
import { Progress } from './progress.ts';
import type { Terminal } from './terminal.ts';

const NOTES = `Needs DATABASE_URL and REDIS_URL or REDIS_CLUSTER, with the values of the engine. The running engine repairs a stale
group within seconds. A group that differs although it is current is a bug: please report it.`;

const EXIT_DIFFERENT = 1;
/** @limit differences of `index verify --json` that are listed → counted */
const DIFFERENCES_MAX = 1_000;

export interface OpenedIndex extends MaintainedIndex {
  close(): Promise<void>;
}

export interface IndexContext {
  open(): Promise<OpenedIndex | string>;
  readonly terminal: Pick<Terminal, 'print' | 'complain' | 'note' | 'progress'>;
}

type Work = (index: MaintainedIndex, isJson: boolean) => Promise<Result>;

interface Result {
  readonly value: object;
  readonly text: string;
  readonly exitCode: number;
}

export const indexCommand = ({ open, terminal }: IndexContext): Command =>
  createCommand<Work>(
    {
      name: 'index',
      notes: NOTES,
      verbs: withJson({
        verify: verb(
          {
            summary: 'Compares Redis with the database, device by device.',
            notes: `Prints what differs, and then exits with 1. ${NOTES}`,
          },
          (): Work => (index, isJson) => verify(terminal, index, isJson),
        ),
        rebuild: verb(
          {
            summary: 'Rebuilds every group; sends and registrations continue.',
            flags: {
              'drop-others': {
                type: 'boolean',
                about:
                  'also delete the keys that other databases, or this one before a restore, left in this Redis',
              },
            },
            notes: NOTES,
          },
          (_, { 'drop-others': dropsOthers = false }): Work =>
            (index) =>
              rebuild(terminal, index, dropsOthers),
        ),
      }),
    },
    terminal,
    async (work, { isJson }) => {
      const index = await open();
      if (typeof index === 'string') {
        terminal.complain(index);
        return EXIT_USAGE;
      }
      try {
        const { value, text, exitCode } = await work(index, isJson);
        terminal.print(isJson ? printedJson(value) : text);
        return exitCode;
      } finally {
        await index.close();
      }
    },
  );

async function verify(
  terminal: IndexContext['terminal'],
  index: MaintainedIndex,
  isJson: boolean,
): Promise<Result> {
  const progress = new Progress(terminal.progress, 'device');
  const differences: string[] = [];
  const { groups, devices, stale, wrong } = await verifyIndex(
    index,
    (sentence) => {
      if (isJson) {
        if (differences.length < DIFFERENCES_MAX) differences.push(sentence);
        return;
      }
      progress.clear();
      terminal.print(sentence);
    },
    (walked) => progress.show(standingOf(walked)),
  );
  progress.clear();
  return {
    value: { groups, devices, stale, wrong, differences },
    text: `${walkedText({ groups, devices })}: ${format(stale)} stale, ${format(wrong)} different.`,
    exitCode: stale + wrong === 0 ? 0 : EXIT_DIFFERENT,
  };
}

async function rebuild(
  terminal: IndexContext['terminal'],
  index: MaintainedIndex,
  dropsOthers: boolean,
): Promise<Result> {
  const progress = new Progress(terminal.progress, 'device');
  const { groups, devices } = await rebuildIndex(index, (walked) =>
    progress.show(standingOf(walked)),
  );
  progress.clear();
  const rebuilt = `Rebuilt: ${walkedText({ groups, devices })}.`;
  if (!dropsOthers) return { value: { groups, devices }, text: rebuilt, exitCode: 0 };
  const dropped = await dropOtherIndexes(index);
  return {
    value: { groups, devices, dropped },
    text: `${rebuilt}\nDeleted: ${counted(dropped, 'key')} of other indexes.`,
    exitCode: 0,
  };
}

const walkedText = ({ groups, devices }: Pick<Walked, 'groups' | 'devices'>): string =>
  `${counted(groups, 'group')} with ${counted(devices, 'device')}`;

const standingOf = ({ groups, groupsTotal, devices }: Walked) => ({
  done: groups,
  total: groupsTotal,
  count: devices,
});
