/** A Chromium page that fails the test on a console error or on a request that leaves the origin. */
import { chromium } from 'playwright-core';

const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGS });

export async function open(browser, base, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const problems = [];
  const origin = new URL(base).origin;
  /** Answers that a step expects to fail; the browser logs each as an error. */
  const expected = [];
  page.on('console', (m) => {
    if (!['error', 'warning'].includes(m.type())) return;
    const text = `${m.text()} (${m.location().url})`;
    if (!expected.some((pattern) => pattern.test(text))) problems.push(`console ${m.type()}: ${text}`);
  });
  page.on('pageerror', (e) => problems.push(`uncaught: ${e.stack ?? e.message}`));
  page.on('request', (r) => {
    const url = r.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:') && !url.startsWith(`blob:${origin}`)) problems.push(`request left the origin: ${url}`);
  });
  return { context, page, problems, expected };
}
