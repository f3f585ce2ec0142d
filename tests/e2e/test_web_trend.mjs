// Tests figures over many runs: the document of the trend page, and the summary sentence of Compare.
import {
  Ajv,
  alter,
  becomes,
  browser,
  changeAnswers,
  check,
  fetchData,
  findDot,
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
  closePage,
} from './web/world.mjs';
import { readFileSync } from 'node:fs';
/** @import { Answers } from 'openapi' */

const db = seed('trend.db', 40, 24, 0);
// Made runs have no times of a new process, of which the speed is made.
const starts = `
for figure, ns in (("paired_dump_ns", 3000), ("paired_offset_ns", 1000)):
    db.execute("INSERT INTO run_median SELECT id, ?, 24, ? + id FROM run", (figure, ns))
`;
alter(db, starts);
const server = await serve('--db', db);
const chromium = await browser();
/** @type {(metric: string, query?: Record<string, string | number>) => Promise<Answers['/api/v1/trend']>} */
const trend = (metric, query) => fetchData(server.base, '/api/v1/trend', { metric, ...query });
/** @type {(a: number, b: number) => Promise<Answers['/api/v1/compare']>} */
const compared = (a, b) => fetchData(server.base, '/api/v1/compare', { a, b });

test('every_figure_is_listed_and_can_be_asked_for', async () => {
  const spec = JSON.parse(readFileSync(`${root}/dashboard/web/openapi.json`, 'utf8'));
  const ajv = new (Ajv())({ strict: false });
  ajv.addSchema(spec, 'spec');
  const schema = spec.paths['/api/v1/trend'].get.responses['200'].content['application/json'].schema;
  const fits = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"spec#/')));
  const { figures } = await trend('f1');
  check(figures.length >= 12, `${figures.length} figures`);
  for (const { name } of figures) {
    const answer = await fetch(`${server.base}/api/v1/trend?metric=${name}&limit=1000`);
    const body = await answer.json();
    check(fits(body), `${name}: ${JSON.stringify(fits.errors?.slice(0, 3))}`);
    same(body.data.trend.points.length, 40, name);
  }
  /** @type {import('openapi').Error} */
  const { error } = await (await fetch(`${server.base}/api/v1/trend?metric=mood`)).json();
  for (const { name } of figures) check(must(error.hint).includes(name), `the hint lacks ${name}`);
});

test('a_step_is_found_with_its_run_and_commit', async () => {
  const found = await trend('dump_write_ns', { limit: 40 });
  same(
    found.levels.map((level) => level.change),
    [null, 'worse'],
    found.sentence,
  );
  const [before, now] = found.levels;
  same(
    [before.from_run, before.to_run, now.last_run_before],
    [1, now.from_run - 1, now.from_run - 1],
    'they meet',
  );
  check(
    found.sentence.startsWith(`Worse since run ${now.from_run} of 20`) &&
      found.sentence.includes(must(now.commit).slice(0, 12)),
    found.sentence,
  );
  const still = await trend('record_write_ns', { limit: 40 });
  check(still.sentence.startsWith('No change'), still.sentence);
});

test('runs_are_chosen_by_branch_platform_and_number', async () => {
  /** @param {Record<string, string | number>} query */
  const points = async (query) =>
    (await trend('f1', { limit: 1000, ...query })).trend.points.map((point) => point.run);
  same((await points({ branch: 'main' })).length, 40, 'its branch');
  same(await points({ branch: 'none' }), [], 'another branch');
  same(await points({ until: 3 }), [1, 2, 3], 'up to a run');
  same((await points({ scenario: 'spin' })).length, 40, 'of one scenario');
  const { branches, platforms } = await trend('f1');
  same([branches, platforms], [['main'], ['linux x86-64, wine 8.0']], 'what there is to choose');
});

test('compare_says_in_one_sentence_what_differs', async () => {
  const { sentence, totals } = await compared(3, 12);
  check(sentence.startsWith('From run 3 to run 12: ') && sentence.endsWith('.'), sentence);
  if (totals.new)
    check(
      sentence.includes(`${totals.new} case${totals.new > 1 ? 's fail' : ' fails'} that did not`),
      sentence,
    );
  same((await compared(12, 12)).sentence.includes('no verdict differs'), true, 'a run with itself');
});

test('the_page_says_since_when_and_leads_to_run_and_comparison', async () => {
  const page = await openPage(chromium, `${server.base}/trend?metric=dump_write_ns`);
  await settled(page);
  const { levels } = await trend('dump_write_ns', { limit: 100 });
  const now = must(levels.at(-1));
  const said = must(await page.textContent('.verdictline'));
  check(said.includes(`Worse since run ${now.from_run} of`), said);
  await becomes(() => page.locator('main canvas').count(), 1, 'a plot');
  await shot(page, 'trend');
  const compare = page.getByRole('link', { name: `compare with run ${now.last_run_before}` });
  await becomes(
    () => compare.getAttribute('href'),
    `/compare/${now.last_run_before}/${now.from_run}`,
    'the change',
  );
  await page.mouse.click(...(await findDot(page, '.plot .u-over', 0.5, 'trend')));
  await page.waitForSelector('.chosen');
  const run = Number(must(/run=(\d+)/.exec(page.url()))[1]);
  await becomes(
    () => page.locator('.chosen a').evaluateAll((links) => links.map((a) => a.getAttribute('href'))),
    [`/runs/${run}`, `/compare/${run - 1}/${run}`],
    'a point leads to its run and to the run before',
  );
  await page.getByLabel('figure').selectOption('f1');
  await page.waitForFunction(() =>
    document.querySelector('.verdictline')?.textContent.startsWith('Frame F1'),
  );
  check(page.url().includes('metric=f1'), 'the figure is in the address');
  await page.getByText('Every run, as a table').click();
  await becomes(() => page.locator('details tbody tr').count(), 40, 'each run has a row');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('compare_has_pickers_for_both_runs', async () => {
  const page = await openPage(chromium, `${server.base}/compare`);
  await settled(page);
  await page.locator('main select').nth(0).selectOption('3');
  await page.waitForURL('**/compare/3/40');
  await page.locator('main select').nth(1).selectOption('12');
  await page.waitForURL('**/compare/3/12');
  await page.waitForFunction(() =>
    /^From run 3 to run 12: /.test(document.querySelector('.verdictline')?.textContent ?? ''),
  );
  await shot(page, 'compare-picked');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('sparklines_have_first_and_last_value_with_dates', async () => {
  const page = await openPage(chromium, server.base);
  await settled(page);
  const said = await page.locator('.sparkline figcaption').allTextContents();
  same(said.length, 4, 'one per tile');
  for (const text of said) check(/\d.*20\d\d-\d\d-\d\d.*\d.*20\d\d-\d\d-\d\d/.test(text), text);
  await page.locator('.tile a').first().click();
  await page.waitForURL('**/trend?metric=capture_rate');
  await closePage(page);
});

test('sparklines_leave_out_runs_of_a_few_cases', async () => {
  const page = await openPage(chromium, 'about:blank');
  await changeAnswers(page, '**/api/v1/overview*', (/** @type {any} */ body) => {
    const { points } = body.data.trends.f1;
    check(
      points.every((/** @type {any} */ point) => point.counts),
      'each run has all cases',
    );
    points[2].counts = false;
    points[2].value = 0.001;
    return body;
  });
  await page.goto(server.base);
  await settled(page);
  const said = await page
    .locator('.sparkline svg')
    .evaluateAll((all) => all.map((svg) => svg.getAttribute('aria-label')?.split(',')[0]));
  same(said.filter((text) => text === '29 runs').length, 1, `one has a run less: ${said}`);
  await closePage(page);
});

test('without_a_line_a_tile_says_why', async () => {
  const page = await openPage(chromium, 'about:blank');
  let figure = '';
  await changeAnswers(page, '**/api/v1/overview*', (/** @type {any} */ body) => {
    const { exact, f1, speed_ratio: ratio } = body.data.trends;
    for (const point of exact.points.slice(0, -1)) point.counts = false;
    f1.points.splice(0, f1.points.length - 1);
    for (const point of ratio.points) Object.assign(point, { value: null, count: 0, counts: false });
    body.data.speed_ratio.text = figure;
    return body;
  });
  for (const [text, why] of /** @type {[string, string[]][]} */ ([
    ['7.0× [6.0, 8.0]', ['not measured']],
    ['not measured', []], // the figure says it
  ])) {
    figure = text;
    await page.goto(server.base);
    await settled(page);
    same(
      await page.locator('.tile .spark.none').allTextContents(),
      ['no other run of about as many cases', 'one run so far', ...why],
      'a run of other cases is no reason to say that there is one run',
    );
  }
  await closePage(page);
});

test('the_counts_of_causes_are_one_column', async () => {
  const page = await openPage(chromium, server.base);
  await settled(page);
  const edges = await page.locator('.bars li > :last-child').evaluateAll((all) =>
    all.map((count) => {
      const text = document.createRange();
      text.selectNodeContents(count);
      return text.getBoundingClientRect().left;
    }),
  );
  check(edges.length > 1, 'several causes');
  same(new Set(edges).size, 1, `${edges}`);
  await closePage(page);
});

test('an_unknown_figure_is_said_and_another_one_can_be_chosen', async () => {
  const page = await openPage(chromium, `${server.base}/trend?metric=mood&limit=30`);
  await says(page, '[role=alert]', 'no figure has this name');
  const pick = page.getByLabel('figure');
  same(await pick.inputValue(), 'mood', 'what the address says');
  await pick.selectOption('f1');
  await page.waitForURL('**metric=f1*');
  await says(page, '.verdictline', 'F1');
  same(await page.locator('[role=alert]').count(), 0, 'no error');
  same(await pick.locator('option[value=mood]').count(), 0, 'and no such choice');
  await closePage(page);
});

test('figures_of_several_processors_are_apart_and_say_of_which_they_are', async () => {
  const mixed = seed('mixed.db', 8, 24, 0);
  alter(
    mixed,
    `
db.execute("UPDATE run_median SET median = 2 WHERE figure = 'arch' AND run_id <= 2")
db.execute("UPDATE crash_case SET arch = 'arm64' WHERE variant = 'ob0' AND run_id = 8")
`,
  );
  const own = await serve('--db', mixed);
  /** @type {Answers['/api/v1/trend']} */
  const found = await fetchData(own.base, '/api/v1/trend', { metric: 'dump_write_ns' });
  same(
    [found.arch, ...found.trend.points.map(({ arch, counts }) => `${arch} ${counts}`)],
    ['x64', 'arm64 false', 'arm64 false', ...Array(6).fill('x64 true')],
    'a level is of one processor',
  );
  const page = await openPage(chromium, `${own.base}/trend?metric=dump_write_ns&run=2`);
  check(
    (await page.locator('.verdictline').innerText()).startsWith('Dump write, x64. '),
    'the processor is beside the figure',
  );
  const chosen = await page.locator('.chosen').innerText();
  check(/ of \d+ samples, arm64 \(not compared/.test(chosen), chosen);
  await page.goto(`${own.base}/timing`);
  await settled(page);
  const shown = await page
    .locator('h2')
    .filter({ hasText: /Stages|capture/ })
    .allInnerTexts();
  same(
    shown,
    ['x64', 'arm64'].flatMap((arch) => [
      `Stages on the back end, ${arch}`,
      `What a capture costs the program, ${arch}`,
    ]),
    'each processor has its own',
  );
  const links = page.locator('section:has(.stagelist)');
  same(
    [(await links.nth(0).locator('a').count()) > 3, await links.nth(1).locator('a').count()],
    [true, 0],
    'only the figures that Trend has lead there',
  );
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('a_share_and_a_ratio_are_rounded_as_on_other_faces', async () => {
  const odd = seed('odd.db', 8, 24, 0);
  alter(
    odd,
    `
db.execute("UPDATE run_engine SET judged = 30000, exact = 29999 WHERE subject")
for figure, ns in (("paired_dump_ns", 1250), ("paired_offset_ns", 1000)):
    db.execute("INSERT OR REPLACE INTO run_median SELECT id, ?, 24, ? FROM run", (figure, ns))
`,
  );
  const own = await serve('--db', odd);
  const page = await openPage(chromium, `${own.base}/`);
  await settled(page);
  const tile = page.locator('.tile').filter({ hasText: 'Plain dump : offsets' });
  check(/^1\.25×\s/.test(await tile.locator('figcaption').innerText()), await tile.innerText());
  for (const [metric, shown] of [
    ['exact', '99.99 %'],
    ['speed_ratio', '1.25×'],
  ]) {
    await page.goto(`${own.base}/trend?metric=${metric}&run=8`);
    await settled(page);
    for (const part of ['.verdictline', '.chosen']) {
      const text = await page.locator(part).innerText();
      check(text.includes(shown), text);
    }
  }
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

await runAll();
