/** Takes the README's pictures: images.mjs URL CALL-ID FOLDER [light|dark] */
import { join } from 'node:path';
import { launch, open } from '../../ui/tests/browser.mjs';

const [url, id, folder, colorScheme = 'dark'] = process.argv.slice(2);
const base = url.replace(/\/?$/, '/');
const browser = await launch();
const { page, problems } = await open(browser, base, { colorScheme, viewport: { width: 1440, height: 900 } });

await page.goto(`${base}#/search?since=1h`);
await page.getByRole('grid').getByRole('row').nth(3).waitFor();
await page.waitForTimeout(500);
await page.screenshot({ path: join(folder, 'search.png') });

await page.goto(`${base}#/call/${encodeURIComponent(id)}?msg=3`);
await page.getByTestId('payload').waitFor();
await page.waitForTimeout(500);
await page.screenshot({ path: join(folder, 'call.png') });

await browser.close();
if (problems.length) {
  console.error(problems.join('\n'));
  process.exit(1);
}
