/**
 * People of the demo client who sign in to the console of an engine, by what it offers: what a test
 * of the document sends its examples as.
 */

import type { Lifetime } from './lifetime.ts';
import type { EngineProcess } from './processes.ts';
import { runCommand } from './processes.ts';

type Ids = Readonly<Record<string, string | number>>;

interface ConsoleOperation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
}

/** The password of the examples. */
const PASSWORD = 'correct horse battery';
export const OPERATOR_TOKEN = 'the-token-of-an-operator-of-this-test';
const OUR_PAGE = { 'Sec-Fetch-Site': 'same-origin' };
/** Operations that end the sessions of their account have an account of their own. */
const ENDS_SESSIONS = ['signOut', 'signOutEverywhere', 'changePassword'];

type Headers = Readonly<Record<string, string>>;

/** Owners of the demo client, who have joined it by invitation, and sign in to the console. */
export class People {
  readonly #baseUrl: string;
  readonly #owner: Headers;
  readonly #operator: Headers;
  /**
   * Sessions keyed by the operation that has not ended them yet: a sign-in costs a quarter of a
   * second of CPU.
   */
  readonly #sessions = new Map<string, Headers>();

  private constructor(baseUrl: string, owner: Headers, operator: Headers) {
    this.#baseUrl = baseUrl;
    this.#owner = owner;
    this.#operator = operator;
  }

  /** The first one comes by the link that the start has printed. */
  static async join(t: Lifetime, { baseUrl, dataDir, demo }: EngineProcess): Promise<People> {
    const email = 'operator@example.com';
    const added = await runCommand(t, ['operator', 'add', email], { DATA_DIR: dataDir });
    await fetch(`${baseUrl}/console/api/password/reset`, {
      method: 'POST',
      headers: OUR_PAGE,
      body: JSON.stringify({ token: tokenIn(added.output.trim()), newPassword: PASSWORD }),
    });
    const owner = await signIn(baseUrl, { link: tokenIn(demo().consoleUrl ?? '') });
    const operator = await signIn(baseUrl, { email, password: PASSWORD });
    const people = new People(baseUrl, owner, operator);
    for (const name of ENDS_SESSIONS) await people.#invite(`${name}@example.com`);
    return people;
  }

  /** The headers of a page that has signed in, where the operation needs that. */
  async headersFor({ operationId, security = [] }: ConsoleOperation): Promise<Headers> {
    if (security.length === 0) return OUR_PAGE;
    if (operationId === 'getConsoleSystem') return this.#operator;
    if (!ENDS_SESSIONS.includes(operationId)) return this.#owner;
    const known = this.#sessions.get(operationId);
    if (known !== undefined) return known;
    const account = { email: `${operationId}@example.com`, password: PASSWORD };
    const signedIn = await signIn(this.#baseUrl, account);
    this.#sessions.set(operationId, signedIn);
    return signedIn;
  }

  /** The operation was carried out: its next request signs in again, if it ends sessions. */
  afterOperation({ operationId }: ConsoleOperation): void {
    this.#sessions.delete(operationId);
  }

  /** Signs in for each operation, and returns the ids that requests need. */
  async prepare(): Promise<Readonly<Record<string, Ids>>> {
    for (const name of ['member', 'leaver', 'forgetful']) await this.#invite(`${name}@example.com`);
    const listed = await this.#ask('GET', 'members');
    const members = listed as readonly { readonly accountId: number; readonly email: string }[];
    const idOf = (name: string): Ids => ({
      id: members.find(({ email }) => email === `${name}@example.com`)?.accountId ?? 0,
    });
    const { id } = idOf('forgetful');
    const { link } = (await this.#ask('POST', `members/${id}/reset`)) as { readonly link: string };
    return {
      changeMember: idOf('member'),
      removeMember: idOf('leaver'),
      resetMember: idOf('member'),
      changePassword: { newPassword: PASSWORD },
      resetPassword: { token: tokenIn(link) },
    };
  }

  async #invite(email: string): Promise<void> {
    const invitation = (await this.#ask('POST', 'members', { role: 'owner' })) as {
      readonly link: string;
    };
    const token = tokenIn(invitation.link);
    await this.#ask('POST', 'register', { email, password: PASSWORD, invitation: token });
  }

  async #ask(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await fetch(`${this.#baseUrl}/console/api/${path}`, {
      method,
      headers: this.#owner,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return await answer.json();
  }
}

/** The end of a link that works once. */
export const tokenIn = (link: string): string => link.split('/').at(-1) ?? '';

/** Answers the headers of a page that has signed in, for the demo client. */
export async function signIn(baseUrl: string, body: object): Promise<Headers> {
  const answer = await fetch(`${baseUrl}/console/api/session`, {
    method: 'POST',
    headers: OUR_PAGE,
    body: JSON.stringify(body),
  });
  const [Cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  const { csrfToken } = (await answer.json()) as { readonly csrfToken: string };
  return { ...OUR_PAGE, Cookie, 'X-CSRF-Token': csrfToken, 'Tagcast-Client': 'demo' };
}
