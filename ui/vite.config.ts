import { readFileSync } from 'node:fs';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

/** MIT asks that its notice travels with the copy, and the bundle drops comments. */
function licences(packages: string[]): Plugin {
  return {
    name: 'licences',
    apply: 'build',
    generateBundle() {
      const text = packages.map((name) => {
        const folder = new URL(`./node_modules/${name}/`, import.meta.url);
        const file = ['LICENSE', 'LICENSE.md', 'license'].map((f) => new URL(f, folder)).find(readable);
        if (!file) throw new Error(`no licence text for ${name}`);
        const { version } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));
        return `${name} ${version}\n\n${readFileSync(file, 'utf8').replace(/\r\n/g, '\n').trim()}\n`;
      });
      const source = text.join('\n----------------------------------------\n\n');
      this.emitFile({ type: 'asset', fileName: 'licences.txt', source });
    },
  };
}

function readable(file: URL): boolean {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}

export default defineConfig({
  // Relative, so the page also works behind a reverse proxy that adds a path.
  base: './',
  plugins: [svelte(), licences(['svelte', 'clsx', 'uplot'])],
  build: {
    target: ['chrome111', 'firefox115', 'safari16.4'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: {
    proxy: {
      '/api': process.env.WIRELAKE_URL ?? 'http://127.0.0.1:8080',
      '/metrics': process.env.WIRELAKE_URL ?? 'http://127.0.0.1:8080',
    },
  },
});
