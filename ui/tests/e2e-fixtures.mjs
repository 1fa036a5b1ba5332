/** Steps that need the fixtures: hostile and huge calls, both themes, three widths. */
import assert from 'node:assert/strict';
import { start } from '../mock/server.mjs';
import { open } from './browser.mjs';

const B2BUA = 'a84b4c76e66710@pc33.atlanta.example';
const call = (id, query = '') => `#/call/${encodeURIComponent(id)}${query}`;

export async function fixtureSteps({ step, browser, base, shot }) {
  const pages = [
    ['search', '#/search?since=24h'],
    ['messages', '#/search?since=1h&by=message&code=4xx'],
    ['call', call(B2BUA, '?msg=9')],
    ['wire', '#/wire'],
    ['wire-services', '#/wire?view=services'],
    ['wire-map', '#/wire?view=map'],
    ['wire-flows', '#/wire?view=flows'],
    ['live', '#/live'],
    ['sql', '#/sql'],
  ];
  const looks = [
    ['light-1280', { colorScheme: 'light', viewport: { width: 1280, height: 800 } }],
    ['dark-1280', { colorScheme: 'dark', viewport: { width: 1280, height: 800 } }],
    ['dark-1920', { colorScheme: 'dark', viewport: { width: 1920, height: 1080 } }],
    ['light-1920', { colorScheme: 'light', viewport: { width: 1920, height: 1080 } }],
    ['light-400', { colorScheme: 'light', viewport: { width: 400, height: 800 } }],
    ['dark-400', { colorScheme: 'dark', viewport: { width: 400, height: 800 } }],
  ];
  for (const [look, options] of looks) {
    await step(`look: ${look}`, async () => {
      const { page, context, problems } = await open(browser, base, options);
      for (const [name, hash] of pages) {
        await page.goto(base + hash);
        await page.getByTestId('health').waitFor();
        if (name === 'sql') await page.getByTestId('run').click();
        await page.waitForTimeout(450);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        await shot(`${name}-${look}`, page);
        assert.ok(overflow <= 0, `${name} is ${overflow} px wider than the window`);
      }
      assert.deepEqual(problems, []);
      await context.close();
    });
  }

  const { page, context, problems } = await open(browser, base);
  const t = (id) => page.getByTestId(id);

  await step('call: two legs, one hidden, and the address keeps it', async () => {
    await page.goto(base + call(B2BUA));
    await t('ladder').waitFor();
    assert.equal(await t('arrow').count(), 15);
    assert.equal(await t('state').innerText(), 'ended');
    await t('leg').nth(1).click();
    await page.waitForFunction(() => location.hash.includes('hide=B'));
    assert.equal(await t('arrow').count(), 8);
    await page.reload();
    await t('ladder').waitFor();
    assert.equal(await t('arrow').count(), 8);
  });

  await step('search: the list comes back where it was', async () => {
    await page.goto(`${base}#/search?since=24h`);
    const grid = page.getByRole('grid');
    await grid.getByRole('row').nth(3).waitFor();
    await grid.evaluate((g) => (g.scrollTop = 1500));
    await page.waitForTimeout(100);
    await grid.getByRole('row').nth(14).click({ position: { x: 40, y: 10 } });
    await t('ladder').waitFor();
    const opened = page.url();
    await page.keyboard.press(']');
    await page.waitForFunction((before) => location.href !== before, opened);
    await page.goBack();
    await page.goBack();
    await grid.waitFor();
    assert.equal(await grid.evaluate((g) => g.scrollTop), 1500);
  });

  await step('search: live asks again', async () => {
    await page.goto(`${base}#/search?since=15m`);
    await page.getByRole('grid').waitFor();
    let asked = 0;
    page.on('request', (r) => (asked += r.url().includes('/api/search') ? 1 : 0));
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await page.waitForTimeout(4700);
    assert.ok(asked >= 2 && asked <= 4, `asked ${asked} times in 4.7 s`);
    await page.getByRole('button', { name: 'Live', exact: true }).click();
  });

  await step('search: the server\'s sentence is shown', async () => {
    const failing = await open(browser, base);
    failing.expected.push(/400/);
    await failing.page.goto(`${base}#/search?code=4x6`);
    await failing.page.getByText("'4x6' is not a response code; write 486 or 4xx.").waitFor();
    await shot('search-error', failing.page);
    assert.deepEqual(failing.problems, []);
    await failing.context.close();
  });

  await step('call: three thousand messages stay light', async () => {
    await page.goto(base + call('giant-conference-77@10.10.0.5'));
    await t('ladder').waitFor();
    assert.ok((await t('arrow').count()) < 80, 'only what is in sight is drawn');
    const begun = Date.now();
    await page.keyboard.press('End');
    await page.waitForFunction(() => /msg=3201/.test(location.hash));
    for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowUp');
    await page.waitForFunction(() => /msg=3181/.test(location.hash));
    const took = Date.now() - begun;
    assert.ok(took < 6000, `21 keys took ${took} ms`);
    await shot('call-giant', page);
  });

  await step('call: hostile text stays text', async () => {
    await page.goto(`${base}#/search?since=24h&text=${encodeURIComponent('<script>')}`);
    await page.getByRole('grid').getByRole('row').nth(1).click({ position: { x: 40, y: 10 } });
    await t('ladder').waitFor();
    assert.match(await t('payload').innerText(), /<script>window\.pwned=1<\/script>/);
    assert.match(await t('payload').innerText(), /‹U\+202E›/);
    await page.keyboard.press('ArrowDown');
    await t('parse-error').waitFor();
    await page.getByRole('button', { name: 'Bytes' }).click();
    await shot('call-hostile', page);
    assert.equal(await page.evaluate(() => window.pwned), undefined);
  });

  await step('sql: CSV comes as a file', async () => {
    await page.goto(`${base}#/sql`);
    await t('example').first().click();
    await t('run').click();
    await page.getByRole('grid').getByRole('row').nth(1).waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), t('csv').click()]);
    assert.equal(download.suggestedFilename(), 'wirelake.csv');
  });

  await step('nothing stored, and books that do not balance', async () => {
    const bad = await start({ empty: true, balanced: false });
    const other = await open(browser, bad.url, { colorScheme: 'dark' });
    await other.page.goto(`${bad.url}#/search`);
    await other.page.getByRole('heading', { name: 'Nothing is stored yet' }).waitFor();
    await shot('first-run-dark', other.page);
    await other.page.goto(`${bad.url}#/live`);
    await other.page.getByText('Not balanced').waitFor();
    await shot('live-unbalanced-dark', other.page);
    assert.deepEqual(other.problems, []);
    await other.context.close();
    bad.server.closeAllConnections();
    bad.server.close();
  });

  await step('fixtures: no console error, no request elsewhere', async () => assert.deepEqual(problems, []));
  await context.close();
}
