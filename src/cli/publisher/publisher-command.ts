/** The frame of a publisher's commands, over HTTP. Refused: a sentence, and its exit code. */

import { ProblemError, TagcastClient } from '../../../packages/client/src/client.ts';
import { visibleField } from '../../std/visible-text.ts';
import { UsageError } from '../arguments.ts';
import type { Command, CommandDescription, Flags, Form, Verb } from '../command.ts';
import { createCommand, printedJson, withJson } from '../command.ts';
import type { Signals } from '../interruption.ts';
import { EXIT_INTERRUPTED, interruptible } from '../interruption.ts';
import { isPage, refusalExitCode } from '../refusal-exit-code.ts';
import type { Terminal } from '../terminal.ts';
import { isNeverSent, whyUnanswered } from '../why-unanswered.ts';
import type { Profile } from './profiles.ts';
import { readProfiles } from './profiles.ts';

export interface PublisherContext {
  readonly terminal: Terminal;
  readonly profilesPath: string;
  readonly readDemo: () => Promise<Profile | null>;
  readonly signals: Signals;
}

export interface Session {
  readonly tagcast: TagcastClient;
  readonly profile: Profile;
  readonly terminal: Terminal;
  readonly isJson: boolean;
  /** Aborted by the first Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface Outcome {
  readonly value: unknown;
  readonly text: string;
  readonly exitCode?: number;
}

/** The work of a verb. A number is the exit code of one that has printed its result itself. */
export type Work = (session: Session) => Promise<Outcome | number>;

/** The name of the demo's profile, which needs no `profile add`. */
export const DEMO = 'demo';

const PROFILE_FLAG = {
  profile: { type: 'string', value: 'name', about: 'the profile to use, in place of the current' },
} as const satisfies Flags;

export const publisherCommand = (
  context: PublisherContext,
  { verbs, ...description }: CommandDescription<Verb<Work>>,
): Command =>
  createCommand<Work>(
    { ...description, verbs: withJson(withProfile(verbs)) },
    context.terminal,
    (work, form) => callEngine(context, work, form),
  );

/** Does the work with the profile of the flags; resolves with the exit code. */
export async function callEngine(
  context: PublisherContext,
  work: Work,
  { isJson, flags }: Form,
): Promise<number> {
  const named = flags['profile'];
  const { name, profile } = await chooseProfile(context, typeof named === 'string' ? named : null);
  const { url: baseUrl, client, token } = profile;
  const tagcast = new TagcastClient({ baseUrl, client, token });
  const { terminal, signals } = context;
  return interruptible(signals, async (signal) => {
    try {
      const outcome = await work({ tagcast, profile, terminal, isJson, signal });
      if (typeof outcome === 'number') return outcome;
      terminal.print(isJson ? printedJson(outcome.value) : outcome.text);
      return outcome.exitCode ?? 0;
    } catch (error) {
      if (signal.aborted) return EXIT_INTERRUPTED;
      const sentence = whyNot(error, name, profile);
      if (sentence === null) throw error;
      terminal.complain(sentence);
      return refusalExitCode(error);
    }
  });
}

const withProfile = (verbs: Readonly<Record<string, Verb<Work>>>) =>
  Object.fromEntries(
    Object.entries(verbs).map(([name, plain]) => [
      name,
      { ...plain, flags: { ...plain.flags, ...PROFILE_FLAG } },
    ]),
  );

/** The named profile, else the current one, else that of the demo. */
async function chooseProfile(
  { profilesPath, readDemo }: PublisherContext,
  named: string | null,
): Promise<{ readonly name: string; readonly profile: Profile }> {
  const { current, byName } = await readProfiles(profilesPath);
  const name = named ?? current ?? DEMO;
  const stored = Object.hasOwn(byName, name) ? byName[name] : undefined;
  const profile = stored ?? (name === DEMO ? await readDemo() : null);
  if (profile !== null) return { name, profile };
  throw new UsageError(
    name === DEMO
      ? 'There is no profile: `tagcast profile add` makes one. (The demo of `npm start` is one by itself, named demo, here and while it runs.)'
      : `There is no profile ${name}: \`tagcast profile list\` lists them.`,
  );
}

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

/** A sentence for what the engine refused, or why it did not answer; null: a bug of ours. */
export function whyNot(error: unknown, name: string, { url }: Profile): string | null {
  if (error instanceof ProblemError) {
    if (isPage(error))
      return `${url} answers with a page (${error.status}), not as an engine does.`;
    const { detail, title, errors = [] } = error.problem;
    const faults = errors.map(({ path, message }) => `\n  ${visibleField(`${path}: ${message}`)}`);
    const text = `${visibleField(detail === '' ? title : detail)}${faults.join('')}`;
    if (error.status === UNAUTHORIZED)
      return `The engine does not know the token of profile ${name}: ${text}`;
    return error.status === FORBIDDEN ? `The token of profile ${name} may not: ${text}` : text;
  }
  if (!isNoAnswer(error)) return null;
  return `The engine at ${url} did not answer: ${whyUnanswered(error)}.`;
}

/** Whether `fetch` was rejected, or a stream ended too early. */
export const isNoAnswer = (error: unknown): boolean =>
  error instanceof Error &&
  (error.message === 'fetch failed' ||
    error.message === 'terminated' ||
    error.name === 'TimeoutError' ||
    BROKEN_OFF.test(error.message));

/** Whether it may be over in a moment: no answer, or an engine that is starting or ending. */
export const isPassing = (error: unknown): boolean =>
  (isNoAnswer(error) && !isNeverSent(error)) ||
  (error instanceof ProblemError && PASSING.has(error.status));

/** Also what a proxy answers for an engine that is away. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const BROKEN_OFF = / broke off\.$/;
