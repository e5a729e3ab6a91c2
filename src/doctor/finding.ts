/** One finding of a check of a deployment. */

type Level = 'ok' | 'warning' | 'problem';

export interface Finding {
  /** The subject of the check, in a word or two. */
  readonly about: string;
  /** `problem`: it does not work, or data may be lost. `warning`: it will, or it costs. */
  readonly level: Level;
  /** The state that was found; of a fault: what is wrong, and the remedy. */
  readonly text: string;
}

/** Makes the findings of one subject. */
export const findingsAbout = (about: string) => ({
  ok: (text: string): Finding => ({ about, level: 'ok', text }),
  warning: (text: string): Finding => ({ about, level: 'warning', text }),
  problem: (text: string): Finding => ({ about, level: 'problem', text }),
});
