/** Steps on the wire page that need the fixtures. */
import assert from 'node:assert/strict';
import { start } from '../mock/server.mjs';
import { open } from './browser.mjs';

export async function wireSteps({ step, browser, base, shot }) {
  const { page, context, problems } = await open(browser, base);
  const t = (id) => page.getByTestId(id);
  const grid = page.getByRole('grid');
  const rows = () => grid.getByRole('row');
  const chip = (name) => page.locator('[data-testid=chip]', { hasText: name });

  await step('wire: the newest roundtrips come by themselves, and stop when paused', async () => {
    await page.goto(`${base}#/wire`);
    await rows().nth(5).waitFor();
    await t('rate-chart').locator('canvas').waitFor();
    const first = () => rows().nth(1).innerText();
    const before = await first();
    await page.waitForFunction((was) => document.querySelectorAll('[role=row]')[1]?.innerText !== was, before);
    await page.keyboard.press('p');
    await page.waitForFunction(() => location.hash.includes('live=0'));
    await page.waitForTimeout(1200);
    let asked = 0;
    page.on('request', (r) => (asked += r.url().includes('/api/sql') ? 1 : 0));
    const held = await first();
    await page.waitForTimeout(2200);
    assert.equal(await first(), held);
    assert.equal(asked, 0, 'a paused page asks nothing');
    await t('pause').click();
    await page.waitForFunction(() => !location.hash.includes('live=0'));
  });

  await step('wire: chips, text, status and duration narrow the list, and the address holds them', async () => {
    await chip('http').first().click();
    await page.waitForFunction(() => location.hash.includes('protocol=http'));
    await page.waitForFunction(() => [...document.querySelectorAll('[role=row] .proto')].every((e) => e.textContent === 'http'));
    await chip('dns').click({ modifiers: ['Control'] });
    await page.waitForFunction(() => /protocol=http(%2C|,)dns/.test(location.hash));
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('button', { name: 'Error', exact: true }).click();
    await page.waitForFunction(() => document.querySelectorAll('[role=row] .badge').length > 2 && [...document.querySelectorAll('[role=row] .badge')].every((e) => e.classList.contains('t-server')));
    await shot('wire-errors', page);
    await page.keyboard.press('/');
    await page.waitForFunction(() => document.activeElement?.id === 'wire-first');
    await page.keyboard.type('CHARGE');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.includes('text=CHARGE') && [...document.querySelectorAll('[role=row][aria-rowindex]')].every((e) => /charge/.test(e.innerText)));
    await page.locator('input[name=min]').fill('nonsense');
    await page.keyboard.press('Enter');
    assert.ok(!page.url().includes('min='), 'what is no duration is not asked');
    await page.reload();
    await rows().nth(1).waitFor();
    assert.match(page.url(), /status=error.*text=CHARGE/);
  });

  await step('wire: a row opens its panel; flow and operation are filters; hostile text stays text', async () => {
    await page.goto(`${base}#/wire?protocol=http`);
    await rows().nth(3).click({ position: { x: 40, y: 10 } });
    await t('attributes').waitFor();
    assert.match(await t('attributes').innerText(), /<script>window\.pwned=1<\/script>/);
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.match(await t('packets').innerText(), /^wirelake packets --from PACKETS_DIR --since \S+Z --until \S+Z --filter 'tcp and host /);
    await shot('wire-panel', page);
    const at = page.url();
    await grid.focus();
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction((was) => location.href !== was, at);
    await page.reload();
    await t('attributes').waitFor();
    await t('same-operation').click();
    await page.waitForFunction(() => location.hash.includes('op=') && !location.hash.includes('at='));
    await t('set').click();
    await rows().nth(3).click({ position: { x: 40, y: 10 } });
    await t('same-flow').click();
    await page.waitForFunction(() => location.hash.includes('flow='));
    await rows().nth(1).click({ position: { x: 40, y: 10 } });
    await t('roundtrip').waitFor();
    await page.keyboard.press('Escape');
    await t('roundtrip').waitFor({ state: 'detached' });
  });

  await step('wire: lines by protocol, and a stretch that is drawn over becomes the range', async () => {
    await page.goto(`${base}#/wire?view=services`);
    await t('split').click();
    await t('latency-chart').getByText('postgresql').waitFor();
    const box = await t('rate-chart').locator('.u-over').boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + 30, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => /since=20.*until=20/.test(location.hash));
  });

  await step('wire: services sort, and a click shows their roundtrips', async () => {
    await page.goto(`${base}#/wire?view=services`);
    await rows().nth(5).waitFor();
    await page.getByRole('button', { name: 'Sort by p99' }).click();
    await shot('wire-services', page);
    await rows().nth(1).click({ position: { x: 40, y: 10 } });
    await page.waitForFunction(() => /protocol=.*op=/.test(location.hash) && !location.hash.includes('view='));
  });

  await step('wire: the map draws who calls whom, lights up and filters', async () => {
    await page.goto(`${base}#/wire?view=map`);
    await t('node').nth(6).waitFor();
    assert.ok((await t('edge').count()) >= 10);
    const database = page.getByRole('button', { name: '10.0.2.5', exact: true }).first();
    await database.hover();
    assert.ok((await page.locator('[data-testid=edge].dim').count()) > 3, 'what does not touch it steps back');
    await shot('wire-map-hover', page);
    await t('edge').first().focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.includes('server='));
    await rows().nth(1).waitFor();
  });

  await step('wire: flows say how they are and why they are silent', async () => {
    await page.goto(`${base}#/wire`);
    await rows().nth(1).waitFor();
    await page.keyboard.press('4');
    await page.getByText('api.stripe.example').first().waitFor();
    await page.getByText('api.stripe.example').first().click();
    await t('flow').getByText('Encrypted with TLS').waitFor();
    await shot('wire-flow', page);
  });

  await step('wire: a filter that leaves nothing says so', async () => {
    await page.goto(`${base}#/wire?text=surely-not-there`);
    await page.getByRole('heading', { name: 'No roundtrip matches' }).waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await rows().nth(1).waitFor();
  });

  await step('wire: with capture off, it teaches how to turn it on', async () => {
    const off = await start({ empty: true });
    const other = await open(browser, off.url, { colorScheme: 'dark' });
    await other.page.goto(`${off.url}#/wire`);
    await other.page.getByRole('heading', { name: 'Nothing was captured yet' }).waitFor();
    await other.page.getByText('wirelake serve --capture any', { exact: true }).waitFor();
    await other.page.getByText('cap_net_raw').waitFor();
    assert.equal(await other.page.getByTestId('roundtrip-rate').count(), 0);
    await shot('wire-off-dark', other.page);
    assert.deepEqual(other.problems, []);
    await other.context.close();
    off.server.closeAllConnections();
    off.server.close();
  });

  await step('live: the books of capture', async () => {
    await page.goto(`${base}#/live`);
    await t('capture-ledger').getByText('capture / source').waitFor();
    await page.getByText('Connections refused').waitFor();
    await t('roundtrip-rate').waitFor();
  });

  await step('wire: no console error, no request elsewhere', async () => assert.deepEqual(problems, []));
  await context.close();
}
