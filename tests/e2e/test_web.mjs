// The dashboard in a real browser: every page, keys, hostile names, the content policy, axe.
// Only this finds a page that a browser shows wrongly although the API answers rightly.
import { NARROW, WIDE, axeFindsNothing, fitsNarrow, printsWhole, showIn } from './web/checks.mjs';
import {
  becomes,
  browser,
  changeAnswers,
  check,
  fetchData,
  findDot,
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
  test,
  closePage,
} from './web/world.mjs';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
/** @import { Answers, Share } from 'openapi' */
/** @import { Options, Page } from './web/world.mjs' */

const chromium = await browser();
const server = await serve('--db', seed('runs.db', 30, 24, 0));
const hostile = "<script>document.title='owned'</script>";
const hostileCase = encodeURIComponent(`${hostile}.ob2`);

/** @type {(path: string, options?: Options) => Promise<Page>} */
const open = (path, options) =>
  openPage(chromium, path.startsWith('http') ? path : server.base + path, options);

const pages = [
  ['overview', '/', 'Captured either way'],
  ['runs', '/runs', 'verdicts'],
  ['run', '/runs/30', 'Engines against the truth'],
  ['mismatches', '/runs/30/mismatches', 'truth'],
  ['case', '/runs/30/mismatches/inline_chain.ob2?frame=1', 'Why row 1'],
  ['history', '/cases/inline_chain/ob2', 'times taken'],
  ['compare', '/compare/1/30', 'Time on the back end'],
  ['timing', '/timing', 'Stages on the back end'],
  ['trend', '/trend?metric=dump_write_ns', 'Changes'],
  ['hooks', '/hooks', 'as promised'],
  ['differences', '/signatures', 'Differences that belong together'],
  ['problems', '/problems', 'No report was counted yet'],
  ['known', '/known', 'Known'],
  ['symbols', '/symbols', 'debug id'],
  ['resolve', '/resolve', 'drop a file'],
  ['api', '/api', 'openapi.json'],
  ['glossary', '/glossary', 'engine under test'],
  ['about', '/about', 'preact'],
];

// Each page is opened once, for all the checks that every page must pass.
for (const [name, path, text] of pages) {
  /** @type {Page | null} */
  let opened = null;
  const visit = async () => {
    if (!opened) {
      opened = await open(path);
      await settled(opened);
    }
    return opened;
  };

  test(`page_${name}`, async () => {
    const page = await visit();
    await says(page, 'body', text, `"${text}" is not on the page`);
    check(!(await page.locator('.state.bad').count()), 'the page shows a failure');
    await shot(page, name);
    same(page.complaints, [], 'complaints');
  });
  test(`axe_finds_nothing_on_${name}`, async () => {
    const page = await visit();
    await showIn(page, WIDE, 'light');
    await axeFindsNothing(page, 'light');
    await showIn(page, NARROW, 'dark');
    await axeFindsNothing(page, 'dark, narrow');
  });
  test(`dark_${name}_fits_360_pixels`, async () => {
    const page = await visit();
    await showIn(page, NARROW, 'dark');
    await fitsNarrow(page, name);
    await shot(page, `${name}-360`);
    await showIn(page, WIDE, 'dark');
    await shot(page, `${name}-dark`);
  });
  test(`${name}_prints_whole_with_its_address_and_date`, async () => {
    const page = await visit();
    await printsWhole(page, name, server.base + path);
    await closePage(page);
    opened = null;
  });
}

test('what_is_wrong_comes_first_and_each_count_is_a_link', async () => {
  const page = await open('/');
  await settled(page);
  const wrong = must((await fetchData(server.base, '/api/v1/overview')).wrong);
  const line = must(await page.textContent('.verdictline'))
    .replaceAll(/\s+/g, ' ')
    .trim();
  check(line.startsWith(`${wrong.total} wrong: `), line);
  for (const group of wrong.groups) check(line.includes(`${group.cases} ${group.text}`), line);
  await page.click('.verdictline a[href*="trouble="]');
  await page.waitForURL('**/mismatches?trouble=*');
  await settled(page);
  await becomes(() => page.locator('.queue a').count(), wrong.groups[0].cases, 'the cases behind the count');
});

test('right_stacks_of_managed_code_are_a_table_of_the_run', async () => {
  const page = await open('/runs/30');
  await settled(page);
  const rows = page.locator('[aria-label="Right stacks of managed code"] tbody tr');
  same(await rows.count(), 2, 'phases');
  const said = (await rows.allInnerTexts()).join(' ');
  for (const text of ['throws', '934 of 1,000', '66 refused', '1 wrong', 'not measured'])
    check(said.includes(text), `${text} is not in ${said}`);
  for (const [name, size] of /** @type {[string, {width: number, height: number}][]} */ ([
    ['wide', WIDE],
    ['narrow', NARROW],
  ])) {
    await showIn(page, size, 'light');
    await rows.first().scrollIntoViewIfNeeded();
    await shot(page, `managed-${name}`);
  }
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('an_engine_without_a_stack_keeps_its_column', async () => {
  const page = await open('/');
  await changeAnswers(
    page,
    '**/api/v1/runs/30/cases/inline_chain.ob2',
    (/** @type {{data: Answers['/api/v1/runs/{run}/cases/{case}']}} */ body) => {
      const { case: c, threads } = body.data;
      const dump = c.engines.findIndex((e) => e.engine === 'dump');
      for (const t of threads) {
        t.stacks[dump] = null;
        for (const row of t.rows) row[dump + 1] = { mark: 'gap', cause: null, frame: null };
      }
      Object.assign(must(c.scores.find((s) => s.engine === 'dump')), {
        state: 'skipped',
        judged: false,
        exact: false,
        reason: 'the case has no dump',
      });
      Object.assign(body.data, {
        sentence: 'Wrong: the process died and left no dump.',
        trouble: 'no_dump',
      });
      return body;
    },
  );
  await page.goto(`${server.base}/runs/30/mismatches/inline_chain.ob2`);
  await settled(page);
  const heads = await page.locator('.aligned thead th').allTextContents();
  check(heads.includes('dump'), `columns: ${heads}`);
  const why = await page.textContent('.aligned .nostack');
  same(why, 'no stack: the case has no dump', 'why the column is empty');
  await says(page, '.tools', 'no stack of dump to compare', 'no word of "no row differs"');
  await becomes(
    () => page.textContent('.sentence'),
    'Wrong: the process died and left no dump.',
    'the sentence',
  );
  await shot(page, 'case-no-dump');
});

test('no_figure_is_rounded_to_all_of_them', async () => {
  const page = await open('/');
  /** @type {(body: {data: {shares: Share[], figures: Record<string, {value: number}>}}) => unknown} */
  const nearlyAll = (body) => {
    body.data.shares[0] = { ...body.data.shares[0], right: 99_999, total: 100_000 };
    body.data.figures.capture_rate.value = body.data.figures.exact.value = 0.99999;
    return body;
  };
  await changeAnswers(page, '**/api/v1/overview', nearlyAll);
  await page.goto(`${server.base}/`);
  await settled(page);
  const figures = await page.locator('.shares-list strong, .tile .figure').allTextContents();
  same(figures.filter((text) => text === '99.9 %').length, 3, `${figures}`);
  await closePage(page);
});

test('fast_keys_walk_the_queue_case_by_case', async () => {
  const page = await open('/runs/30/mismatches');
  await settled(page);
  const { cases } = await fetchData(server.base, '/api/v1/runs/{run}/queue', { run: 30 });
  for (let i = 0; i < 6; i++) await page.keyboard.press('j', { delay: 0 });
  const want = cases[6];
  await page.waitForFunction(
    (name) => document.querySelector('.casehead h1')?.textContent === name,
    `${want.scenario}.${want.variant}`,
  );
});

test('keys', async () => {
  const page = await open('/runs/30/mismatches');
  await settled(page);
  const name = () => page.textContent('.casehead h1');
  const first = await name();
  await page.keyboard.press('j');
  await page.waitForFunction((old) => document.querySelector('.casehead h1')?.textContent !== old, first);
  check(page.url().includes('/mismatches/'), 'j is in the address');
  await page.keyboard.press('k');
  await page.waitForFunction((old) => document.querySelector('.casehead h1')?.textContent === old, first);
  await page.goto(`${server.base}/runs/30/mismatches/inline_chain.ob2`);
  await settled(page);
  const rows = await page.locator('.aligned tbody tr').count();
  await page.keyboard.press('i');
  await page.waitForFunction((n) => document.querySelectorAll('.aligned tbody tr').length < n, rows);
  check(page.url().includes('inlines=0'), 'i is in the address');
  await page.keyboard.press('i');
  await page.keyboard.press('o');
  await page.waitForFunction(() => location.search.includes('absolute=1'));
  await page.keyboard.press('e');
  await page.waitForSelector('.drawer');
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction(() => location.search.includes('frame='));
  await page.keyboard.press('?');
  await page.waitForSelector('.sheet');
  await shot(page, 'keys');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !document.querySelector('.sheet'));
  await page.keyboard.press('5');
  await page.waitForURL('**/timing');
  await page.goBack();
  await settled(page);
  await page.keyboard.press('/');
  await holds(
    () => page.evaluate(() => /** @type {HTMLInputElement} */ (document.activeElement).type === 'search'),
    '/ goes to the search',
  );
  await closePage(page);
});

test('a_row_is_explained_with_its_source', async () => {
  const page = await open('/runs/30/mismatches/inline_chain.ob2?frame=3');
  await settled(page);
  await page.waitForSelector('.code .marked');
  await becomes(
    () => page.locator('.code .marked .lineno').textContent(),
    '46',
    'the line that the truth names',
  );
  await becomes(
    async () => (await page.locator('.code .marked .by').allTextContents()).join(''),
    'TOD',
    'who names it',
  );
  await says(page, '.source h3', 'victims/crash/scenario.c:46', 'the file');
  await becomes(() => page.locator('.steps li').count(), 3, 'unwind codes');
  await becomes(() => page.locator('.steps .idle').count(), 1, 'one had not run');
  await says(page, '.instructions .pc', 'mov dword ptr [rax], 1', 'the instruction at the pc');
  await page.getByRole('button', { name: 'whole file' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.code li').length === 180);
  await says(page, '.code', '</script><img src=x', 'hostile source is text');
  same(await page.locator('main img').count(), 0, 'and nothing else');
  await shot(page, 'why');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('a_difference_is_accepted_and_taken_out_again', async () => {
  const file = scratch('web-known.txt');
  const writing = await serve('--db', scratch('runs.db'), '--allow-write', '--known', file);
  const page = await open(`${writing.base}/runs/30/mismatches?verdict=FAIL#token=${writing.token}`);
  await settled(page);
  await page.keyboard.press('a');
  await page.fill('input[name=reason]', 'seen, understood, wrong');
  await page.getByRole('button', { name: 'Accept', exact: true }).click();
  await page.waitForSelector('.drawer .good');
  check(readFileSync(file, 'utf8').includes('reason: seen, understood, wrong'), 'it is in the file');
  await page.goto(`${writing.base}/known`);
  await settled(page);
  await becomes(() => page.locator('main tbody tr').count(), 1, 'it is on the page');
  await shot(page, 'known-write');
  await page.getByRole('button', { name: /remove/ }).click();
  await page.waitForFunction(() => !document.querySelector('main tbody tr'));
  check(!readFileSync(file, 'utf8').includes('seen, understood'), 'it is out of the file');
  same(page.complaints, [], 'complaints');
  await closePage(page);
  await writing.stop();
});

test('databases_of_other_versions_are_said', async () => {
  for (const { version, words } of [
    { version: 99, words: 'newer than this program' },
    { version: 1, words: 'older than this program' },
  ]) {
    const file = seed(`version-${version}.db`, 1, 2, 0);
    const bytes = readFileSync(file);
    bytes.writeUInt32BE(version, 60); // user_version, in the header
    writeFileSync(file, bytes);
    const other = await serve('--db', file);
    const page = await open(`${other.base}/`);
    await page.waitForSelector('.state.bad');
    await says(page, '.state.bad', words);
    await shot(page, `version-${version}`);
    await closePage(page);
    await other.stop();
  }
});

test('a_history_shows_the_lines_that_its_stack_names', async () => {
  const page = await open('/cases/inline_chain/ob2');
  await page.waitForSelector('.code .marked');
  await becomes(
    async () => (await page.locator('.code .marked .by').allTextContents()).join(''),
    'TOD',
    'who names the line',
  );
  await closePage(page);
});

test('the_address_is_the_view', async () => {
  const page = await open('/runs/30?verdict=PASS&kind=hang');
  await settled(page);
  const shown = await page.locator('.grid tbody th.mono').allTextContents();
  check(
    shown.every((text) => ['deadlock', 'spin'].includes(text)),
    `hangs only: ${shown}`,
  );
  await page.goto(`${server.base}/runs`);
  await settled(page);
  await page.locator('tbody input').nth(0).check();
  await page.locator('tbody input').nth(1).check();
  await page.getByRole('button', { name: /Compare/ }).click();
  await page.waitForURL('**/compare/29/30');
  await page.goBack();
  await page.waitForURL('**/runs?tick=*');
  await closePage(page);
});

test('hostile_names_are_text', async () => {
  for (const path of [
    `/runs/30/mismatches/${hostileCase}?frame=0`,
    '/runs/30',
    '/hooks',
    `/cases/${encodeURIComponent(hostile)}/ob2`,
  ]) {
    const page = await open(path);
    await settled(page);
    await says(page, 'main', hostile, `${path} shows the name`);
    check(
      !(await page.title()).includes('owned') || (await page.title()).includes('<script>'),
      `${path} ran the name`,
    );
    same(await page.locator('main script, main img').count(), 0, 'elements made of names');
    same(page.complaints, [], 'complaints');
    await closePage(page);
  }
});

test('missing_things_are_said', async () => {
  const page = await open('/runs/4242');
  await page.waitForSelector('.state.bad');
  await says(page, '.state.bad', 'nothing here', 'an absent run is said');
  check(!/absent|\b404\b/.test(must(await page.textContent('.state.bad'))), 'words of the program');
  await shot(page, 'absent');
  same(must(await page.goto(`${server.base}/nope/`)).status(), 404, 'no page');
  await says(page, '.state', 'no such page', 'an absent page is said');
  await closePage(page);
});

test('one_of_a_thing_is_in_the_singular', async () => {
  const one = await serve('--db', seed('one.db', 1, 1, 0));
  const page = await open(`${one.base}/`);
  const wrong = [];
  for (const [, path] of pages) {
    await page.goto(one.base + path.replaceAll('30', '1'));
    await settled(page);
    const found = /.{0,30}(?<![\d.,])1 (runs|cases|stacks|frames|scenarios|rows|lines|days|modules)\b/.exec(
      must(await page.textContent('main')),
    );
    if (found) wrong.push(`${path}: ${found[0]}`);
  }
  same(wrong, [], 'words');
  await page.goto(`${one.base}/runs`);
  await says(page, '.pager', '1 run');
  await closePage(page);
  await one.stop();
});

test('an_empty_database_says_how_to_fill_it', async () => {
  const empty = await serve('--db', seed('empty.db', 0, 0, 0));
  const page = await open(`${empty.base}/`);
  await page.waitForSelector('.state');
  await says(page, '.state', 'twinstack run', 'the first step is named');
  await shot(page, 'empty');
  await closePage(page);
  await empty.stop();
});

test('a_database_that_is_not_there_yet_is_waited_for', async () => {
  const db = scratch('later.db');
  const early = await serve('--wait', '--db', db);
  same((await fetch(`${early.base}/healthz`)).status, 200, 'health');
  const overview = await fetchData(early.base, '/api/v1/overview');
  same([overview.total_runs, overview.run], [0, null], 'as of an empty database');
  check(!existsSync(db), 'serving makes no database');
  const page = await open(`${early.base}/`);
  await page.waitForSelector('.state');
  await says(page, '.state', 'No run yet: waiting', 'it says that it waits');
  await shot(page, 'waiting');
  seed('later.db', 1, 4, 0);
  await page.waitForSelector('.tiles');
  same(page.complaints, [], 'complaints');
  await closePage(page);
  same(await early.stop(), 0, 'how it ended');
});

test('a_file_that_is_no_database_ends_the_start', async () => {
  writeFileSync(scratch('not.db'), 'this is no database, it only looks like a file that is long enough');
  writeFileSync(scratch('empty-file.db'), '');
  const cut = readFileSync(seed('cut.db', 1, 2, 0)).subarray(0, 5000);
  writeFileSync(scratch('cut.db'), cut);
  for (const [name, words] of [
    ['not.db', 'not a database'],
    ['missing.db', 'absent'],
    ['empty-file.db', 'empty'],
    ['cut.db', 'damaged'],
  ]) {
    const said = await serve('--db', scratch(name)).then(
      (other) => other.stop().then(() => 'it serves'),
      (error) => error.message,
    );
    check(said.includes('ended with 4') && said.includes(words) && said.includes(name), `${name}: ${said}`);
  }
});

test('a_share_is_the_same_on_page_and_badge', async () => {
  const page = await open('/');
  await settled(page);
  for (const [metric, title] of [
    ['exact', 'Exact stacks'],
    ['f1', 'Frame F1'],
    ['capture_rate', 'Captured either way'],
  ]) {
    const { message } = await (await fetch(`${server.base}/badge/${metric}.json`)).json();
    const tile = page.locator('.tile', { hasText: title });
    same(await tile.locator('.figure').innerText(), message, metric);
  }
  await closePage(page);
});

test('a_dot_is_named_and_opens_its_case', async () => {
  const page = await open('/timing');
  await settled(page);
  await page.locator('.tools select').selectOption('bytes');
  await page.waitForURL('**/timing?measure=bytes');
  await settled(page);
  await page.mouse.move(...(await findDot(page, '.plot .u-over', 0.5, 'timing')));
  const said = must(await page.locator('.near a').first().textContent());
  check(/^[\w<].*: (record|dump) .*B$/.test(said), `a dot's case: ${said}`);
  await page.mouse.down();
  await page.mouse.up();
  await page.waitForURL('**/mismatches/*');
  await settled(page);
  await holds(
    async () => said.startsWith(must(await page.textContent('.casehead h1'))),
    'the case of the dot',
  );
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('a_run_in_progress_appears_by_itself', async () => {
  const db = scratch('live.db');
  seed('live.db', 2, 4, 0);
  const going = await serve('--db', db);
  const page = await open(`${going.base}/runs`);
  await settled(page);
  await becomes(() => page.locator('tbody tr').count(), 2, 'rows before');
  await page.waitForFunction(() => /live|polling/.test(document.querySelector('.live')?.textContent ?? ''));
  seed('live.db', 1, 4, 0);
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 3);
  await closePage(page);
  await going.stop();
});

test('who_gets_no_stream_asks_by_itself', async () => {
  const db = scratch('polled.db');
  seed('polled.db', 1, 4, 0);
  const full = await serve('--db', db);
  const stop = new AbortController();
  for (let i = 0; i < 32; i++)
    same((await fetch(`${full.base}/api/v1/events`, { signal: stop.signal })).status, 200, 'a stream');
  const page = await open(`${full.base}/runs`);
  await settled(page);
  await page.waitForFunction(() => document.querySelector('.live')?.textContent.includes('polling'));
  seed('polled.db', 1, 4, 0);
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 2);
  stop.abort();
  same(page.complaints, [], 'complaints');
  await closePage(page);
  await full.stop();
});

test('a_failure_prints_with_its_address_and_date', async () => {
  const page = await open('/runs/99999');
  await settled(page);
  await printsWhole(page, 'gone', `${server.base}/runs/99999`);
  await closePage(page);
});

test('the_glossary_explains_and_words_carry_it', async () => {
  const page = await open('/about');
  await settled(page);
  await page.click('a[href="/glossary"]');
  await page.waitForURL('**/glossary');
  const words = await page.locator('.glossary dt').allTextContents();
  check(words.length >= 25 && words.includes('reference engine'), `${words.length} words`);
  await page.goto(`${server.base}/compare/1/30`);
  await settled(page);
  await holds(
    async () => must(await page.locator('abbr.term').first().getAttribute('title')).length > 20,
    'a meaning on hover',
  );
  await closePage(page);
});

await runAll();
