export type Choice = 'system' | 'light' | 'dark';

const KEY = 'wirelake.theme';
const system = matchMedia('(prefers-color-scheme: dark)');

class Theme {
  choice: Choice = $state(stored());
  #systemDark = $state(system.matches);
  readonly dark: boolean = $derived(this.choice === 'system' ? this.#systemDark : this.choice === 'dark');

  constructor() {
    system.addEventListener('change', (event) => (this.#systemDark = event.matches));
  }

  /** Choosing what the system says anyway goes back to following it. */
  toggle(): void {
    const dark = !this.dark;
    this.choice = dark === this.#systemDark ? 'system' : dark ? 'dark' : 'light';
    if (this.choice === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.choice;
    try {
      if (this.choice === 'system') localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, this.choice);
    } catch {
      // Storage forbidden: the choice lasts as long as the page.
    }
  }
}

function stored(): Choice {
  const set = document.documentElement.dataset.theme;
  return set === 'dark' || set === 'light' ? set : 'system';
}

export const theme = new Theme();
