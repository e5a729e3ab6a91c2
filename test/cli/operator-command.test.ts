/** Mistakes in the arguments: a sentence and exit code 2, and nothing is asked of the engine. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { appCommand } from '../../src/cli/app.ts';
import { clientCommand } from '../../src/cli/client.ts';
import type { Command } from '../../src/cli/command.ts';
import { credentialCommand } from '../../src/cli/credential.ts';
import { deletionsCommand } from '../../src/cli/deletions.ts';
import { helpOf } from '../../src/cli/help.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { recordedContext } from '../support/terminal.ts';

t.test('each mistake has its sentence', async (t) => {
  const context = recordedContext();
  const commands: Readonly<Record<string, Command>> = {
    client: clientCommand(context),
    app: appCommand(context, context.publisher),
    credential: credentialCommand(context),
    deletions: deletionsCommand(context),
  };
  const file = join(temporaryDirectory(t), 'not.json');
  writeFileSync(file, 'not json');
  const cases: readonly (readonly [line: string, sentence: RegExp])[] = [
    ['client', /^client needs add, list, disable, enable, delete or limits/],
    ['client remove acme', /^client needs/],
    ['client add', /^<client> is missing$/],
    ['client add a b', /^unexpected argument b$/],
    ['client add a --nam x', /^Unknown option '--nam'/],
    ['client add a --name', /--name/],
    ['client list x', /^unexpected argument x$/],
    ['client limits', /^<client> is missing$/],
    ['client limits acme --tags many', /^--tags must be a number, not many$/],
    ['client limits acme --tag 1', /^Unknown option '--tag'/],
    ['app add acme News', /^--platform is missing$/],
    ['app add acme News --platform nokia', /^--platform must be ios, web or android, not nokia$/],
    ['app add acme --platform 3', /^<name> is missing$/],
    ['app credentials x apns --remove', /^<app> must be a number, not x$/],
    ['app credentials 1 sms', /^<provider> must be apns, fcm or webpush, not sms$/],
    ['app credentials 1 ios', /^--team-id is missing$/],
    ['app credentials 1 apns', /^--team-id is missing$/],
    ['app credentials 1 fcm --service-account-file /nowhere/x', /^cannot read \/nowhere\/x$/],
    [`app credentials 1 fcm --service-account-file ${file}`, /is not JSON$/],
    ['app list', /^<client> is missing$/],
    ['app list --profile acme', /^There is no profile acme/],
    ['app list acme --profile acme', /^unexpected argument acme$/],
    ['app update 1 --name News', /^--profile is missing$/],
    ['app delete 1 --confirm News', /^--profile is missing$/],
    ['app vapid x', /^unexpected argument x$/],
    [`app vapid --output ${file}`, /not\.json exists already$/],
    ['app vapid --output /nowhere/vapid.json', /^cannot write \/nowhere\/vapid\.json$/],
    ['credential', /^credential needs show or rotate/],
    ['credential show', /^<client> is missing$/],
    ['credential show acme --app x', /^--app must be a number, not x$/],
    ['credential show acme --grace-hours 1', /grace-hours/],
    ['credential rotate acme', /^--grace-hours is missing$/],
    ['credential rotate acme --grace-hours -1', /grace-hours/],
    ['credential rotate acme --grace-hours 1.5', /must be a number/],
    ['deletions', /^deletions needs list, release or discard/],
    ['deletions list x', /^unexpected argument x$/],
    ['deletions release', /^<job> is missing$/],
  ];
  for (const [line, sentence] of cases) {
    const [name = '', ...args] = line.split(' ');
    t.equal(await commands[name]?.run(args), 2, line);
    t.match(context.complaints.at(-1), sentence, line);
  }
  t.equal(context.complaints.length, cases.length);
  for (const command of Object.values(commands)) t.equal(await command.run(['--help']), 0);
  t.same(
    context.printed,
    Object.values(commands).map(({ description }) => helpOf(description)),
  );
});
