/** Light, dark, or as the system has it; remembered in this browser. */

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'tagcast-theme';
const isTheme = (value: string | null): value is Theme =>
  value === 'light' || value === 'dark' || value === 'system';

class ThemeChoice {
  #chosen = $state<Theme>(read());

  constructor() {
    this.#show();
  }

  get chosen(): Theme {
    return this.#chosen;
  }

  set chosen(theme: Theme) {
    this.#chosen = theme;
    localStorage.setItem(KEY, theme);
    this.#show();
  }

  #show(): void {
    const { documentElement: root } = document;
    if (this.#chosen === 'system') root.removeAttribute('data-theme');
    else root.setAttribute('data-theme', this.#chosen);
  }
}

function read(): Theme {
  const kept = localStorage.getItem(KEY);
  return isTheme(kept) ? kept : 'system';
}

export const theme = new ThemeChoice();
