/** One finding of a check of a deployment. */

type Level = 'ok' | 'warning' | 'problem';

export interface Finding {
  readonly about: string;
  /** `problem`: it does not work, or data may be lost. `warning`: it will, or it costs. */
  readonly level: Level;
  readonly text: string;
}

export const findingsAbout = (about: string) => ({
  ok: (text: string): Finding => ({ about, level: 'ok', text }),
  warning: (text: string): Finding => ({ about, level: 'warning', text }),
  problem: (text: string): Finding => ({ about, level: 'problem', text }),
});
