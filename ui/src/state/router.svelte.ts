import { parseHash, type Route } from '../lib/url';

class Router {
  route: Route = $state.raw(parseHash(location.hash));

  constructor() {
    addEventListener('hashchange', () => this.#read());
  }

  #read(): void {
    this.route = parseHash(location.hash);
  }

  /** `replace` for what is not worth a step back: a selected message, a toggled leg. */
  go(hash: string, replace = false): void {
    if (hash === location.hash) return;
    if (replace) {
      history.replaceState(history.state, '', hash);
      this.#read();
    } else {
      location.hash = hash;
    }
  }
}

export const router = new Router();
