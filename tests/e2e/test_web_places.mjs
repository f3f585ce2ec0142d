// Which run a page shows, which row a key opens, and where on a page Back leads.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  alter,
  becomes,
  browser,
  changeAnswers,
  check,
  closePage,
  fetchData,
  must,
  openPage,
  root,
  runAll,
  same,
  says,
  seed,
  serve,
  settled,
  shot,
  test,
  views,
} from './web/world.mjs';
import { axeFindsNothing } from './web/checks.mjs';

const chromium = await browser();
const db = seed('places.db', 8, 24, 0);
// Run 9 is a stored bench of run 8's commit: samples, and what each of 14 cases cost.  The dump way takes 12
// to 14 times as long.  Run 10 is one by a version that stored no cases.
const bench = `
same = "commit_id, platform, cpu, compiler, flags"
db.execute(f"INSERT INTO run (id, uuid, state, label, started_ns, finished_ns, {same})"
           f" SELECT 9, 'bench', 'complete', 'bench', started_ns + 1, started_ns + 2, {same} FROM run"
           " WHERE id = 8")
db.execute("INSERT INTO run (id, uuid, state, label, started_ns, finished_ns)"
           " SELECT 10, 'older', 'complete', 'bench', started_ns + 3, started_ns + 4 FROM run WHERE id = 8")
lanes = (("offset", 1000), ("dump", 13000), ("offset-control", 1010))
rows = [(lane, cold, turn, (1 + 9 * cold) * ns + turn)
        for cold in (0, 1) for turn in range(20) for lane, ns in lanes]
numbered = [(i, *row) for i, row in enumerate(rows)]
for run in (9, 10):
    db.executemany(f"INSERT INTO sample VALUES ({run}, ?, ?, 'total', ?, ?, ?)", numbered)
numbers = ((i, i // 28, i % 14, i // 14 % 2) for i in range(56))
cases = [(i, process, f"s{s}", cold, 100 + s, (100 + s) * (12 + i % 3)) for i, process, s, cold in numbers]
db.executemany("INSERT INTO bench_case VALUES (9, ?, ?, ?, 'ob2', 'x64', 'crash', ?, ?, ?)", cases)
`;
alter(db, bench);
const server = await serve('--db', db);

test('a_bench_shows_its_ratio_interval_noise_and_samples', async () => {
  const page = await openPage(chromium, `${server.base}/timing?run=9`);
  await settled(page);
  const text = must(await page.locator('main').textContent());
  check(!text.includes('Nothing was timed'), 'it was timed');
  check(
    /Bench, symbols loaded: the dump way takes 1[23]\.\d× \[1[0123]\.\d, 1[345]\.\d\] as long/.test(text),
    text,
  );
  check(text.includes('(95 % interval: x64, 14 cases of 14 scenarios, 2 processes; noise'), text);
  check(/noise \d+ %, p \S+, 20 samples of each way/.test(text), text);
  await becomes(() => page.locator('[aria-label="Bench"] tbody tr').count(), 6, 'each way, warm and cold');
  await axeFindsNothing(page, 'a bench');
  await shot(page, 'timing-bench');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('the_times_of_a_run_have_the_bench_of_its_commit_beside_them', async () => {
  const page = await openPage(chromium, `${server.base}/timing?run=8`);
  await says(page, '.benched', 'Measured by run 9, a bench of the same commit', 'the bench');
  await says(page, '.benched', 'picture and table are of this run', 'what it does not measure');
  await says(page, '.benched .headline', '× [', 'its ratio and interval');
  await says(page, '.benched .headline', 'noise', 'its noise');
  await axeFindsNothing(page, 'a run and its bench');
  await page.getByRole('link', { name: 'run 9' }).click();
  await page.waitForURL('**/timing?run=9');
  await page.goto(`${server.base}/timing?run=7`);
  await says(page, '.benched', 'twinstack bench measures it', 'another commit');
  const { text } = (await fetchData(server.base, '/api/v1/timing', { run: 8 })).speed_ratio;
  await page.goto(`${server.base}/compare/7/8`);
  await says(page, 'main', `run 8: dump : offsets ${text}`, 'the same beside the run before');
  await says(page, 'main', 'run 7: dump : offsets', 'of which there is one line, too');
  await axeFindsNothing(page, 'two runs and their ratios');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('a_bench_has_no_cases_and_says_where_its_figures_are', async () => {
  const page = await openPage(chromium, `${server.base}/runs/9/mismatches`);
  await says(page, '.side', 'This run has no case.', 'not that none fits');
  await says(page, '.detail', 'It has no case.', 'nor that there are filters');
  await page.goto(`${server.base}/runs/9`);
  await settled(page);
  for (const part of ['[aria-label=Engines]', '.counts'])
    same(await page.locator(part).count(), 0, `${part} of nothing`);
  await page.locator('main').getByRole('link', { name: 'Timing' }).click();
  await page.waitForURL('**/timing?run=9');
  await closePage(page);
});

test('a_bench_that_stored_no_cases_has_no_interval', async () => {
  const page = await openPage(chromium, `${server.base}/timing?run=10`);
  await settled(page);
  const text = must(await page.locator('main').textContent());
  check(/the dump way takes 13\.0× as long \(no interval: its cases were not stored; noise/.test(text), text);
  await closePage(page);
});

for (const at of ['timing', 'hooks', 'signatures', 'symbols'])
  test(`another_run_can_be_picked_on_${at}`, async () => {
    const page = await openPage(chromium, `${server.base}/${at}`);
    await settled(page);
    const pick = page.locator('.actions select');
    same(await pick.inputValue(), '8', 'the newest is shown');
    await becomes(() => pick.locator('option').count(), 10, 'all runs');
    await pick.selectOption('3');
    await page.waitForURL(`**/${at}?run=3`);
    await settled(page);
    same(await pick.inputValue(), '3', 'the picked one is shown');
    await page.goBack();
    await becomes(() => pick.inputValue(), '8', 'and left again');
    await axeFindsNothing(page, at);
    same(page.complaints, [], 'complaints');
    await closePage(page);
  });

test('back_leads_to_where_the_page_was_read', async () => {
  const page = await openPage(chromium, `${server.base}/runs/8`, { viewport: { width: 1000, height: 400 } });
  await settled(page);
  const top = () => page.$eval('main', (main) => Math.round(main.scrollTop));
  const causes = page.locator('.bars a').first();
  await causes.scrollIntoViewIfNeeded();
  const before = await top();
  check(before > 200, `it is ${before} pixels down`);
  await causes.click();
  await page.waitForURL('**/mismatches?cause=*');
  await settled(page);
  await page.goBack();
  await becomes(top, before, 'the place');
  await closePage(page);
});

test('a_figure_leads_to_its_history', async () => {
  for (const [path, name, said] of /** @type {[string, string, string][]} */ ([
    ['/timing', 'dump written', 'Dump write'],
    ['/cases/null_write/ob2', 'Time on the back end', 'Dump way, warm'],
    ['/cases/null_write/ob2', 'Frames right (F1 of the engines under test)', 'Frame F1'],
  ])) {
    const page = await openPage(chromium, server.base + path);
    await settled(page);
    await page.getByRole('link', { name, exact: true }).click();
    await page.waitForURL('**/trend?*');
    await says(page, '.verdictline', said, `${path}: ${name}`);
    const alone = await page.getByRole('button', { name: 'of null_write.ob2 alone' }).count();
    same(alone, Number(path !== '/timing'), 'of that case');
    await closePage(page);
  }
});

test('a_run_that_was_judged_again_says_so', async () => {
  const file = seed('again.db', 2, 12, 0);
  alter(file, `db.execute("UPDATE run SET label = 'regrade of 1' WHERE id = 2")`);
  const served = await serve('--db', file);
  for (const path of ['/', '/runs/2']) {
    const page = await openPage(chromium, served.base + path);
    await says(page, '.strip', 'regrade of run 1 ·', path);
    same(await page.locator('.strip a', { hasText: 'run 1' }).getAttribute('href'), '/runs/1', path);
    await closePage(page);
  }
  await served.stop();
});

test('the_key_e_opens_the_row_that_went_wrong_first', async () => {
  const { cases } = await fetchData(server.base, '/api/v1/runs/{run}/queue', { run: 8 });
  const { scenario, variant } = must(cases.find((c) => c.verdict === 'FAIL' && !c.repeat));
  const page = await openPage(chromium, 'about:blank');
  // The first row differs in its line, which fails nothing; what fails the case is in the next one.
  await changeAnswers(page, '**/api/v1/runs/8/cases/*', (/** @type {any} */ body) => {
    const { threads, case: c } = body.data;
    threads[0].rows[0][1].mark = 'line';
    threads[0].rows[1][1].mark = 'function';
    for (const finding of c.findings) Object.assign(finding, { row: 1, thread_id: threads[0].thread_id });
    return body;
  });
  await page.goto(`${server.base}/runs/8/mismatches/${encodeURIComponent(`${scenario}.${variant}`)}`);
  await settled(page);
  await page.keyboard.press('e');
  await page.waitForURL('**frame=*');
  same(must(await page.locator('.drawer h2').first().textContent()), 'Why row 1', 'the drawer');
  await closePage(page);
});

test('the_glossary_has_every_engine_and_every_sign', async () => {
  const page = await openPage(chromium, `${server.base}/glossary`);
  await settled(page);
  const words = await page.locator('.glossary dt').allTextContents();
  const sources = ['analyze/engine', 'capture'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((file) => /\.[ch]$/.test(file))
      .map((file) => readFileSync(join(root, folder, file), 'utf8')),
  );
  const engines = sources.flatMap((text) => [
    ...[...text.matchAll(/WALKER\(\w+, \d, "([\w-]+)"/g)].map(([, name]) => `offset:${name}`),
    ...[...text.matchAll(/"(judge:[\w-]+|dump-plain)"/g)].map(([, name]) => name),
  ]);
  check(new Set(engines).size >= 15, `${engines.length} engines`);
  same(
    ['dump', ...engines].filter((name) => !words.includes(must(name))),
    [],
    'engines without a word',
  );
  for (const sign of ['✓', '~', '⊘', '◌']) check(words.includes(sign), `${sign} is explained`);
  await closePage(page);
});

test('signs_of_bars_have_a_legend_beside_them', async () => {
  const page = await openPage(chromium, 'about:blank');
  const verdicts = { PASS: 1, FAIL: 1, XFAIL: 2, UNSUPPORTED: 3, 'NOT-CAPTURED-AS-EXPECTED': 4 };
  const legend = [
    '✓ as expected',
    '✗ not as expected',
    '~ wrong, and accepted with a reason',
    '⊘ this host cannot show it',
    '◌ left nothing, as expected',
  ];
  await changeAnswers(page, '**/api/v1/**', (/** @type {any} */ body) => {
    for (const run of [body.data?.run, ...(body.data?.runs ?? [])])
      if (run?.verdicts) run.verdicts = verdicts;
    return body;
  });
  for (const view of ['/', '/runs/8', '/runs'])
    for (const width of [1440, 390, 320]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(server.base + view);
      await settled(page);
      same(await page.locator('.legend').first().locator('span').allInnerTexts(), legend, view);
      check(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        `${view} at ${width}`,
      );
    }
  await closePage(page);
});

// Also where only one case of a run has it.
test('each_sign_is_in_a_legend_of_its_page_and_in_the_glossary', async () => {
  const page = await openPage(chromium, `${server.base}/glossary`);
  await settled(page);
  const explained = (await page.locator('.glossary dt').allInnerTexts()).map((text) => text.split(' ')[0]);
  await changeAnswers(page, '**/api/v1/**', (/** @type {any} */ body) => {
    const { cases, engines, apart, case: one } = body.data ?? {};
    const subject = cases?.marks && engines.findIndex((/** @type {any} */ e) => e.subject);
    for (const [i, letter] of [...(cases?.marks ? 'auf-w' : '')].entries())
      cases.marks[i] = cases.marks[i].slice(0, subject) + letter + cases.marks[i].slice(subject + 1);
    if (apart) body.data.apart = one.engines.map((/** @type {any} */ e) => e.engine);
    if (Array.isArray(cases))
      for (const [i, verdict] of ['FAIL', 'XFAIL', 'UNSUPPORTED', 'FLAKY'].entries())
        if (cases[i]) cases[i].verdict = verdict;
    return body;
  });
  const met = new Set();
  const { key } = must(
    (await fetchData(server.base, '/api/v1/overview')).wrong?.problems[0],
    'a problem of the newest run',
  );
  for (const view of [
    ...views.filter((one) => one !== '/glossary').map((one) => one.replace('/3', '/8')),
    `/runs/8/mismatches?problem=${key}`,
    '/runs/8?references=1&fold=0',
    '/runs/8?fold=0',
  ]) {
    await page.goto(server.base + view);
    await settled(page);
    const { signs, meant } = await page.evaluate(() => {
      /** @type {(part: Element) => boolean} */
      const shows = (part) => part.getClientRects().length > 0 && !part.closest('.legend');
      /** @type {(part: Element) => string} */
      const sign = (part) => (part.textContent ?? '').trim().split(/[ \d]/)[0];
      const all = [
        '.verdict > [aria-hidden]',
        '.gridcell .verdict, .gridcell .tick',
        '.counts .bar',
        '.toggles .good, .toggles .wrong',
        '.glyph > [aria-hidden], .glyph[aria-hidden]',
        '.code .by',
        '.matrix td > [aria-hidden]',
        '.problemhead .matrix td > .wrong',
      ].flatMap((part) => [...document.querySelectorAll(`main ${part.replaceAll(', ', ', main ')}`)]);
      // "~ xfail" says what it means
      const bare = all.filter(
        (part) => !part.matches('td .verdict > *, .casehead .verdict > *, .gap .verdict > *'),
      );
      const said = [...document.querySelectorAll('main .legend span')].filter(
        (part) => part.getClientRects().length > 0,
      );
      return { signs: bare.filter(shows).map(sign).filter(Boolean), meant: said.map(sign) };
    });
    for (const one of signs) met.add(one);
    same(
      [...new Set(signs)].filter((one) => !meant.includes(one)),
      [],
      `${view}: signs without a meaning`,
    );
    const known = meant.filter((one) => /^[✓✗~!≈⚠⊘◌≠○⊗∅+TODJ]$/.test(one));
    same(
      known.filter((one) => !signs.includes(one) && !view.includes('symbols')),
      [],
      `${view}: signs that are not there`,
    );
  }
  for (const one of ['T', 'O', 'D', '≠', '✗', '○', '⚠', '·', '~'])
    check(met.has(one), `${one} is on no page`);
  same(
    [...met].filter((one) => !explained.includes(one)),
    [],
    'not in the glossary',
  );
  await closePage(page);
});

await runAll();
