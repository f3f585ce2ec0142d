// Tests the list of hooks of a run with many cases: the API in pages, and the page that shows them.
// Only this finds an answer that grows with the run.
import {
  becomes,
  browser,
  changeAnswers,
  check,
  closePage,
  fetchData,
  openPage,
  runAll,
  same,
  seed,
  serve,
  settled,
  shot,
  test,
} from './web/world.mjs';

const server = await serve('--db', seed('hooks.db', 1, 8, 400));
const chromium = await browser();
const run = 1; // with 400 cases, of which some have repeats

/** @typedef {import('openapi').Answers['/api/v1/hooks']['rows'][number]} Row */
/** @type {[string, Record<string, string | number>, (row: Row) => boolean][]} */
const queries = [
  ['all', {}, () => true],
  ['those that differ', { differs: 1 }, (row) => row.differs],
  ['one scenario', { search: 'spin.' }, (row) => row.scenario === 'spin'],
  ['second repeats, as the page writes them', { search: '#2' }, (row) => row.repeat === 1],
  ['those of one case', { search: '.ob2#2' }, (row) => row.variant === 'ob2' && row.repeat === 1],
  ['none', { search: 'no such case' }, () => false],
];

test('hooks_come_in_pages_of_the_cases_that_fit', async () => {
  const all = await fetchData(server.base, '/api/v1/hooks', { run });
  same([all.rows.length, all.fitting], [all.total, all.total], 'all of them without a limit');
  check(
    all.rows.some((row) => row.repeat > 0),
    'repeats have their number',
  );
  for (const [name, query, fits] of queries) {
    const want = all.rows.filter(fits);
    const rows = [];
    for (let after = 0; after <= want.length; after += 90) {
      const page = await fetchData(server.base, '/api/v1/hooks', { run, limit: 90, after, ...query });
      same([page.total, page.fitting, page.differing], [all.total, want.length, all.differing], name);
      check(page.rows.length <= 90, `${name}: ${page.rows.length}`);
      rows.push(...page.rows);
    }
    same(rows, want, name);
  }
  same((await fetch(`${server.base}/api/v1/hooks?differs=yes`)).status, 400, 'no number');
});

test('a_repeat_is_found_by_its_number_in_every_list', async () => {
  const { rows } = await fetchData(server.base, '/api/v1/hooks', { run, search: '#2' });
  check(rows.length > 0, 'there are second repeats');
  for (const path of /** @type {const} */ (['/api/v1/runs/{run}/queue', '/api/v1/runs/{run}/cases'])) {
    const { cases, total } = await fetchData(server.base, path, { run, search: '#2', limit: 200 });
    same([total, cases.map((c) => c.repeat)], [rows.length, rows.map(() => 1)], path);
  }
});

test('a_page_asks_for_the_rows_that_it_shows', async () => {
  const page = await openPage(chromium, `${server.base}/hooks?run=${run}`);
  /** @type {number[]} */
  const sizes = [];
  page.on('response', async (answer) => {
    if (!answer.url().includes('/api/v1/hooks')) return;
    const body = await answer.body().catch(() => null); // the browser has none once the page asked anew
    if (body) sizes.push(body.length);
  });
  await settled(page);
  const cells = page.locator('.matrix tbody a');
  const linksOf = () => cells.evaluateAll((all) => all.map((one) => one.getAttribute('href')));
  const first = await linksOf();
  const names = await cells.allInnerTexts();
  check(
    names.some((name) => name.endsWith('#2')),
    `a repeat has its number: ${names.slice(0, 4)}`,
  );
  await page.getByRole('button', { name: 'next' }).click();
  await becomes(
    async () => (await page.locator('.pager').innerText()).split(' of ')[0],
    '51–100',
    'the next page',
  );
  const second = await linksOf();
  same([first.length, second.length], [50, 50], 'rows');
  same(
    second.filter((link) => first.includes(link)),
    [],
    'each row leads to another case',
  );
  await shot(page, 'hooks-next');
  await page.getByRole('button', { name: 'only where' }).click();
  await becomes(
    async () => (await page.locator('.matrix tbody tr .v-pass').count()) === 0,
    true,
    'they differ',
  );
  check(page.url().includes('differs=1') && !page.url().includes('after'), page.url());
  await becomes(async () => sizes.length >= 2, true, 'an answer for each');
  check(Math.max(...sizes) < 20e3, `bytes of each answer: ${sizes}`);
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('hooks_that_saw_most_are_the_first_columns', async () => {
  const page = await openPage(chromium, 'about:blank');
  await changeAnswers(
    page,
    '**/api/v1/hooks*',
    (/** @type {{data: import('openapi').Answers['/api/v1/hooks']}} */ body) => {
      for (const row of body.data.hooks) row.seen = row.hook === 'vectored' ? 400 : row.seen;
      return body;
    },
  );
  await page.goto(`${server.base}/hooks?run=${run}`);
  await settled(page);
  const heads = await page.locator('.matrix thead th').allInnerTexts();
  check(heads.length > 2 && /^vectored\s+saw 400$/.test(heads[1]), `columns: ${heads}`);
  await closePage(page);
});

await runAll();
