// The page "Head problems": its inputs, an opened stack, the chip, agreement and causes, in light and dark,
// wide and narrow windows.
import { axeFindsNothing } from './web/checks.mjs';
import {
  Ajv,
  becomes,
  browser,
  changeAnswers,
  check,
  closePage,
  must,
  openPage,
  root,
  runAll,
  same,
  scratch,
  seed,
  serve,
  settled,
  shot,
  test,
  twinstack,
} from './web/world.mjs';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
/** @import { Page } from './web/world.mjs' */

const spool = scratch('problems-spool');
mkdirSync(`${spool}/partials/ready`, { recursive: true });
/** @type {(name: string, text: string) => void} */
const put = (name, text) => writeFileSync(`${spool}/partials/ready/${name}`, text);

const LONG = 'std::vector<Widget<Nested<int, std::basic_string<wchar_t>>>>::_Emplace_reallocate | '.repeat(3);
const NAMED = 'victims-ob2.exe!0x6128'; // in a function with two others inlined
const signatures = [
  'poke | middle | main',
  `${LONG}draw`,
  'operator<<|<script>alert(1)</script> | "quoted" & more',
  'victims-ob2.exe!0x1234',
];

/**
 * Version 1.0 has the first three signatures, version 2.0 has all; counts fall from row to row.
 * @type {(hour: string, version: string, rows: string[], day: string) => string}
 */
function partial(hour, version, rows, day) {
  const lines = rows.map((text, i) => {
    const innermost = i < 3 ? `victims-ob2.exe!0x${i}` : NAMED;
    return `${40 - 9 * i}\t0\t2026-11-${day}T${hour}:15:00Z\t${innermost}\\nntdll.dll!0x10\t${text}\n`;
  });
  const stacks = rows.reduce((sum, _, i) => sum + 40 - 9 * i, 0);
  const head = [1, rows.length, stacks, 0, 0, `r-${day}-${hour}`, `2026-11-${day}T${hour}`, version];
  return `#signatures\t${head.join('\t')}\n${lines.join('')}`;
}
for (const day of ['08', '09', '20', '21'])
  for (const hour of ['07', '08', '09', '17']) {
    const late = day >= '20';
    put(
      `p-${day}-${hour}`,
      partial(hour, late ? '2.0' : '1.0', late ? signatures : signatures.slice(0, 3), day),
    );
  }
const judged = [
  ['differs', 'offset-no-symbols', 'a-very-long-name-of-a-plugin-that-was-not-shortened-for-a-page.dll'],
  ['differs', 'frame-missing', 'ntdll.dll'],
  ['failed', 'the dump has no thread that crashed', null],
  ['same', null, null],
];
judged.forEach(([result, cause, module], i) =>
  put(
    `s-${i}`,
    `${JSON.stringify({
      shadow: 1,
      id: `alice-report-${i}`,
      hour: '2026-11-21T09',
      version: '2.0',
      verdict: i === 3 ? 'AGREE' : 'DISAGREE',
      signature: signatures[0],
      engines: [
        { engine: 'offset:rtl', against: null, result: 'same', cause: null, module: null, ns: 81000 },
        { engine: 'dump', against: 'offset:rtl', result, cause, module, ns: 1900000 },
      ],
    })}\n`,
  ),
);
const totals = scratch('problems.db');
twinstack('reduce', '--queue', spool, '--totals', totals, '--idle', '300ms');
const db = seed('problems-runs.db', 1, 4, 0);
const server = await serve('--db', db, '--totals', totals);
const later = scratch('later-totals.db');
const empty = await serve('--db', db, '--totals', later);
const chromium = await browser();
// FNV-1a of the first signature
const key = [...Buffer.from(signatures[0])]
  .reduce((hash, byte) => BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n), 0xcbf29ce484222325n)
  .toString(16)
  .padStart(16, '0');
/** @param {Page} page */
const rows = (page) => page.locator('[aria-label="Head problems"] tbody tr');

test('signatures_are_listed_by_count_with_their_stacks', async () => {
  const page = await openPage(chromium, `${server.base}/problems`);
  await settled(page);
  same(await rows(page).count(), 4, 'signatures');
  check((await rows(page).nth(0).innerText()).includes(signatures[0]), 'the most frequent one is first');
  check((await rows(page).nth(2).innerText()).includes('<script>alert(1)</script>'), 'names are text');
  same(await rows(page).nth(0).locator('pre').isVisible(), false, 'a stack is closed');
  await rows(page).nth(0).getByText('one of its stacks').click();
  same(
    (await rows(page).nth(0).locator('pre').innerText()).trim(),
    'victims-ob2.exe!0x0\nntdll.dll!0x10',
    'an opened stack',
  );
  await shot(page, 'problems-open');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('on_a_phone_each_version_has_its_line', async () => {
  const page = await openPage(chromium, `${server.base}/problems`, { viewport: { width: 390, height: 844 } });
  await settled(page);
  same(
    await rows(page).nth(0).locator('.version').allInnerTexts(),
    ['2.0 320', '1.0 320'],
    'a version and its count',
  );
  const tops = await rows(page)
    .nth(0)
    .locator('.version')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
  check(tops[1] - tops[0] > 12, `one below the other: ${tops}`);
  await closePage(page);
});

test('all_signatures_are_reached_page_by_page', async () => {
  const page = await openPage(chromium, `${server.base}/problems?limit=3`);
  await settled(page);
  const first = await rows(page).allInnerTexts();
  await page.getByText('less frequent').click();
  await becomes(() => rows(page).count(), 1, 'the rest');
  check(page.url().includes('after=3'), page.url());
  check(/^4\b/.test((await rows(page).nth(0).innerText()).trim()), 'the ranks go on');
  same(await page.getByText('less frequent').count(), 0, 'that is the last page');
  await page.getByText('most frequent', { exact: true }).click();
  await becomes(() => rows(page).allInnerTexts(), first, 'the first page again');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('a_head_sorts_down_up_and_not_at_all', async () => {
  const page = await openPage(chromium, `${server.base}/problems`);
  await settled(page);
  const ranks = () => page.locator('[aria-label="Head problems"] tbody td:first-child').allInnerTexts();
  const given = await ranks();
  const head = page.locator('[aria-label="Head problems"] thead').getByRole('button', { name: 'stacks' });
  for (const [sorted, order] of /** @type {[string | null, string[]][]} */ ([
    ['descending', given],
    ['ascending', [...given].reverse()],
    [null, given],
  ])) {
    await head.click();
    await becomes(ranks, order, `${sorted}`);
    same(await head.locator('..').getAttribute('aria-sort'), sorted, 'what it says');
  }
  await axeFindsNothing(page, 'with heads that sort');
  await closePage(page);
});

test('names_of_thousands_of_characters_hide_nothing', async () => {
  for (const width of [1360, 390]) {
    const page = await openPage(chromium, 'about:blank', { viewport: { width, height: 860 } });
    const long = `\u202E${'M'.repeat(3000)}.dll`;
    await changeAnswers(page, '**/api/v1/problems*', (/** @type {any} */ body) => {
      body.data.problems[0].signature = `${long}!0x1 | main`;
      body.data.problems[0].example = `${long}!0x1\nlast.exe!0x2`;
      return body;
    });
    await page.goto(`${server.base}/problems`);
    await settled(page);
    const row = rows(page).nth(0);
    check(
      must(await row.boundingBox()).height < 600,
      `a row of ${must(await row.boundingBox()).height} pixels`,
    );
    const wide = await page.$eval('main', (main) => main.scrollWidth);
    check(wide <= width, `the page is ${wide} wide`);
    same(
      await row
        .locator('bdi')
        .filter({ hasText: /^main$/ })
        .count(),
      1,
      'a frame after the one that turns the text around is a text of its own',
    );
    await shot(page, `problems-long-${width}`);
    await closePage(page);
  }
});

test('a_version_that_turns_text_around_leaves_its_count_where_it_is', async () => {
  const page = await openPage(chromium, 'about:blank');
  await changeAnswers(page, '**/api/v1/problems*', (/** @type {any} */ body) => {
    body.data.problems[0].by_version[0].version = '\u202E0.3';
    return body;
  });
  await page.goto(`${server.base}/problems`);
  await settled(page);
  const [name, count] = await rows(page)
    .nth(0)
    .locator('.version')
    .first()
    .evaluate((line) => {
      const words = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      const boxes = [];
      while (words.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(words.currentNode);
        if (String(words.currentNode.nodeValue).trim()) boxes.push(range.getBoundingClientRect());
      }
      return boxes.map((box) => ({ left: box.left, right: box.right }));
    });
  check(count.left >= name.right - 1, `the count begins at ${count.left}, the version ends at ${name.right}`);
  await closePage(page);
});

test('new_since_marks_what_a_version_brought', async () => {
  const page = await openPage(chromium, `${server.base}/problems`);
  await settled(page);
  same(await page.locator('.chip').filter({ hasText: 'new' }).count(), 0, 'no baseline, nothing is new');
  await page.getByLabel('new since day').fill('2026-11-20');
  await page.waitForURL('**/problems?baseline=2026-11-20');
  await becomes(() => page.locator('tbody .chip').count(), 1, 'one signature is new');
  check((await rows(page).nth(3).innerText()).includes('new'), 'the one that came with 2.0');
  await shot(page, 'problems-new');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('a_problem_has_an_address_that_says_what_makes_it_one', async () => {
  const page = await openPage(chromium, `${server.base}/problems?since=2.0`);
  await settled(page);
  same(await page.locator('tbody .chip').count(), 1, 'new since version 2.0');
  await page.getByRole('button', { name: 'only new ones' }).click();
  await becomes(() => rows(page).count(), 1, 'the list has only what is new');
  check((await page.locator('main').innerText()).includes('4 problems, 1 of them new'), 'how many');
  await page.getByLabel('new since version').fill('7.0');
  await page.getByLabel('new since version').press('Enter');
  await becomes(() => page.getByText('No report of version 7.0 was counted').count(), 1, 'no such version');
  await page.goto(`${server.base}/problems`);
  await settled(page);
  await rows(page).nth(0).getByRole('link').click();
  await page.waitForURL(/\/problems\/[0-9a-f]{16}$/);
  await page.reload();
  await settled(page);
  const text = await page.locator('main').innerText();
  for (const said of [
    'poke | middle | main',
    '1 of 4 problems',
    '1 of 4 sampled reports',
    'Crashes count here if these are the innermost 3 functions, in this order; functions that the rules skip',
    'skip function NAME',
    'Dump and offsets of sampled reports',
  ])
    check(text.includes(said), said);
  same(
    await page.locator('[aria-label="Versions"] tbody tr').allInnerTexts(),
    ['2.0\t320\t2026-11-20 07 h\t2026-11-21 17 h', '1.0\t320\t2026-11-08 07 h\t2026-11-09 17 h'],
    'stacks by version',
  );
  await axeFindsNothing(page, 'one problem');
  await shot(page, 'problem');
  const stack = page.getByRole('link', { name: 'Name its frames' });
  await stack.click();
  await becomes(
    () => page.locator('textarea').inputValue(),
    'victims-ob2.exe!0x0\nntdll.dll!0x10',
    'its stack is asked for',
  );
  same(page.complaints, [], 'complaints');
  await page.goto(`${server.base}/problems/0123456789abcdef`);
  await settled(page);
  check((await page.locator('main').innerText()).includes('No report has this problem'), 'an unknown one');
  await closePage(page);
});

test('a_stack_has_the_names_that_the_symbols_of_the_server_give', async () => {
  const named = await serve('--db', db, '--totals', totals, '--symbols', `${root}/corpus/symbols`);
  const page = await openPage(chromium, `${named.base}/problems`);
  await settled(page);
  for (const at of [0, 3]) await rows(page).nth(at).getByText('one of its stacks').click();
  const stack = page.locator('[aria-label="Stack"] tbody');
  await becomes(() => stack.count(), 1, 'named where a frame has a name');
  check((await rows(page).nth(0).locator('pre').innerText()).includes('!0x0'), 'the other as it came');
  await rows(page).nth(3).getByRole('link').click();
  await page.waitForURL(/\/problems\/[0-9a-f]{16}$/);
  await becomes(() => stack.count(), 1, 'on the page of the problem');
  const text = await stack.innerText();
  for (const said of ['put32', 'inlined', 'cap_crash_record_timing', 'write_record.c:276', 'ntdll.dll!0x10'])
    check(text.includes(said), `${said} in ${text}`);
  await axeFindsNothing(page, 'a named stack');
  await shot(page, 'problem-named');
  same(page.complaints, [], 'complaints');
  await closePage(page);
  await named.stop();
});

test('a_problem_of_thousands_of_characters_fits_its_page', async () => {
  for (const width of [1360, 390]) {
    const page = await openPage(chromium, 'about:blank', { viewport: { width, height: 860 } });
    const long = `\u202E${'M'.repeat(3000)}.dll`;
    await changeAnswers(page, '**/api/v1/problems*', (/** @type {any} */ body) => {
      body.data.problems[0].signature = `${long}!0x1 | main`;
      body.data.problems[0].example = `${long}!0x1\nlast.exe!0x2`;
      body.data.problems[0].by_version[0].version = long;
      return body;
    });
    await page.goto(`${server.base}/problems/${key}?since=${'9'.repeat(300)}`);
    await settled(page);
    const wide = await page.$eval('main', (main) => main.scrollWidth);
    check(wide <= width, `the page is ${wide} wide`);
    same(
      await page
        .locator('h1 bdi')
        .filter({ hasText: /^main$/ })
        .count(),
      1,
      'frames of the head are apart',
    );
    same(
      await page
        .locator('ol bdi')
        .filter({ hasText: /^main$/ })
        .count(),
      1,
      'so are those of the rule',
    );
    await shot(page, `problem-long-${width}`);
    await closePage(page);
  }
});

test('answers_fit_the_description', async () => {
  const spec = JSON.parse(readFileSync(`${root}/dashboard/web/openapi.json`, 'utf8'));
  const ajv = new (Ajv())({ strict: false });
  ajv.addSchema(spec, 'spec');
  const { schema } = spec.paths['/api/v1/problems'].get.responses['200'].content['application/json'];
  const fits = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"spec#/')));
  for (const query of ['', '?since=2.0&new=1', `?key=${key}`, '?version=1.0&baseline=2026-11-09']) {
    const answer = await (await fetch(`${server.base}/api/v1/problems${query}`)).json();
    check(answer.data.problems.length > 0 || query.includes('baseline'), `${query}: problems`);
    check(fits(answer), `${query}: ${JSON.stringify(fits.errors?.slice(0, 3))}`);
  }
});

test('a_version_can_be_chosen_and_left_again', async () => {
  const page = await openPage(chromium, `${server.base}/problems`);
  await settled(page);
  await page.getByLabel('version', { exact: true }).fill('1.0');
  await page.getByLabel('version', { exact: true }).press('Enter');
  await page.waitForURL('**/problems?version=1.0');
  await becomes(() => rows(page).count(), 3, 'signatures of 1.0');
  const text = await page.locator('main').innerText();
  check(text.includes('744 stacks in 8 reports, 3 problems;'), 'its stacks');
  await page.getByLabel('version', { exact: true }).fill('3.0');
  await page.getByLabel('version', { exact: true }).press('Enter');
  await page.waitForURL('**/problems?version=3.0');
  await becomes(() => page.getByText('No report of version 3.0').count(), 1, 'a version without reports');
  await shot(page, 'problems-none');
  await page.getByLabel('version', { exact: true }).fill('');
  await page.getByLabel('version', { exact: true }).press('Enter');
  await becomes(() => rows(page).count(), 4, 'all again');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('agreement_and_causes_are_listed', async () => {
  const page = await openPage(chromium, `${server.base}/problems`);
  await settled(page);
  const engines = page.locator('[aria-label="Agreement of engines"] tbody tr');
  same(await engines.count(), 2, 'engines');
  const causes = page.locator('[aria-label="Causes of differences"] tbody tr');
  same(await causes.count(), 3, 'causes');
  check(
    (await causes.allInnerTexts()).join().includes('failed: the dump has no thread'),
    'a failure in words',
  );
  check((await rows(page).nth(0).innerText()).includes('1 of 4'), 'agreement of a signature');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('before_the_first_report_the_page_says_what_to_do', async () => {
  const page = await openPage(chromium, `${empty.base}/problems`);
  await settled(page);
  check(
    (await page.locator('main').innerText()).includes('twinstack serve --collect'),
    'how reports come in',
  );
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('the_page_fills_while_it_is_open', async () => {
  const page = await openPage(chromium, `${empty.base}/problems?limit=2`);
  await settled(page);
  same(await rows(page).count(), 0, 'nothing was counted yet');
  for (const [day, stacks] of [
    ['22', '93 stacks in 1 report, 3 problems, the 2 most frequent of which are listed;'],
    ['23', '186 stacks in 2 reports'],
  ]) {
    put(`late-${day}`, partial('10', '1.0', signatures.slice(0, 3), day));
    twinstack('reduce', '--queue', spool, '--totals', later, '--idle', '300ms');
    await becomes(async () => (await page.locator('main').innerText()).includes(stacks), true, stacks);
  }
  same(await rows(page).count(), 2, 'listed signatures');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('nothing_is_cut_and_axe_finds_nothing', async () => {
  for (const colorScheme of /** @type {('light' | 'dark')[]} */ (['light', 'dark']))
    for (const [name, viewport] of /** @type {[string, {width: number, height: number}][]} */ ([
      ['wide', { width: 1360, height: 860 }],
      ['narrow', { width: 390, height: 844 }],
    ])) {
      const what = `${name} ${colorScheme}`;
      const page = await openPage(chromium, `${server.base}/problems?baseline=2026-11-20`, {
        viewport,
        colorScheme,
      });
      await settled(page);
      await rows(page).nth(1).getByText('one of its stacks').click();
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      check(over <= 0, `${what}: the page is ${over} px too wide`);
      for (const label of ['new since day', 'new since version', 'version']) {
        const box = must(await page.getByLabel(label, { exact: true }).boundingBox(), label);
        check(box.x >= 0 && box.x + box.width <= viewport.width, `${what}: ${label} is cut`);
      }
      await axeFindsNothing(page, what);
      await shot(page, `problems-${name}-${colorScheme}`);
      await closePage(page);
    }
});

await runAll();
