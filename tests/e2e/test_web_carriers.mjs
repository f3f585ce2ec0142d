// The pages have three carriers: a live server, one offline file, and a published read-only database.
// All three must show the same at the same addresses.
// Only this finds an answer that one of the carriers shows otherwise than the others, or not at all.
import { NARROW, WIDE, axeFindsNothing, fitsNarrow, printsWhole, showIn } from './web/checks.mjs';
import {
  becomes,
  browser,
  check,
  fetchData,
  holds,
  must,
  openPage,
  runAll,
  same,
  says,
  scratch,
  seed,
  serve,
  settled,
  shot,
  slowness,
  test,
  twinstack,
  closePage,
} from './web/world.mjs';
import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
/** @import { Frame } from 'openapi' */
/** @import { Page } from './web/world.mjs' */

const RUNS = 60; // two pages of the list
const chromium = await browser();
const db = seed('runs.db', RUNS, 24, 0);
const live = await serve('--db', db);

const folder = scratch('published');
mkdirSync(folder);
twinstack('db', 'publish', '--db', db, join(folder, 'runs.db'));
chmodSync(folder, 0o555);
const published = await serve('--db', join(folder, 'runs.db'));

/** @type {(run: number, name: string, from?: string) => string} */
const write = (run, name, from = db) => {
  twinstack('report', String(run), '--db', from, '--html', scratch(name), '--exit-zero');
  return `file://${scratch(name)}`;
};
const file = write(RUNS, 'offline.html');

const hostile = encodeURIComponent("<script>document.title='owned'</script>");
const caseAt = `/runs/${RUNS}/mismatches/inline_chain.ob2`;

// Every page, with the parameters of its address.
const views = [
  '/',
  '/runs',
  `/runs?after=${RUNS - 49}`,
  '/runs?branch=main&tick=3',
  '/runs?branch=none',
  `/runs/${RUNS}`,
  '/runs/latest',
  `/runs/${RUNS}?verdict=FAIL`,
  `/runs/${RUNS}?kind=hang`,
  `/runs/${RUNS}?search=inline&verdict=PASS`,
  `/runs/${RUNS}?cause=inline_only`,
  `/runs/${RUNS}?search=nothing`,
  `/runs/${RUNS}/mismatches?search=%232`,
  '/runs/latest/mismatches',
  `/runs/${RUNS}/mismatches?verdict=FAIL`,
  `/runs/${RUNS}/mismatches?cause=inline_only`,
  caseAt,
  `${caseAt}?frame=3`,
  `${caseAt}?inlines=0&system=0&absolute=1&engines=dump,offset:dbghelp`,
  `/runs/${RUNS}/mismatches/${hostile}.ob2?frame=0`,
  '/cases/inline_chain/ob2',
  `/cases/${hostile}/ob0`,
  '/compare',
  `/compare/${RUNS - 1}/${RUNS}`,
  `/compare/${RUNS}/${RUNS - 1}`,
  `/compare/1/${RUNS}`,
  '/compare/baseline/latest',
  `/compare?a=${RUNS - 3}&b=latest`,
  '/timing',
  `/timing?run=${RUNS}&measure=bytes`,
  '/timing?engines=dump',
  '/trend',
  '/trend?metric=dump_write_ns',
  '/hooks',
  '/hooks?differs=1',
  '/hooks?search=spin',
  '/hooks?search=%232',
  '/hooks?after=3',
  '/signatures',
  '/known',
  '/symbols',
  '/api',
  '/about',
];

/**
 * Returns the text, link targets and field values of MAIN, without the parts that only one carrier shows and
 * without ages: an hour may begin between two reads.
 * @param {Page} page
 */
const read = (page) =>
  page.$eval('main', (shownMain) => {
    const main = /** @type {HTMLElement} */ (shownMain.cloneNode(true));
    for (const part of main.querySelectorAll('[data-carrier], .u-legend')) part.remove();
    const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    while (texts.nextNode())
      if (/^(under )?\d+ (min|h|days) ago$/.test(texts.currentNode.nodeValue ?? ''))
        texts.currentNode.nodeValue = 'some time ago';
    const links = [...main.querySelectorAll('a[href]')].map((a) =>
      a.getAttribute('href')?.replace(/^#\//, '/'),
    );
    /** @type {NodeListOf<HTMLInputElement>} */
    const fields = main.querySelectorAll('input, select');
    const state = [...fields].map((field) => `${field.value}${field.checked ? '!' : ''}`);
    return { text: main.textContent.replace(/\s+/g, ' '), links, state };
  });
/**
 * Waits until all requests are answered and two reads in a row return the same, then returns that.
 * @type {(page: Page) => ReturnType<typeof read>}
 */
const shown = async (page) => {
  let old = '';
  await holds(async () => {
    await settled(page);
    const now = JSON.stringify(await read(page));
    const rests = now === old;
    old = now;
    return rests;
  }, `${page.url()} does not come to rest`);
  return JSON.parse(old);
};
/** @param {Page} page */
const outside = (page) =>
  page.on(
    'request',
    (asked) => /^(file|data|blob):/.test(asked.url()) || page.complaints.push(`asked for ${asked.url()}`),
  );

// Reads each address of the live server only once, for the tests of the group `views`.
/** @type {Map<string, object>} */
const wanted = new Map();
/** @type {Page | null} */
let reader = null;
/** @param {string} view */
async function want(view) {
  reader ??= await openPage(chromium, live.base);
  if (!wanted.has(view)) {
    await reader.goto(live.base + view);
    wanted.set(view, { ...(await shown(reader)), title: await reader.title() });
    same(reader.complaints, [], `complaints at ${view}`);
  }
  return wanted.get(view);
}

test('a_file_shows_what_the_server_shows', async () => {
  const page = await openPage(chromium, file);
  outside(page);
  for (const [i, view] of views.entries()) {
    // After a blank page, the browser opens the address like a link in an email.
    if (i % 5 === 0) await page.goto('about:blank');
    await page.goto(`${file}#${view}`);
    const got = { ...(await shown(page)), title: await page.title() };
    check(!(await page.locator('.state.bad').count()), `${view}: ${got.text}`);
    same(got, await want(view), view);
  }
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('a_published_database_shows_what_the_server_shows', async () => {
  const page = await openPage(chromium, published.base);
  for (const view of [
    ...views.filter((each) => !each.includes('?')),
    '/resolve',
    '/runs/7',
    '/runs/9/mismatches',
    '/compare/3/9',
  ]) {
    await page.goto(published.base + view);
    same({ ...(await shown(page)), title: await page.title() }, await want(view), view);
  }
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('links_inside_a_file_lead_to_what_it_holds', async () => {
  const page = await openPage(chromium, file);
  outside(page);
  const rail = await page.locator('.rail li a').allTextContents();
  for (const name of rail) {
    await page.locator('.rail li a', { hasText: new RegExp(`^${name}$`) }).click();
    await settled(page);
    await becomes(() => page.textContent('.rail [aria-current]'), name, 'where we are');
    check(!(await page.locator('.state.bad').count()), `${name}: ${await page.textContent('main')}`);
  }
  /** @type {Set<string>} */
  const seen = new Set();
  for (const start of [
    '/',
    '/runs',
    `/runs/${RUNS}`,
    '/signatures',
    '/known',
    '/compare',
    '/cases/inline_chain/ob2',
    caseAt,
  ]) {
    await page.goto(`${file}#${start}`);
    await shown(page);
    for (const to of await page.evaluate(() =>
      [...document.querySelectorAll('main a[href^="#/"]')].map((a) => a.getAttribute('href')),
    ))
      seen.add(must(to));
  }
  check(seen.size > 30, `${seen.size} links`);
  const followed = [...seen];
  let there = 0;
  for (const to of followed) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, to);
    await page.waitForFunction((hash) => location.hash === hash, to);
    await settled(page);
    const bad = await page.locator('.state.bad').allTextContents();
    const other = /^#\/runs\/(\d+)/.exec(to)?.[1];
    // The file does not hold the cases of other runs.  The page must say so and name the command to run.
    check(bad.length === 0 || (other && other !== String(RUNS)), `${to}: ${bad}`);
    for (const said of bad) check(said.includes(`twinstack report ${other} --html`), `${to}: ${said}`);
    there += bad.length === 0 ? 1 : 0;
  }
  const least = (25 * followed.length) / seen.size; // 25 of all
  check(there > least && there < followed.length, `${there} of ${followed.length} links`);
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('every_document_of_a_file_is_what_the_server_answers', async () => {
  const { offline, ...documents } = JSON.parse(
    must(/id="twinstack-data">(.*?)<\/script>/s.exec(readFileSync(scratch('offline.html'), 'utf8')))[1],
  );
  for (const [path, packed] of Object.entries(documents)) {
    const text = inflateSync(Buffer.from(packed, 'base64')).toString();
    const answer = await (await fetch(live.base + path)).text();
    if (/artifacts|openapi/.test(path)) check(text === answer, path);
    else same(JSON.parse(text), JSON.parse(answer).data, path);
  }
  check(Object.keys(documents).length > 100, `${Object.keys(documents).length} documents`);
  same([offline.run, offline.cases, offline.compared.length], [RUNS, 24, 21], 'what it says of itself');
});

test('what_a_file_lacks_it_says', async () => {
  const page = await openPage(chromium, file);
  const rows = [
    ['/runs/7', 'twinstack report 7 --html'],
    ['/runs/4242', 'twinstack serve'],
    [`/runs/${RUNS - 1}/mismatches`, `twinstack report ${RUNS - 1} --html`],
    [`/runs/${RUNS}/mismatches/nope.ob2`, 'twinstack serve'],
    ['/compare/3/9', 'twinstack compare 3 9'],
    ['/cases/nope/ob2', 'twinstack serve'],
    ['/hooks?run=3', 'twinstack report 3 --html'],
  ];
  // Within one document: no two neighbours say the same, so what is waited for is not of the page before.
  await settled(page);
  for (const [view, words] of rows) {
    await page.goto(`${file}#${view}`);
    await page.waitForSelector('.state.bad');
    await says(page, 'main', words);
    if (view === '/compare/3/9') await shot(page, 'offline-not-held');
  }
  await page.goto(`${file}#/about`);
  await settled(page);
  await says(page, 'main', '24 cases with their stacks', 'about says what is here');
  await closePage(page);
});

test('a_file_follows_an_address_that_changes_while_it_starts', async () => {
  const page = await openPage(chromium, 'about:blank', { fresh: true }); // its script stays
  await page.addInitScript(() => {
    const seen = new MutationObserver(() => {
      if (!document.getElementById('main')) return;
      seen.disconnect();
      location.hash = '#/about';
    });
    seen.observe(document, { childList: true, subtree: true });
  });
  await page.goto(file);
  await says(page, 'main', '24 cases with their stacks');
  await closePage(page);
});

test('a_file_of_an_older_run_is_about_that_run', async () => {
  const older = write(12, 'older.html');
  const page = await openPage(chromium, older);
  for (const [view, words] of [
    ['/', 'Run 12'],
    ['/compare', 'run 11'],
    ['/known', null],
    ['/runs/latest', 'Run 12'],
    ['/signatures', 'since run '],
    ['/runs/latest/mismatches', 'Run 12'],
    ['/compare/1/12', 'run 1 '],
  ]) {
    await page.goto(`${older}#${view}`);
    await settled(page);
    const text = must(await page.textContent('main'));
    check(
      !(await page.locator('.state.bad').count()) && (words === null || text.includes(words)),
      `${view}: ${text}`,
    );
  }
  await page.goto(`${older}#/`);
  await settled(page);
  await becomes(
    () =>
      page
        .locator('.tile .spark')
        .first()
        .getAttribute('aria-label')
        .then((text) => must(text).split(' ')[0]),
    '12',
    'runs in the trend: none after it',
  );
  await closePage(page);
  const oldest = await openPage(chromium, `${write(1, 'oldest.html')}#/compare`);
  await oldest.waitForSelector('.state.bad');
  await says(oldest, 'main', 'No run came before run 1');
  await closePage(oldest);
  const lone = write(1, 'lone.html', seed('lone.db', 1, 4, 0));
  const alone = await openPage(chromium, `${lone}#/compare`);
  await alone.waitForSelector('.state.bad');
  await says(alone, 'main', 'no other run');
  await closePage(alone);
});

test('a_file_answers_the_frames_that_it_holds', async () => {
  const page = await openPage(chromium, `${file}#/resolve`);
  outside(page);
  await settled(page);
  await says(page, 'main', 'twinstack resolve', 'what to run instead');
  same(await page.locator('input[type=file]').count(), 0, 'no file can be chosen');
  await shot(page, 'offline-resolve');
  const at = { run: RUNS, case: 'inline_chain.ob2' };
  const found = await fetchData(live.base, '/api/v1/runs/{run}/cases/{case}', at);
  const column = found.case.engines.findIndex((engine) => engine.engine === 'offset:rtl') + 1;
  const frames = found.threads[0].rows
    .map((row) => row[column].frame)
    .filter((frame) => frame !== null && 'inline_depth' in frame);
  const physical = frames.filter((frame) => frame.inline_depth === 0);
  /** @type {(frame: Frame, i: number) => string} */
  const suffix = (frame, i) =>
    frame.kind === (i === 0 ? 'interrupted' : 'return') ? '' : frame.kind === 'return' ? '@r' : '@i';
  const lines = physical.map((frame, i) => `${frame.module}!${frame.offset}${suffix(frame, i)}`);
  await page.fill('textarea', `# pasted\n> a crash\n${lines.join('\n')}\nother.dll!0x123\n`);
  await page.getByRole('button', { name: 'Resolve', exact: true }).click();
  await page.waitForSelector('.panel tbody tr');
  const got = await page
    .locator('.panel tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) => row.querySelector('.fn')?.textContent.replace(/^↳| inlined$/g, '')),
    );
  same(
    got,
    [...frames.map((frame) => frame.function ?? 'no name'), 'no name'],
    'functions, inline ones among them',
  );
  await holds(
    async () => must(await page.locator('.panel tbody tr').last().textContent()).includes('not in this file'),
    'what is not known is said',
  );
  await shot(page, 'offline-resolved');
  await page.fill('textarea', 'this is no stack\n');
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('.banner.bad');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('the_description_is_in_the_file', async () => {
  const page = await openPage(chromium, `${file}#/api`);
  await settled(page);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'openapi.json' }).click(),
  ]);
  same(
    JSON.parse(readFileSync(await download.path(), 'utf8')),
    await (await fetch(`${live.base}/api/v1/openapi.json`)).json(),
    'the description',
  );
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('keys_work_in_a_file', async () => {
  const page = await openPage(chromium, `${file}#/runs/${RUNS}/mismatches`);
  await settled(page);
  const first = await page.textContent('.casehead h1');
  await page.keyboard.press('j');
  await page.waitForFunction((old) => document.querySelector('.casehead h1')?.textContent !== old, first);
  await page.keyboard.press('?');
  await page.waitForSelector('.sheet');
  await page.keyboard.press('Escape');
  await page.keyboard.press('2');
  await page.waitForFunction(
    () => location.hash === '#/runs' && document.querySelectorAll('main tbody tr').length === 50,
  );
  await page.getByRole('button', { name: 'older' }).click();
  await page.waitForFunction(
    () =>
      location.hash.includes('after=') &&
      document.querySelector('main tbody a.strong')?.textContent === String(10),
  );
  await page.goBack();
  await page.waitForFunction(() => document.querySelector('main tbody a.strong')?.textContent === '60');
  await page.locator('tbody input').nth(0).check();
  await page.locator('tbody input').nth(1).check();
  await page.getByRole('button', { name: /Compare/ }).click();
  await page.waitForFunction(
    () => location.hash === '#/compare/59/60' && document.querySelector('main h2.section'),
  );
  await page.getByRole('button', { name: 'Swap' }).click();
  await page.waitForFunction(
    () => location.hash === '#/compare/60/59' && document.querySelector('main h2.section'),
  );
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

// Each page of the file is shown once, for all the checks that every page must pass.
/** @type {Page | null} */
let shownFile = null; // one page for all of them
for (const [name, view] of [
  ['overview', '/'],
  ['runs', '/runs'],
  ['run', `/runs/${RUNS}`],
  ['case', `${caseAt}?frame=3`],
  ['history', '/cases/inline_chain/ob2'],
  ['compare', '/compare'],
  ['timing', '/timing'],
  ['trend', '/trend?metric=dump_write_ns'],
  ['hooks', '/hooks'],
  ['signatures', '/signatures'],
  ['known', '/known'],
  ['symbols', '/symbols'],
  ['resolve', '/resolve'],
  ['api', '/api'],
  ['glossary', '/glossary'],
  ['about', '/about'],
  ['not-held', '/compare/3/9'],
])
  test(`${name}_of_a_file_is_usable_by_everybody_and_prints_whole`, async () => {
    const page = (shownFile ??= await openPage(chromium, file));
    await page.evaluate((to) => {
      location.hash = to;
    }, view);
    await showIn(page, WIDE, 'light');
    await shot(page, `offline-${name}`);
    await axeFindsNothing(page, 'light');
    await showIn(page, NARROW, 'dark');
    await axeFindsNothing(page, 'dark, narrow');
    await fitsNarrow(page, name);
    await shot(page, `offline-${name}-360`);
    await printsWhole(page, `offline-${name}`, `#${view}`);
    same(page.complaints, [], 'complaints');
  });

// Even if a database has more cases and runs than the file can hold, the file is small and written quickly.
test('a_file_of_a_large_run_stays_bounded', async () => {
  const large = seed('large.db', 220, 4, 2400);
  const start = performance.now();
  const big = write(1, 'large.html', large);
  const seconds = (performance.now() - start) / 1e3;
  const size = statSync(scratch('large.html')).size;
  console.log(`     ${seconds.toFixed(1)} s, ${(size / 1e6).toFixed(1)} MB`);
  check(size < 10e6, `${size} bytes`); // 1.5 MB of it are instructions around the pc
  check(seconds < 20 * slowness, `${seconds} s`);
  const page = await openPage(chromium, big);
  for (const [view, words] of [
    ['/', 'Run 1'],
    ['/runs/1', '2,400 cases in 12 scenarios'],
    ['/runs/1?search=spin', 'of 2,400 cases in 1 scenario'],
    ['/about', '2,000 of 2,400 cases with their stacks'],
    ['/about', 'the newest 200 of 221 runs'],
    ['/runs', 'lists the newest 200 of 221 runs'],
  ]) {
    await page.goto(`${big}#${view}`);
    await settled(page);
    await says(page, 'main', words);
  }
  await page.goto(`${big}#/runs?after=24`);
  await settled(page);
  await becomes(
    () => page.locator('main tbody a.strong').allTextContents(),
    ['23', '22'],
    'the end of the list',
  );
  same(await page.getByRole('button', { name: 'older' }).count(), 0, 'no way beyond it');
  await shot(page, 'offline-runs-end');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

await runAll();
