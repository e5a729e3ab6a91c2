/** What a check of a deployment has found. */

type Level = 'ok' | 'warning' | 'problem';

export interface Finding {
  /** What was looked at, in a word or two. */
  readonly about: string;
  /** `problem`: it does not work, or data may be lost. `warning`: it will, or it costs. */
  readonly level: Level;
  /** What there is; with a fault: what is wrong, and what to do. */
  readonly text: string;
}

/** Makes the findings of one subject. */
export const findingsAbout = (about: string) => ({
  ok: (text: string): Finding => ({ about, level: 'ok', text }),
  warning: (text: string): Finding => ({ about, level: 'warning', text }),
  problem: (text: string): Finding => ({ about, level: 'problem', text }),
});
