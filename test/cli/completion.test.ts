/**
 * Shells complete our commands: bash, zsh and fish themselves, with the real program. It runs once
 * for each question: a shell that asks what another one has asked gets the same answer.
 */

import { chmodSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { MAIN } from '../support/processes.ts';
import { findProgram, runProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** The words before Tab is pressed, and those that are offered. */
const LINES: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['tagcast cli', ['client']],
  ['tagcast secret-key ', ['rotate', '--help']],
  ['tagcast client dis', ['disable']],
  ['tagcast client add acme --na', ['--name']],
  ['tagcast app check 1 ', ['apns', 'fcm', 'webpush']],
  ['tagcast app check 1 web', ['webpush']],
  ['tagcast member invite acme --role p', ['publisher']],
  ['tagcast devices export 1 --format ndjson --ou', ['--output']],
  ['tagcast devices import 1 keys', ['keys.p8']],
  ['tagcast simulate --apns', ['--apns-port']],
  ['tagcast completion f', ['fish']],
  ['tagcast nothing ', []],
];

/** Calls the function as Tab does; `compopt` is for a line that is being edited. */
const BASH = `
source <(tagcast completion bash)
compopt() { :; }
while IFS= read -r line; do
  read -ra COMP_WORDS <<< "$line"
  [ "\${line: -1}" != ' ' ] || COMP_WORDS+=('')
  COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
  _tagcast tagcast "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
  echo "\${COMPREPLY[*]}"
done < lines
`;

/** Shows what the function hands to zsh's own. */
const ZSH = `
compdef() { :; }
_files() { offered+=(*\${words[CURRENT]}*) }
_describe() { for one in "\${candidates[@]}"; do offered+=("\${one%%:*}"); done }
source <(tagcast completion zsh)
while IFS= read -r line; do
  words=("\${(@s: :)line}")
  CURRENT=\${#words}
  offered=()
  _tagcast
  echo "\${offered[*]}"
done < lines
`;

const FISH = `
tagcast completion fish | source
while read --local line
    echo (complete --do-complete $line | string replace --regex '\\t.*' '')
end < lines
`;

/** The answers so far, by the sum of the arguments. */
const answers = temporaryDirectory(t);
const TAGCAST = `#!/bin/sh
answer=${answers}/$(printf '%s\\n' "$@" | cksum | tr ' ' -)
if [ ! -f "$answer" ]; then
  '${process.execPath}' '${MAIN}' "$@" > "$answer.part" || exit $?
  mv "$answer.part" "$answer"
fi
exec cat "$answer"
`;

const SHELLS = { bash: BASH, zsh: ZSH, fish: FISH };

for (const [shell, driver] of Object.entries(SHELLS)) {
  const skip = findProgram(shell) === null ? `${shell} is not installed` : false;
  t.test(`${shell} completes`, { skip }, (t) => completes(t, shell, driver));
}

async function completes(t: Test, shell: string, driver: string): Promise<void> {
  const directory = temporaryDirectory(t, {
    lines: `${LINES.map(([line]) => line).join('\n')}\n`,
    driver,
    'keys.p8': '',
    tagcast: TAGCAST,
  });
  chmodSync(join(directory, 'tagcast'), 0o755);
  const script = `cd '${directory}' && PATH='${directory}${delimiter}'$PATH HOME=$PWD exec ${shell} driver`;
  const { code, out, err } = await runProgram(t, 'sh', ['-c', script]);
  t.equal(code, 0, err);
  const offered = out.toString().split('\n');
  for (const [at, [line, words]] of LINES.entries()) {
    t.same((offered[at] ?? '').split(' ').filter(Boolean).sort(), words.toSorted(), `${line}⇥`);
  }
}
