/** Every command and every verb explains itself, and says the same as the arguments are read by. */

import t from 'tap';
import { ONLY } from '../../src/cli/command.ts';
import { helpOf } from '../../src/cli/help.ts';
import { loadCommands } from '../support/commands.ts';

t.test('each verb has its own help, with each of its arguments and flags', async (t) => {
  for (const { name, summary, command } of await loadCommands()) {
    t.match(summary, /\.$/, `${name}: its summary is a sentence`);
    const { description } = command;
    t.equal(description.name, name);
    for (const [verbName, verb] of Object.entries(description.verbs)) {
      const help = helpOf(description, verbName);
      const title = [`tagcast ${name}`, ...(verbName === ONLY ? [] : [verbName])].join(' ');
      t.ok(help.startsWith(title), title);
      t.match(verb.summary, /\.$/, `${title}: its summary is a sentence`);
      t.ok(help.includes(verb.summary), `${title} tells its summary`);
      for (const argument of verb.arguments) t.ok(help.includes(`<${argument.name}`), title);
      for (const [flag, { about }] of Object.entries(verb.flags)) {
        t.ok(help.includes(`--${flag}`) && help.includes(about), `${title} --${flag}`);
      }
      if (verbName !== ONLY) t.match(helpOf(description), `  ${verbName}`);
    }
  }
});
