/** docs/reference/cli.md: the help of each command and verb, as the program prints it. */

import { helpsOf } from '../commands.ts';

const HEAD = `# The command line

\`tagcast <command>\`. In a checkout that \`npm start\` has built, \`npm link\` makes \`tagcast\` a command of
this machine, and \`npm unlink --global tagcast\` takes it away. Without it, \`node dist/src/main.js
<command>\` does the same in the folder, and so do \`npx tagcast <command>\` and \`npm start -- <command>\`,
which take seconds more. Each command and each verb explains itself with \`--help\`; this page is the
same text. \`--json\` prints the result for programs. Exit code 0: done; 1: refused or failed; 2: wrong
arguments; other codes are described with the command.

There are two kinds:

- **For publishers**: \`profile\`, \`send\`, \`status\`, \`notification\`, \`tag\`, \`group\`, \`device\`. They
  call a running engine over HTTP, from anywhere, with a token. A [profile](#tagcast-profile) says
  which engine and which token; the demo of \`npm start\` is the profile \`demo\`, and needs none to be
  added.
- **For operators**: the others. With \`OPERATOR_URL\` and \`OPERATOR_TOKEN\` they ask an engine
  elsewhere. Else they run where an engine runs, with its settings (environment): with
  \`DATABASE_URL\` on the database, or through the running engine's socket. \`doctor\`, \`index\`
  and \`store\` always do that.

\`\`\`sh
tagcast device register $(printf 'ab%.0s' $(seq 32)) --platform ios --tag breaking-news
tagcast send --tag breaking-news --title 'goal!' --message '1:0' --watch
tagcast notification list
\`\`\`

For another engine than the demo, with the token of \`tagcast credential show acme\` on standard input:

\`\`\`sh
tagcast profile add acme --url https://push.example.com --client acme
\`\`\`

\`send\` makes an idempotency key, and repeats the request with it when the answer is lost: the push is
sent once. \`status --watch\` shows a bar on a terminal and lines elsewhere, goes on over a restart of
the engine (60 s), and ends with the job.

Completion in bash: \`source <(tagcast completion bash)\` in \`~/.bashrc\`; also for
[zsh and fish](#tagcast-completion).
`;

export async function cliReference(): Promise<string> {
  const sections = [...(await helpsOf())].map(([name, helps]) =>
    [`## tagcast ${name}`, ...helps.map((help) => `\`\`\`\n${help}\n\`\`\``)].join('\n\n'),
  );
  return `${[HEAD.trimEnd(), ...sections].join('\n\n')}\n`;
}
