/**
 * Who is signed in. A session that ends while the page is open is asked for over the page
 * (`isAsking`), and what waited for it goes on: nothing typed is lost.
 */

import { untrack } from 'svelte';
import { ProblemError } from '../../../packages/client/src/client.ts';
import type { Asked, Membership, SessionAnswer } from '../api/console-api.ts';
import { ask } from '../api/console-api.ts';
import { forgetDrafts } from './draft.svelte.ts';

class Session {
  /** Undefined: not known yet; null: signed out. */
  current = $state.raw<SessionAnswer | null>();
  /** The session ended while the page was open. */
  isAsking = $state(false);
  #renewed: Deferred | null = null;

  get email(): string {
    return this.current?.account.email ?? '';
  }

  get clients(): readonly Membership[] {
    return this.current?.clients ?? [];
  }

  /** Asks the engine who is signed in. A sign-in before the answer wins. */
  async look(): Promise<void> {
    const found = await lookUp();
    if (this.current === undefined) this.current = found;
  }

  async signIn(email: string, password: string): Promise<void> {
    this.#open(await ask<SessionAnswer>('POST', 'session', { body: { email, password } }));
  }

  /** Signs in by a link that works once, as the demo prints it. */
  async signInByLink(link: string): Promise<void> {
    this.#open(await ask<SessionAnswer>('POST', 'session', { body: { link } }));
  }

  async signOut(): Promise<void> {
    try {
      await ask('DELETE', 'session', { csrfToken: this.csrfToken });
    } catch (error) {
      // It had ended before.
      if (!isOfNobody(error)) throw error;
    }
    this.#leave();
  }

  async signOutEverywhere(): Promise<void> {
    await this.ask('POST', 'session/end-all');
    this.#leave();
  }

  async changePassword(currentPassword: string, newPassword: string): Promise<void> {
    const body = { currentPassword, newPassword };
    this.#open(await this.ask<SessionAnswer>('POST', 'password', { body }));
  }

  /** Sets a password by a link that works once. It ends all sessions of the account. */
  async resetPassword(token: string, newPassword: string): Promise<void> {
    await ask('POST', 'password/reset', { body: { token, newPassword } });
    this.current = null;
  }

  /** The page does not depend on it: a page is not loaded again because of another session. */
  get csrfToken(): string {
    return untrack(() => this.current?.csrfToken ?? '');
  }

  /** The console's own routes: asked again when the session that has ended was renewed. */
  async ask<T>(
    method: string,
    path: string,
    more: Pick<Asked, 'clientId' | 'body'> = {},
  ): Promise<T> {
    const used = this.csrfToken;
    try {
      return await ask<T>(method, path, { ...more, csrfToken: used });
    } catch (error) {
      if (!isOfTheSession(error) || !(await this.renew(used))) throw error;
      return await ask<T>(method, path, { ...more, csrfToken: this.csrfToken });
    }
  }

  /**
   * After an answer 401 or 403: resolves with whether the request is worth repeating, because the
   * session is another one now. One that has ended is asked for over the page first. If another
   * account has signed in, as in another tab, it must not do what this one has begun: the page is
   * loaded again.
   */
  async renew(usedToken: string): Promise<boolean> {
    if (this.#renewed === null) {
      const found = await lookUp();
      // The answer may be old: meanwhile a person has signed out, or typed the password.
      if (this.current === null) return false;
      if (found !== null && this.#isOfAnother(found)) {
        location.reload();
        return false;
      }
      if (this.csrfToken !== usedToken) return true;
      if (found !== null) {
        if (found.csrfToken === usedToken) return false;
        this.current = found;
        return true;
      }
      this.#renewed ??= deferred();
      this.isAsking = true;
    }
    return await this.#renewed.promise;
  }

  /** One that expires keeps what was typed; one that is left does not. */
  #leave(): void {
    forgetDrafts();
    this.current = null;
    this.#answer(false);
  }

  /** Closes the question for the password: what waits for it is worth repeating, or it is not. */
  #answer(isRenewed: boolean): void {
    this.isAsking = false;
    this.#renewed?.resolve(isRenewed);
    this.#renewed = null;
  }

  #isOfAnother({ account }: SessionAnswer): boolean {
    return this.current != null && this.current.account.id !== account.id;
  }

  #open(answer: SessionAnswer): void {
    // Requests of the account before wait for this.
    if (this.#renewed !== null && this.#isOfAnother(answer)) {
      location.reload();
      return;
    }
    this.current = answer;
    this.#answer(true);
  }
}

interface Deferred {
  readonly promise: Promise<boolean>;
  readonly resolve: (value: boolean) => void;
}

/** Browsers have `Promise.withResolvers` since 2024 only. */
function deferred(): Deferred {
  let resolve: Deferred['resolve'] = () => {};
  const promise = new Promise<boolean>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

async function lookUp(): Promise<SessionAnswer | null> {
  try {
    return await ask<SessionAnswer>('GET', 'session');
  } catch (error) {
    if (isOfNobody(error)) return null;
    throw error;
  }
}

/** Whether the error means that the session has ended. */
const isOfNobody = (error: unknown): boolean =>
  error instanceof ProblemError && error.status === 401;

/** The session has ended, or another one has taken its place. */
const isOfTheSession = (error: unknown): boolean =>
  isOfNobody(error) || (error instanceof ProblemError && error.status === 403);

export const session = new Session();
