// Runs the server of twinstack.exe under Wine.  In Chromium, its pages must show the same as those of the
// Linux program.  It has a Wine prefix to itself.
import {
  browser,
  build,
  check,
  openPage,
  runAll,
  same,
  says,
  seed,
  serve,
  settled,
  Skip,
  test,
  views,
  closePage,
} from './web/world.mjs';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
/** @import { Page } from './web/world.mjs' */

const exe = join(build, 'windows/bin/twinstack.exe');
const chromium = await browser();
const db = seed('runs.db', 3, 24, 0);
const STILL_MS = 300;

/** @typedef {Awaited<ReturnType<typeof serve>>} Server */
/** @type {{linux: Server, windows: Server} | null} */
let servers = null;

async function started() {
  if (!existsSync(exe)) throw new Skip('no twinstack.exe: ./run says at its start why it was not built');
  if (servers) return servers;
  const linux = await serve('--db', db);
  process.env.TWINSTACK_PROGRAM = exe;
  const windows = await serve(
    ['wine'],
    { WINEPREFIX: process.env.WINEPREFIX ?? join(build, 'wine'), WINEDEBUG: '-all' },
    '--db',
    db,
  );
  servers = { linux, windows };
  return servers;
}

/**
 * Returns the text of MAIN at VIEW of the server at BASE, without the parts that differ between carriers.
 * @type {(page: Page, base: string, view: string) => Promise<string>}
 */
async function shown(page, base, view) {
  await page.goto(base + view);
  await settled(page);
  check(!(await page.locator('.state.bad').count()), `${view} shows a failure`);
  // Source comes after the rest: a page is whole when it says the same twice.
  let text = '';
  for (let before = null; before !== text;) {
    before = text;
    await page.waitForTimeout(STILL_MS);
    text = await page.$eval('main', (main) => {
      const copy = /** @type {Element} */ (main.cloneNode(true));
      for (const part of copy.querySelectorAll('[data-carrier]')) part.remove();
      return (copy.textContent ?? '').replace(/\s+/g, ' ');
    });
  }
  return text;
}

test('each_page_is_that_of_the_linux_program', async () => {
  const { linux, windows } = await started();
  const theirs = await openPage(chromium, linux.base);
  const page = await openPage(chromium, windows.base);
  for (const view of views)
    same(await shown(page, windows.base, view), await shown(theirs, linux.base, view), view);
  same(page.complaints, [], 'complaints');
  await closePage(theirs);
  await closePage(page);
});

test('a_pasted_stack_is_resolved', async () => {
  const { windows } = await started();
  const page = await openPage(chromium, `${windows.base}/resolve`);
  await settled(page);
  await page.fill('textarea', 'app.exe!0x1000\n');
  await page.getByRole('button', { name: 'Resolve', exact: true }).click();
  await says(page, 'main', 'app.exe!0x1000');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

await runAll();
