/**
 * Who is signed in. A session that ends while the page is open is asked for over the page
 * (`isAsking`), and what waited for it goes on: nothing typed is lost.
 */

import { ProblemError } from '../../../packages/client/src/client.ts';
import type { Membership, SessionAnswer } from '../api/console-api.ts';
import { ask } from '../api/console-api.ts';
import { forgetDrafts } from './draft.svelte.ts';

class Session {
  /** Undefined: not known yet; null: nobody is signed in. */
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

  /** Asks the engine who is signed in. Whoever signs in before it answers stays signed in. */
  async look(): Promise<void> {
    const found = await lookUp();
    if (this.current === undefined) this.current = found;
  }

  async signIn(email: string, password: string): Promise<void> {
    this.#open(await ask<SessionAnswer>('POST', 'session', { body: { email, password } }));
  }

  /** By a link that works once, as the demo prints it. */
  async signInByLink(link: string): Promise<void> {
    this.#open(await ask<SessionAnswer>('POST', 'session', { body: { link } }));
  }

  async signOut(): Promise<void> {
    await ask('DELETE', 'session', { csrfToken: this.csrfToken });
    this.#leave();
  }

  async signOutEverywhere(): Promise<void> {
    await ask('POST', 'session/end-all', { csrfToken: this.csrfToken });
    this.#leave();
  }

  async changePassword(currentPassword: string, newPassword: string): Promise<void> {
    const body = { currentPassword, newPassword };
    this.#open(await ask<SessionAnswer>('POST', 'password', { csrfToken: this.csrfToken, body }));
  }

  get csrfToken(): string {
    return this.current?.csrfToken ?? '';
  }

  /**
   * After an answer 401 or 403: resolves with whether the request is worth repeating, because the
   * session is another one now. One that has ended is asked for over the page first. If another
   * account has signed in, as in another tab, it must not do what this one has begun: the page
   * begins anew.
   */
  async renew(usedToken: string): Promise<boolean> {
    if (this.#renewed === null) {
      const found = await lookUp();
      if (found !== null) {
        if (this.#isOfAnother(found)) {
          location.reload();
          return false;
        }
        const isRenewed = found.csrfToken !== usedToken;
        if (isRenewed) this.current = found;
        return isRenewed;
      }
      this.#renewed ??= deferred();
      this.isAsking = true;
    }
    await this.#renewed.promise;
    return true;
  }

  /** One that expires keeps what was typed; one that is left does not. */
  #leave(): void {
    forgetDrafts();
    this.current = null;
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
    this.isAsking = false;
    this.#renewed?.resolve();
    this.#renewed = null;
  }
}

interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

/** Browsers have `Promise.withResolvers` since 2024 only. */
function deferred(): Deferred {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

async function lookUp(): Promise<SessionAnswer | null> {
  try {
    return await ask<SessionAnswer>('GET', 'session');
  } catch (error) {
    if (error instanceof ProblemError && error.status === 401) return null;
    throw error;
  }
}

/** The session of this page. */
export const session = new Session();
