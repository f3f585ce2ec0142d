// Tests five tasks of a first-time visitor, in a wide window, a dark one, and on a phone.  Each starts at the
// first page and uses only clicks and taps, which are counted and timed.  Also makes printed pages.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  becomes,
  browser,
  changeAnswers,
  check,
  holds,
  must,
  openPage,
  root,
  runAll,
  same,
  says,
  scratch,
  seed,
  serve,
  settled,
  shot,
  test,
  closePage,
} from './web/world.mjs';

const chromium = await browser();
const db = seed('tasks.db', 30, 24, 0);
const held = join(root, 'corpus/cases/inline_chain.ob2');
/** @type {[string, import('playwright-core').BrowserContextOptions][]} */
const kinds = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['390', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
];
/** @type {[string, string, number, string][]} */
const table = [];

/**
 * Acts as a visitor.  Counts each press, and each field that is filled or selected.
 * @typedef {import('playwright-core').Locator} Locator
 * @param {import('./web/world.mjs').Page} page
 * @param {boolean} touch
 */
function visitor(page, touch) {
  let presses = 0;
  /** @param {Locator} target */
  const use = async (target) => {
    presses++;
    await (touch ? target.tap() : target.click());
  };
  return {
    presses: () => presses,
    press: use,
    open: async (/** @type {string} */ name) =>
      use(page.locator('.rail li a', { hasText: new RegExp(`^${name}$`) })),
    button: async (/** @type {string} */ name) => use(page.getByRole('button', { name, exact: true })),
    fill: async (/** @type {Locator} */ target, /** @type {string} */ text) => {
      presses++;
      await target.fill(text);
    },
    choose: async (/** @type {Locator} */ target, /** @type {string} */ word) => {
      presses++;
      await target.selectOption(word);
    },
  };
}

// Name, maximum number of presses, actions (they end when the page shows the answer).
/**
 * @typedef {import('./web/world.mjs').Page} Page
 * @type {[string, number, (page: Page, visit: ReturnType<typeof visitor>, base: string) => Promise<void>][]}
 */
const tasks = [
  [
    'find the new mismatch and copy its link',
    3,
    async (page, visit, base) => {
      const fresh = page.locator('.panel', { hasText: 'New failures' }).locator('a');
      const any = page.locator('.verdictline a');
      await visit.press(((await fresh.count()) > 0 ? fresh : any).first());
      await page.waitForURL(/mismatches/);
      await page.waitForSelector('.casehead h1');
      await visit.button('Copy link');
      const copied = () => page.evaluate(() => navigator.clipboard.readText());
      await holds(
        async () => (await copied()).startsWith(`${base}/runs/30/mismatches/`),
        'a link that stays',
      );
    },
  ],
  [
    'is offset faster than last month?',
    3,
    async (page, visit) => {
      await visit.open('Trend');
      await page.waitForURL('**/trend*');
      await settled(page);
      const figures = page.getByLabel('figure');
      const warm = await figures
        .locator('option')
        .evaluateAll((all) => all.map((one) => /** @type {HTMLOptionElement} */ (one).value));
      await visit.choose(figures, warm.find((name) => /^offset/.test(name)) ?? '');
      await holds(
        async () => /^(Worse|Better|No change|Offset)/i.test(must(await page.textContent('.verdictline'))),
        'an answer in words',
      );
    },
  ],
  [
    'resolve a pasted log',
    4,
    async (page, visit) => {
      await visit.open('Resolve');
      const log = '12:00:01 app died\n> a crash\nvictims-ob2.exe!0x17d7\nvictims-ob2.exe!0x1bb4\n';
      await visit.fill(page.locator('textarea'), log);
      await visit.button('Resolve');
      await page.waitForSelector('.panel tbody tr');
      await becomes(() => page.locator('.panel tbody tr').count(), 2, 'frames of the log');
    },
  ],
  [
    'drop a dump',
    3,
    async (page, visit) => {
      await visit.open('Resolve');
      await page.waitForSelector('.dropzone');
      await visit.press(page.locator('.dropzone')); // accepts a dropped file; a press opens the file chooser
      const bytes = readFileSync(join(held, 'dump.dmp'));
      await page.locator('input[type=file]').setInputFiles({
        name: 'dump.dmp',
        mimeType: 'application/octet-stream',
        buffer: bytes,
      });
      await says(page, '.panel', 'inline_chain.c:', 'its stack with lines');
    },
  ],
  [
    'accept a failure',
    5,
    async (page, visit) => {
      await visit.press(page.locator('.verdictline a').first());
      await page.waitForSelector('.casehead h1');
      await visit.button('Accept…');
      await visit.fill(page.locator('input[name=reason]'), 'seen and understood');
      await visit.button('Accept');
      await page.waitForSelector('.drawer .good');
    },
  ],
];

for (const [at, [name, most, steps]] of tasks.entries())
  test(`${name.replaceAll(/\W+/g, '_')}`, async () => {
    for (const [kind, options] of kinds) {
      const known = scratch(`known-${at}-${kind}.txt`);
      const symbols = join(root, 'corpus/symbols');
      const server = await serve('--db', db, '--allow-write', '--known', known, '--symbols', symbols);
      const page = await openPage(chromium, server.url, {
        permissions: ['clipboard-read', 'clipboard-write'],
        ...options,
      });
      await settled(page);
      const visit = visitor(page, options.hasTouch ?? false);
      const start = performance.now();
      await steps(page, visit, server.base);
      const seconds = (performance.now() - start) / 1e3;
      table.push([name, kind, visit.presses(), seconds.toFixed(1)]);
      check(visit.presses() <= most, `${visit.presses()} presses, ${kind}`);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(over <= 0, `${kind}: ${over} pixels too wide`);
      await settled(page);
      await shot(page, `task-${at + 1}-${kind}`);
      if (kind === 'light') {
        await page.emulateMedia({ media: 'print' });
        await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
        await settled(page);
        await shot(page, `task-${at + 1}-print`);
      }
      same(page.complaints, [], 'complaints');
      await closePage(page);
      await server.stop();
    }
  });

test('the_answer_has_the_order_of_the_report', async () => {
  const server = await serve('--db', db);
  const page = await openPage(chromium, server.base);
  /** @type {[string, string[]][]} */
  const rows = [
    ['/', ['.verdictline', '.lines.casegroups', '.shares-list', '[aria-label="Speed"]', '.bars']],
    [
      '/runs/30',
      ['.counts', '.lines.failing', '[aria-label="Engines"]', '[aria-label="Speed"]', '.grid', '.bars'],
    ],
  ];
  for (const [path, parts] of rows) {
    await page.goto(server.base + path);
    await settled(page);
    const tops = [];
    for (const part of parts) {
      const found = page.locator(part).first();
      await found.waitFor();
      tops.push(must(await found.boundingBox(), part).y);
    }
    same(
      tops.toSorted((a, b) => a - b),
      tops,
      `${path}: ${parts.join(', ')}`,
    );
  }
  await closePage(page);
  await server.stop();
});

test('a_median_of_few_cases_is_not_shown', async () => {
  const server = await serve('--db', db);
  const page = await openPage(chromium, server.base);
  await changeAnswers(
    page,
    '**/api/v1/overview*',
    (/** @type {{data: {headline: import('openapi').Headline}}} */ body) => {
      const row = must(body.data.headline.rows.find(({ key }) => key === 'cold'));
      const one = { median: 8e8, least: 7e8, p90: 9e8, most: 9e8 };
      Object.assign(row.cells.foreign, { ...one, state: 'too few', count: 6 });
      Object.assign(row.cells.dump, { ...one, state: 'measured', count: 250 });
      Object.assign(row.cells.tuned, { ...one, state: 'measured', count: 249 });
      return body;
    },
  );
  await page.goto(`${server.base}/`);
  await settled(page);
  const row = page.locator('[aria-label="Speed"] tr', { hasText: 'back end, cold: all' });
  const shown = await row.locator('td.num').allInnerTexts();
  same(
    shown.slice(0, 3),
    ['too few (6)', '800 ms (700 ms to 900 ms)', '800 ms (249) (700 ms to 900 ms)'],
    'dbghelp, dump, tuned dump',
  );
  await closePage(page);
  await server.stop();
});

test('cost_of_a_million_is_asked_again_with_other_terms', async () => {
  const server = await serve('--db', db);
  const page = await openPage(chromium, server.base);
  await changeAnswers(
    page,
    '**/api/v1/timing*',
    (/** @type {{data: {cost_per_million: import('openapi').Cost}}} */ body) => {
      const plain = must(body.data.cost_per_million.lanes[0]);
      plain.core_s_warm = {
        state: 'measured',
        cases: 250,
        scenarios: 125,
        value: 35.14,
        low: 21.5,
        high: 1048.7,
      };
      plain.core_s_index = { state: 'too few', cases: 4, scenarios: 4, value: null, low: null, high: null };
      for (const [lane, write] of /** @type {[number, number][]} */ ([
        [0, 1e9],
        [1, 1e7],
        [3, 1e5],
      ])) {
        const one = must(body.data.cost_per_million.lanes[lane]);
        for (const step of Object.keys(one.steps)) Object.assign(one.steps, { [step]: null });
        one.steps.write_ns = write;
        one.steps.open_ns = 999_700;
        one.total_ns = write + 999_700;
      }
      plain.upload_s = 3200 * body.data.cost_per_million.terms.mbit_s;
      plain.price = 0.5;
      return body;
    },
  );
  await page.goto(`${server.base}/timing`);
  await settled(page);
  const cost = page.locator('[aria-label="Cost of a million crashes"]');
  const cell = (/** @type {string} */ row) => cost.locator('tr', { hasText: row }).locator('td.num').first();
  /** @type {[string, string][]} */
  const rows = [
    ['warm, core-s', '35.1 [21.5, 1.05k] (250)'],
    ['index, core-s', 'too few (4)'],
    ['upload, s', '64.0k'],
    ['price', '0.50'],
  ];
  for (const [row, want] of rows) same(await cell(row).innerText(), want, row);
  const wide = await page
    .locator('[aria-label="One crash"] [role="row"]', { hasText: 'file written' })
    .locator('i')
    .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
  same(wide.length, 3, 'bars of a step that three lanes have');
  same(
    wide.map((width) => Math.round((5 * width) / must(wide[0]))),
    [5, 3, 1],
    'decades from 10 µs, since the shortest bar is of the back end',
  );
  await says(page, '[aria-label="One crash"]', '1.00 ms plain dump');
  await says(page, '[aria-label="One crash"]', 'upload, 20 Mbit/s', 'the bandwidth that it is for');
  const states = [];
  const decades = (await page.locator('.ticks span').count()) - 1;
  const ratios = page.locator('[aria-label="Which way is faster"] tr', { hasText: 'x64 plain dump' });
  for (const [at, state] of ['no index', 'index, new process', 'warm'].entries()) {
    const bars = page
      .locator('[aria-label="One crash"] [role="row"]', { hasText: `back end: ${state}` })
      .locator('.lane');
    const shares = await bars.evaluateAll((all) =>
      all.map((bar) => [bar.textContent, parseFloat(/** @type {any} */ (bar).firstChild.style.width)]),
    );
    if (shares.length === 0) continue; // too few cases
    states.push(state);
    /** @type {(lane: string) => number} */
    const share = (lane) => Number(must(shares.find(([text]) => String(text).endsWith(` ${lane}`)))[1]);
    const ratio = 10 ** (((share('plain dump') - share('offsets')) * decades) / 60);
    const said = ratios.first().locator('td.num').nth(at).locator('strong').first();
    const by = ratio / Number(await said.innerText());
    check(Math.abs(by - 1) < 0.06, `${state}: ${ratio} by eye, ${by} times that of the table`);
  }
  same(states.length, await ratios.first().locator('td.num:has(strong)').count(), 'states with a ratio');
  check(states.includes('warm'), `there is one: ${states}`);
  await page.getByLabel('uplink, Mbit/s').fill('100');
  await page.getByLabel('uplink, Mbit/s').press('Enter');
  await page.waitForURL('**/timing?mbit_s=100');
  await becomes(() => cell('upload, s').innerText(), '320k', 'another uplink');
  await says(page, '[aria-label="One crash"]', 'upload, 100 Mbit/s', 'in the picture, too');
  await page.getByLabel('uplink, Mbit/s').fill('');
  await page.getByLabel('uplink, Mbit/s').press('Enter');
  await becomes(() => cell('upload, s').innerText(), '64.0k', 'nothing said');
  await shot(page, 'cost');
  await closePage(page);
  await server.stop();
});

test('what_it_took', () => {
  for (const [name, kind, presses, seconds] of table)
    console.log(`     ${name.padEnd(40)} ${kind.padEnd(6)} ${presses} presses ${seconds.padStart(5)} s`);
});

await runAll();
