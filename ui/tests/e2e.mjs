/**
 * Clicks through the page in a browser.
 *
 *   node tests/e2e.mjs [folder for screenshots]
 *
 * WIRELAKE_URL: a running server instead of the fixtures; then only what holds with any data is asserted.
 * EXPECT_CALL_ID: a call that this server has. SCREENSHOTS: the folder, too. CHROMIUM: the browser.
 */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { start } from '../mock/server.mjs';
import { launch, open } from './browser.mjs';
import { fixtureSteps } from './e2e-fixtures.mjs';
import { wireSteps } from './e2e-wire.mjs';

const real = process.env.WIRELAKE_URL;
const folder = process.argv[2] ?? process.env.SCREENSHOTS ?? new URL('../screenshots/', import.meta.url).pathname;
await mkdir(folder, { recursive: true });

const mock = real ? null : await start();
const base = (real ?? mock.url).replace(/\/?$/, '/');
const callId = process.env.EXPECT_CALL_ID ?? (real ? null : 'a84b4c76e66710@pc33.atlanta.example');
const browser = await launch();
let failures = 0;

async function step(name, run) {
  try {
    await run();
    console.log(`ok    ${name}`);
  } catch (error) {
    failures++;
    console.error(`FAIL  ${name}\n${error.stack}`);
  }
}

const session = await open(browser, base);
const { page } = session;
const t = (id) => page.getByTestId(id);
const shot = (name, on = page) => on.screenshot({ path: join(folder, `${name}.png`) });
const go = async (hash) => {
  await page.goto(`${base}${hash}`);
};

await step('search: the page opens and says how it is', async () => {
  await go('#/search?since=all');
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await t('health').waitFor();
  await page.waitForFunction(() => /row|\d/.test(document.querySelector('[data-testid=scan]')?.textContent ?? ''));
  await shot('search');
});

await step('search: "/" goes to the first field, Enter asks, the address holds it', async () => {
  await page.keyboard.press('/');
  await page.waitForFunction(() => document.activeElement?.id === 'search-first');
  await page.locator('input[name=call_id]').fill(callId ?? 'no-such-call');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.includes('call_id='));
});

await step('search: no result explains itself', async () => {
  await go('#/search?since=all&call_id=surely-not-there');
  await page.getByRole('heading', { name: /No call matches|Nothing is stored yet/ }).waitFor();
  await t('teach').waitFor();
  await shot('search-nothing');
});

if (callId) {
  await step('search: a row opens its call', async () => {
    await go(`#/search?since=all&call_id=${encodeURIComponent(callId)}`);
    await page.getByRole('grid').getByRole('row').nth(1).click({ position: { x: 40, y: 10 } });
    await page.waitForFunction(() => location.hash.startsWith('#/call/'));
    await t('ladder').waitFor();
    assert.ok((await t('arrow').count()) > 0, 'the ladder has arrows');
  });

  await step('call: an arrow shows its message, the keys move on', async () => {
    await t('arrow').first().click();
    const first = await t('payload').innerText();
    assert.match(first, /SIP\/2\.0/);
    if ((await t('arrow').count()) > 1) {
      await page.keyboard.press('ArrowDown');
      await page.waitForFunction((before) => document.querySelector('[data-testid=payload]').innerText !== before || /msg=2/.test(location.hash), first);
      assert.match(page.url(), /msg=2/);
      await page.keyboard.press('ArrowUp');
    }
    await shot('call');
  });

  await step('call: PCAP and text answer', async () => {
    const pcap = await page.request.get(new URL(await t('pcap').getAttribute('href'), base).href);
    assert.equal(pcap.status(), 200);
    assert.ok(['d4c3b2a1', 'a1b2c3d4', '4d3cb2a1', 'a1b23c4d'].includes((await pcap.body()).subarray(0, 4).toString('hex')), 'the file is a pcap');
    const [download] = await Promise.all([page.waitForEvent('download'), t('pcap').click()]);
    assert.ok(download.suggestedFilename().length > 0);
    const text = await page.request.get(new URL(await t('text').getAttribute('href'), base).href);
    assert.equal(text.status(), 200);
    assert.match(text.headers()['content-type'], /text\/plain/);
  });
}

await step('call: an unknown one says so', async () => {
  session.expected.push(/404.*api\/calls/);
  await go('#/call/no-such-call');
  await page.getByText('There is no such call.').waitFor();
  await page.getByRole('link', { name: 'Back to the search' }).waitFor();
});

await step('live: rate, chart and ledger', async () => {
  await go('#/live');
  await t('ledger').waitFor();
  assert.match(await t('balance').innerText(), /^(Balanced|Not balanced)$/);
  await t('chart').locator('canvas').waitFor();
  await t('bottleneck').locator('tbody tr').nth(3).waitFor();
  await page.waitForTimeout(400);
  await shot('live');
});

await step('wire: every view answers', async () => {
  for (const view of ['roundtrips', 'services', 'map', 'flows']) {
    await go(`#/wire?view=${view}`);
    await page.locator('[role=grid], [data-testid=map], [data-testid=teach-capture]').first().waitFor();
    assert.equal(await page.getByText('The lake did not answer.').count(), 0);
    await shot(`wire-${view}`);
  }
});

await step('sql: run, results, an error in the server\'s words', async () => {
  await go('#/sql');
  await t('editor').fill('SELECT method, count(*) AS messages FROM sip GROUP BY method');
  await t('editor').press('Control+Enter');
  await page.waitForFunction(() => /row/.test(document.querySelector('[data-testid=scan]').textContent));
  await shot('sql');
  session.expected.push(/40\d.*api\/sql/, /422.*api\/sql/);
  await t('editor').fill('SELEC nothing');
  await t('run').click();
  await page.getByText('The query failed.').waitFor();
  await shot('sql-error');
});

await step('theme: the button changes it and the choice stays', async () => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await ground();
  await t('theme').click();
  assert.notEqual(await ground(), before);
  const after = await ground();
  await page.reload();
  assert.equal(await ground(), after);
});

await step('help: "?" lists the keys', async () => {
  await go('#/live');
  await page.keyboard.press('?');
  await page.getByRole('heading', { name: 'Keyboard' }).waitFor();
  await shot('keyboard');
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Keyboard' }).waitFor({ state: 'detached' });
});

if (mock) await fixtureSteps({ step, browser, base, shot });
if (mock) await wireSteps({ step, browser, base, shot });

await step('no console error, no request elsewhere', async () => assert.deepEqual(session.problems, []));

await browser.close();
mock?.server.close();
console.log(failures ? `${failures} failed` : `all passed; screenshots in ${folder}`);
process.exit(failures ? 1 : 0);
