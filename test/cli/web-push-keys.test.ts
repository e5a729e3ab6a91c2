/** `tagcast app vapid`, and its keys on the way to an app. */

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { appCommand } from '../../src/cli/app.ts';
import type { HttpRequest, HttpResponse, Route } from '../../src/http/handler.ts';
import { BODY_BYTES_MAX } from '../../src/http/handler.ts';
import { json } from '../../src/http/json-body.ts';
import { fcmCredential } from '../support/provider-credentials.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { recordedContext } from '../support/terminal.ts';

t.test('from a fresh key pair to the credential', async (t) => {
  const inputs: unknown[] = [];
  const route = (method: 'PUT' | 'DELETE', answer: HttpResponse): Route => ({
    ...{ api: 'operator', operation: null, method, bodyBytesMax: BODY_BYTES_MAX },
    path: '/operator/v1/apps/:id/platforms/:platform',
    handle({ params, body }: HttpRequest) {
      inputs.push({ method, params, body: body.length === 0 ? null : JSON.parse(String(body)) });
      return answer;
    },
  });
  const publicNote = 'Web pages subscribe with applicationServerKey BPub';
  const context = recordedContext([
    route('PUT', json({ ok: null, note: 'It can sign.', publicNote })),
    route('DELETE', { status: 204, body: '' }),
  ]);
  const command = appCommand(context, context.publisher);
  const run = (line: string): Promise<number> => command.run(line.split(' '));

  t.equal(await run('vapid'), 0);
  const [printed = ''] = context.printed;
  const keys = JSON.parse(printed);
  t.match(keys, { publicKey: /^[\w-]{87}$/, privateKey: /^[\w-]{43}$/ });

  const directory = temporaryDirectory(t);
  const path = join(directory, 'new.json');
  t.equal(await run(`vapid --output ${path}`), 0);
  t.match(JSON.parse(readFileSync(path, 'utf8')), { privateKey: /^[\w-]{43}$/ });
  t.equal(statSync(path).mode & 0o777, 0o600, 'it is a secret');
  t.notMatch(context.printed.at(-1), /privateKey/);
  const file = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const keyFile = file('vapid.json', printed);
  const subject = 'mailto:push@example.com';
  const set = `credentials 1000 webpush --vapid-file ${keyFile}`;
  t.equal(await run(`${set} --subject ${subject}`), 0);
  t.equal(
    context.printed.at(-1),
    'App 1000 has webpush credentials. It can sign.\nWeb pages subscribe with applicationServerKey BPub',
  );
  t.same(inputs.at(-1), {
    method: 'PUT',
    params: { id: '1000', platform: '7' },
    body: { vapid: { ...keys, subject } },
  });

  const { serviceAccount } = fcmCredential();
  const account = file('account.json', JSON.stringify(serviceAccount));
  t.equal(await run(`credentials 1000 webpush --service-account-file ${account}`), 0);
  t.match(inputs.at(-1), { body: { vapid: undefined, serviceAccount } });

  const pem = '-----BEGIN PRIVATE KEY-----\n';
  const pemFile = file('key.pem', pem);
  t.equal(await run(`credentials 1000 webpush --vapid-file ${pemFile} --subject ${subject}`), 0);
  t.match(inputs.at(-1), { body: { vapid: { privateKey: pem, subject } } });

  t.equal(await run('credentials 1000 webpush --remove'), 0);
  t.match(inputs.at(-1), { method: 'DELETE', params: { platform: '7' } });

  const asked = inputs.length;
  t.equal(await run('credentials 1000 webpush'), 2);
  t.match(context.complaints.at(-1), '--vapid-file or --service-account-file is missing');
  t.equal(await run(set), 2);
  t.match(context.complaints.at(-1), '--subject is missing');
  for (const [name, content] of Object.entries({ text: 'no keys', list: '[]' })) {
    const path = file(name, content);
    t.equal(await run(`credentials 1000 webpush --vapid-file ${path} --subject ${subject}`), 2);
    t.match(context.complaints.at(-1), /is neither JSON with publicKey and privateKey nor a PEM/);
  }
  t.equal(inputs.length, asked);
});
