/**
 * Characters that a terminal would obey: no new name has one, and old names, texts of devices and
 * of providers forge no line of a command's output.
 */

import t from 'tap';
import { ProblemError } from '../../packages/client/src/client.ts';
import type { ListedNotification, Notification } from '../../packages/client/src/openapi.ts';
import { readEmail } from '../../src/access/accounts/email.ts';
import { registerForm } from '../../src/access/routes/register.ts';
import { appPatchForm, newAppForm } from '../../src/catalogue/routes/app-resources.ts';
import { addAppForm, updateAppForm } from '../../src/catalogue/routes/apps.ts';
import { groupPatchForm, newGroupForm } from '../../src/catalogue/routes/tag-group-resources.ts';
import { newTagForm, tagPatchForm } from '../../src/catalogue/routes/tag-resources.ts';
import { addForm, oneForm } from '../../src/catalogue/routes/tags.ts';
import { appCommand } from '../../src/cli/app.ts';
import { clientCommand } from '../../src/cli/client.ts';
import type { Command } from '../../src/cli/command.ts';
import { deletionsCommand } from '../../src/cli/deletions.ts';
import { doctorCommand } from '../../src/cli/doctor.ts';
import { memberCommand } from '../../src/cli/member.ts';
import { operatorCommand } from '../../src/cli/operator.ts';
import { parkedCommand } from '../../src/cli/parked.ts';
import { describeJob, describeListed } from '../../src/cli/publisher/job-text.ts';
import { whyNot } from '../../src/cli/publisher/publisher-command.ts';
import { newClientForm } from '../../src/clients/routes/operator-clients.ts';
import type { HttpResponse, Route } from '../../src/http/handler.ts';
import { BODY_BYTES_MAX } from '../../src/http/handler.ts';
import { json } from '../../src/http/json-body.ts';
import { problem } from '../../src/http/problem.ts';
import { keyForm } from '../../src/keys/routes/keys.ts';
import { parseApns } from '../../src/providers/apns/credential-form.ts';
import { parseFcm } from '../../src/providers/fcm/credential-form.ts';
import { parseWebPush } from '../../src/providers/webpush/credential-form.ts';
import { addressFault } from '../../src/webhooks/address.ts';
import { recordedContext } from '../support/terminal.ts';

const HOSTILE = ['a\nb', 'a\tb', 'a\u001b[2Jb', 'a\u009b2Jb', 'a\u202eb', 'a\u2028b', 'a\u0000b'];

/** Bodies that make or change something with this name. */
const named = (name: string): Readonly<Record<string, () => boolean>> => ({
  'a client of the operator': () => newClientForm.safeParse({ clientId: 'a', name }).success,
  'a client of who signs up': () =>
    registerForm.safeParse({ email: 'a@b.example', password: 'x'.repeat(16), clientName: name })
      .success,
  'an app': () => newAppForm.safeParse({ name, platformIds: [3] }).success,
  'another name of an app': () => appPatchForm.safeParse({ name }).success,
  'an app of app/add': () => addAppForm.safeParse({ name, platformId: 3 }).success,
  'an app of app/update': () => updateAppForm.safeParse({ id: 1, name }).success,
  'a tag': () => newTagForm.safeParse({ name }).success,
  'another name of a tag': () => tagPatchForm.safeParse({ name }).success,
  'tags of tag/add': () => addForm.safeParse({ tags: [{ name }] }).success,
  'groups of tag/add': () => addForm.safeParse({ groups: [{ name }] }).success,
  'a tag of tag/update': () => oneForm.safeParse({ tags: [{ id: 1, name }] }).success,
  'a group': () => newGroupForm.safeParse({ name }).success,
  'another name of a group': () => groupPatchForm.safeParse({ name }).success,
  'a key': () => keyForm.safeParse({ name, scopes: ['send'] }).success,
});

t.test('no name is made of them', (t) => {
  for (const [what, isTaken] of Object.entries(named('Zoë 🎾'))) t.equal(isTaken(), true, what);
  for (const name of HOSTILE) {
    for (const [what, isTaken] of Object.entries(named(name))) {
      t.equal(isTaken(), false, `${what}: ${encodeURI(name)}`);
    }
    t.equal(readEmail(`${name}@b.example`), null);
    t.equal(readEmail(`x@${name}.example`), null);
    const kept = `https://a.example/${name}`;
    if (addressFault(kept, false) === null) t.notMatch(new URL(kept).href, /[\p{Cc}\u202e]/u);
  }
  t.end();
});

t.test('nor the public parts of a credential', (t) => {
  const faultsOf = (parsed: { readonly ok: boolean; readonly faults?: readonly unknown[] }) =>
    JSON.stringify(parsed.ok ? [] : parsed.faults);
  const account = { type: 'service_account', project_id: 'p', private_key: 'x' };
  for (const name of HOSTILE) {
    const serviceAccount = { ...account, private_key_id: name, client_email: `${name}@b.example` };
    const fcm = faultsOf(parseFcm({ serviceAccount }, { oauth: 'https://oauth.example' }));
    t.match(fcm, /private_key_id","message":"must hold no control/);
    t.match(fcm, /client_email","message":"(must hold no control|is not)/);
    t.match(faultsOf(parseApns({ bundleId: name })), /bundleId/);
    const vapid = { privateKey: 'x', subject: `mailto:a@${name}.example` };
    const oauth = 'https://oauth.example';
    t.match(faultsOf(parseWebPush({ vapid }, { oauth })), /vapid.subject","message":"must hold no/);
  }
  t.end();
});

/** Takes the place of each text of a stranger. */
const FORGED = 'x\n7\tforged\u001b[2J\u202e';
const FORGED_LINE = /^7\t|[\p{Cc}\u202e](?<![\n\t])/mu;

/** The answers of routes. */
const answering = (method: 'GET' | 'POST', path: string, answer: HttpResponse): Route => ({
  api: 'operator',
  operation: null,
  method,
  path: `/operator/v1/${path}`,
  bodyBytesMax: BODY_BYTES_MAX,
  handle: () => answer,
});
const KNOWN = {
  platformId: 3,
  hasCredential: true,
  updatedAt: 0,
  check: { ok: true, note: FORGED, at: 0 },
  refused: { reason: FORGED, meaning: FORGED },
  fault: { reason: FORGED, meaning: FORGED, at: 0 },
};
const SCOPE = { notificationId: 'n', client: FORGED, appId: 1, platformId: 3 };
const ROUTES: readonly Route[] = [
  answering('GET', 'clients', json([{ clientId: 'acme', name: FORGED, isDisabled: true }])),
  answering('POST', 'clients', problem('r', 409, FORGED)),
  answering('GET', 'clients/:clientId/apps', json([{ id: 1, name: FORGED, platforms: [] }])),
  answering('GET', 'apps/:id/platforms', json([KNOWN])),
  answering('GET', 'clients/:clientId/members', json([{ id: 1, email: FORGED, role: 'owner' }])),
  answering('GET', 'operators', json([{ email: FORGED, lastSignInAt: null }])),
  answering('GET', 'deletions', json([{ ...SCOPE, held: 1, delivered: 1, heldAt: 0 }])),
  answering('GET', 'parked', json([{ ...SCOPE, devices: 1, since: 0, failure: FORGED }])),
];

t.test('what is printed of them forges no line', async (t) => {
  const context = recordedContext(ROUTES);
  const doctor = doctorCommand(
    async () => [{ about: 'engine', level: 'warning', text: FORGED }],
    context.terminal,
  );
  const commands: readonly (readonly [Command, string])[] = [
    [clientCommand(context), 'list'],
    [clientCommand(context), 'add acme'],
    [appCommand(context, context.publisher), 'list acme'],
    [appCommand(context, context.publisher), 'show 1'],
    [memberCommand(context), 'list acme'],
    [operatorCommand(context), 'list'],
    [deletionsCommand(context), 'list'],
    [parkedCommand(context), 'list'],
    [doctor, ''],
  ];
  for (const [command, line] of commands) {
    await command.run(line.split(' ').filter((word) => word !== ''));
  }
  const told = [...context.printed, ...context.complaints];
  t.equal(told.length, commands.length);
  for (const text of told) {
    t.match(text, /x\\u000a7\\u0009forged\\u001b\[2J\\u202e/);
    t.notMatch(text, FORGED_LINE);
  }
  t.end();
});

t.test("nor what is printed of a publisher's pushes and faults", (t) => {
  const counts = { successCount: 0, failedCount: 1, skippedCount: 0, expiredCount: 0 };
  const job = { id: 'j', state: 'FAILED', totalCount: 1, cancelledCount: 0, ...counts };
  const scope = { appId: 1, platformId: 3, state: 'FAILED', cancelledCount: 0, ...counts };
  const platforms = [{ ...scope, fault: FORGED, waitingFor: FORGED }];
  const whole = { ...job, failureReasons: { [FORGED]: 1 }, platforms };
  const listed = { ...job, sendAt: 0, title: FORGED };
  const problem = {
    type: 'about:blank',
    title: 'Bad Request',
    status: 400,
    detail: FORGED,
    requestId: 'r',
    errors: [{ path: FORGED, message: FORGED }],
  };
  const profile = { url: 'http://127.0.0.1', client: 'acme', token: 'tcs_x', app: null };
  for (const text of [
    describeJob(whole as unknown as Notification),
    describeListed(listed as unknown as ListedNotification),
    whyNot(new ProblemError(problem, new Headers()), 'p', profile) ?? '',
  ]) {
    t.match(text, /x\\u000a7\\u0009forged\\u001b\[2J\\u202e/);
    t.notMatch(text, FORGED_LINE);
  }
  t.end();
});
