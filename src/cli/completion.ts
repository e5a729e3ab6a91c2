/** `tagcast completion …`: shells ask this program for words at each key, so none is outdated. */

import { tableRow } from '../std/visible-text.ts';
import type { Argument, Command, CommandDescription, Flag, VerbDescription } from './command.ts';
import { createCommand, ONLY, verb } from './command.ts';
import type { Terminal } from './terminal.ts';

export interface ListedCommand {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

/** A word that may come next, and what it means. */
interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** Stands for the names of files, which the shell knows itself. */
const FILES: Candidate = { word: ':files', about: '' };
const FILE = 'file';
const HELP: Candidate = { word: '--help', about: 'explain' };

const NOTES = `  bash   source <(tagcast completion bash)      in ~/.bashrc
  zsh    source <(tagcast completion zsh)       in ~/.zshrc, after compinit
  fish   tagcast completion fish | source       in ~/.config/fish/config.fish`;

export function completionCommand(
  commands: readonly ListedCommand[],
  terminal: Pick<Terminal, 'print' | 'complain'>,
): Command {
  return createCommand<string>(
    {
      name: 'completion',
      notes: NOTES,
      verbs: {
        bash: verb({ summary: 'Prints the script for bash.', notes: NOTES }, () => BASH),
        zsh: verb({ summary: 'Prints the script for zsh.', notes: NOTES }, () => ZSH),
        fish: verb({ summary: 'Prints the script for fish.', notes: NOTES }, () => FISH),
        candidates: verb(
          {
            summary: 'Prints what may come next, for these scripts.',
            flags: {
              word: {
                type: 'string',
                multiple: true,
                about: 'a word of the line after the program; the last one is to be completed',
              },
            },
          },
          async (_, { word: words = [] }) =>
            (await candidatesFor(commands, words))
              .map(({ word, about }) => tableRow(word, about))
              .join('\n'),
        ),
      },
    },
    terminal,
    (text) => {
      if (text !== '') terminal.print(text);
      return Promise.resolve(0);
    },
  );
}

async function candidatesFor(
  commands: readonly ListedCommand[],
  words: readonly string[],
): Promise<readonly Candidate[]> {
  const begun = words.at(-1) ?? '';
  const [name, ...rest] = words.slice(0, -1);
  const all =
    name === undefined
      ? [...commands.map((one) => ({ word: one.name, about: one.summary })), HELP]
      : await withinCommand(commands, name, rest, begun);
  return all.filter((candidate) => candidate === FILES || candidate.word.startsWith(begun));
}

async function withinCommand(
  commands: readonly ListedCommand[],
  name: string,
  words: readonly string[],
  begun: string,
): Promise<readonly Candidate[]> {
  const listed = commands.find((one) => one.name === name);
  if (listed === undefined) return [];
  const { verbs }: CommandDescription = (await listed.load()).description;
  if (ONLY in verbs) return verbs[ONLY] === undefined ? [] : withinVerb(verbs[ONLY], words, begun);
  const [verbName, ...rest] = words;
  if (verbName === undefined) {
    const names = Object.entries(verbs).map(([word, { summary }]) => ({ word, about: summary }));
    return [...names, HELP];
  }
  const chosen = Object.hasOwn(verbs, verbName) ? verbs[verbName] : undefined;
  return chosen === undefined ? [] : withinVerb(chosen, rest, begun);
}

function withinVerb(
  { flags, arguments: expected }: VerbDescription,
  words: readonly string[],
  begun: string,
): readonly Candidate[] {
  const flagNamed = (word: string | undefined): Flag | undefined =>
    word?.startsWith('--') === true ? flags[word.slice(2)] : undefined;
  const before = flagNamed(words.at(-1));
  if (before?.type === 'string') return valuesOf(before.choices, before.value);
  if (begun.startsWith('-')) {
    const isOpen = ([name, { multiple }]: [string, Flag]): boolean =>
      multiple === true || !words.includes(`--${name}`);
    const names = Object.entries(flags).filter(isOpen);
    return [...names.map(([name, { about }]) => ({ word: `--${name}`, about })), HELP];
  }
  const given = words.filter(
    (word, at) => !word.startsWith('--') && flagNamed(words[at - 1])?.type !== 'string',
  );
  const next: Argument | undefined = expected[given.length];
  return next === undefined ? [] : valuesOf(next.choices, next.name);
}

function valuesOf(
  choices: readonly string[] | undefined,
  called: string | undefined,
): readonly Candidate[] {
  if (choices !== undefined) return choices.map((word) => ({ word, about: '' }));
  return called === FILE ? [FILES] : [];
}

const BASH = `_tagcast() {
  local word about
  local -a words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  while IFS=$'\\t' read -r word about; do
    if [ "$word" = ${FILES.word} ]; then
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$2")
    else
      COMPREPLY+=("$word")
    fi
  done < <("$1" completion candidates "\${words[@]/#/--word=}" 2>/dev/null)
}
complete -F _tagcast tagcast`;

const ZSH = `#compdef tagcast
_tagcast() {
  local word about
  local -a candidates
  while IFS=$'\\t' read -r word about; do
    if [[ "$word" == ${FILES.word} ]]; then
      _files
    else
      candidates+=("\${word//:/\\\\:}:$about")
    fi
  done < <("\${words[1]}" completion candidates "\${(@)words[2,CURRENT]/#/--word=}" 2>/dev/null)
  (( \${#candidates} == 0 )) || _describe tagcast candidates
}
compdef _tagcast tagcast`;

const FISH = `function __tagcast_candidates
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] completion candidates --word=$words[2..-1] 2>/dev/null)
        if string match -q '${FILES.word}*' -- $line
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c tagcast -f -a '(__tagcast_candidates)'`;
