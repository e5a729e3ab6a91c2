/** `tagcast doctor`: checks a deployment, and says what to do. */

import type { Finding } from '../doctor/finding.ts';
import { counted } from '../std/counted.ts';
import { visibleField } from '../std/visible-text.ts';
import type { Command } from './command.ts';
import { createCommand, EXIT_FAILED, ONLY, printedJson, verb, withJson } from './command.ts';
import type { Terminal } from './terminal.ts';

/** Looks; with faults of the settings themselves, the sentences of these. */
export type Examine = (asksProviders: boolean) => Promise<readonly Finding[]>;

const NOTES = `Run it with the settings of the engine (environment), on the engine's machine: it looks at Node.js, open files, disk, certificates,
PostgreSQL with its settings and clock, SECRET_KEY, the providers' credentials, Redis, and whether the engine answers. It changes nothing.
Exit code 0: no problem, maybe warnings; 1: a problem.`;

export const doctorCommand = (
  examine: Examine,
  terminal: Pick<Terminal, 'print' | 'complain'>,
): Command =>
  createCommand<boolean>(
    {
      name: 'doctor',
      notes: NOTES,
      verbs: withJson({
        [ONLY]: verb(
          {
            summary: 'Checks a deployment, and says what to do.',
            flags: {
              probe: {
                type: 'boolean',
                about: 'ask the providers whether they accept the credentials',
              },
            },
          },
          (_, { probe = false }) => probe,
        ),
      }),
    },
    terminal,
    async (asksProviders, { isJson }) => {
      const findings = await examine(asksProviders);
      terminal.print(isJson ? printedJson(findings) : describe(findings));
      return findings.some(({ level }) => level === 'problem') ? EXIT_FAILED : 0;
    },
  );

const LEVEL_COLUMNS = 8;

function describe(findings: readonly Finding[]): string {
  const count = (level: Finding['level']) =>
    counted(findings.filter((one) => one.level === level).length, level);
  const width = Math.max(...findings.map(({ about }) => about.length));
  const lines = findings.map(
    ({ level, about, text }) =>
      `${level.padEnd(LEVEL_COLUMNS)} ${about.padEnd(width)}  ${visibleField(text)}`,
  );
  return [...lines, '', `${count('problem')}, ${count('warning')}.`].join('\n');
}
