import { defineConfig } from 'vitest/config';

// Clocks are shown in local time, so the tests fix what local is: a zone that is not UTC.
process.env.TZ = 'Europe/Berlin';

export default defineConfig({
  test: { include: ['tests/**/*.test.ts'], environment: 'node' },
});
