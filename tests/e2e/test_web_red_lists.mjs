// Lists of a red day: differences are its problems, the rest of a list is a link, and nothing moves.
import {
  alter,
  becomes,
  browser,
  check,
  closePage,
  fetchData,
  openPage,
  runAll,
  same,
  says,
  seed,
  serve,
  settled,
  test,
  views,
} from './web/world.mjs';
import { textOf } from './web/checks.mjs';

const STEP = 'wrong step by UWOP';
const SILENT = 'offset:rtl has, where the truth is silent';
const ONE = `dump lacks a frame that ${SILENT}, in ntdll.dll (${STEP}_ALLOC_SMALL)`;
const TWO = `dump lacks a frame that ran, in victims-*.exe (${STEP}_SET_FPREG)`;
const server = await serve('--db', seed('red.db', 3, 24, 480, 'red'));
const chromium = await browser();

test('the_queue_begins_with_the_problems', async () => {
  const page = await openPage(chromium, `${server.base}/runs/4/mismatches`);
  await settled(page);
  const lines = page.locator('.queueproblems li');
  same(
    (await lines.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')),
    [`360 cases: ${ONE}`, `120 cases: ${TWO}`],
    'before the 480 cases',
  );
  await lines.nth(1).getByRole('link').click();
  await page.waitForURL('**/runs/4/mismatches?problem=*');
  await says(page, '.problemhead h1', `120 cases: ${TWO}`);
  same(await lines.count(), 0, 'one problem is chosen');
  await closePage(page);
});

test('differences_are_the_problems_and_their_rest_is_a_link', async () => {
  const page = await openPage(chromium, `${server.base}/signatures`);
  await settled(page);
  const rows = page.locator('tbody tr');
  const texts = (await rows.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
  same(texts.length, 2, `one row for each fault: ${texts}`);
  check(texts[0].includes(ONE) && texts[1].includes(TWO), `${texts}`);
  same(await rows.locator('td.strong').allInnerTexts(), ['360', '120'], 'as many cases as on the overview');
  check(
    texts.every((text) => /since run 4 \(/.test(text)),
    `since when: ${texts}`,
  );
  const examples = await rows.first().locator('td').last().locator('a').allInnerTexts();
  same(
    [new Set(examples).size, examples.at(-1)],
    [4, 'and 357 more'],
    `three cases and the rest: ${examples}`,
  );
  await rows.nth(1).getByRole('link', { name: 'and 117 more' }).click();
  await page.waitForURL('**/runs/4/mismatches?problem=*');
  await says(page, '.problemhead h1', `120 cases: ${TWO}`);
  await says(page, '.pager', 'of 120', 'all of them');
  await page.goBack();
  await rows
    .nth(1)
    .getByRole('link', { name: /: dump=wrong_step/ })
    .first()
    .click();
  await page.waitForURL('**signature=*');
  await settled(page);
  await says(page, '.pager', 'of 120', 'of one signature');
  await page.getByRole('button', { name: /^dump=wrong_step ✕/ }).click();
  await page.waitForURL((url) => !url.search.includes('signature'));
  await closePage(page);
  const { cases } = await fetchData(server.base, '/api/v1/runs/{run}/queue', {
    run: 4,
    signature: 'dump=wrong_step',
    limit: 1,
  });
  same(cases[0].signature, 'dump=wrong_step', 'the queue has the filter');
  const none = await fetchData(server.base, '/api/v1/runs/{run}/queue', { run: 4, signature: 'dump=wrong' });
  same(none.total, 0, 'a part of a signature is none');
});

test('a_run_says_since_when_its_problems_are_there_as_the_overview_does', async () => {
  const page = await openPage(chromium, `${server.base}/`);
  await settled(page);
  /** @type {(part: string) => Promise<string[]>} */
  const sinceIn = async (part) =>
    (await page.locator(part).allInnerTexts()).map((text) => /since [^·]+/.exec(text)?.[0] ?? '');
  const known = await sinceIn('.casegroups li');
  check(
    known.length > 1 && known.every((text) => /^since run 4 \(\w+\), run 3 was good/.test(text)),
    `${known}`,
  );
  await page.goto(`${server.base}/runs/4`);
  await settled(page);
  same(await sinceIn('.failing li'), known, 'the same words');
  const { data } = await (await fetch(`${server.base}/api/v1/runs/4`)).json();
  same(data.failing[0].since.run, 4, 'and in the answer');
  await closePage(page);
});

test('the_queue_is_in_one_order_and_counts_what_a_search_finds', async () => {
  const run = 4;
  const of = {
    run,
    problem: (await fetchData(server.base, '/api/v1/overview')).wrong?.problems[0].key ?? '',
  };
  /** @type {(c: {scenario: string, variant: string, repeat: number}) => string} */
  const name = (c) => `${c.scenario} ${c.variant} ${String(c.repeat).padStart(4, '0')}`;
  const { cases, total } = await fetchData(server.base, '/api/v1/runs/{run}/queue', { ...of, limit: 200 });
  same(cases.map(name), cases.map(name).sort(), 'by name, and then as they were repeated');
  const pages = [];
  for (let after = 0; pages.length < total;) {
    const part = await fetchData(server.base, '/api/v1/runs/{run}/queue', { ...of, limit: 70, after });
    pages.push(...part.cases.map(name));
    after = part.next ?? 0;
    check(part.cases.length > 0 && (after > 0 || pages.length === total), `${pages.length} of ${total}`);
  }
  same(pages.slice(0, 200), cases.slice(0, 200).map(name), 'in pages of another length');
  same(new Set(pages).size, total, 'each once');
  const one = `${cases[0].scenario}.${cases[0].variant}`;
  const found = await fetchData(server.base, '/api/v1/runs/{run}/queue', { run, search: one, limit: 200 });
  check(
    found.total > 0 && found.total < 480 && found.cases.every((c) => `${c.scenario}.${c.variant}` === one),
    one,
  );
  const page = await openPage(chromium, `${server.base}/runs/${run}/mismatches`);
  await settled(page);
  await page.fill('input[type=search]', one);
  await says(page, '.side', `${found.total} of 480 cases`);
  await becomes(
    async () => [...new Set(await page.locator('.queue a bdi').allInnerTexts())],
    [one],
    'only this case',
  );
  await page.fill('input[type=search]', 'no.such');
  await says(page, '.side', 'No case fits.');
  await closePage(page);
});

// 600 cases that fail now, and did not.
const many = seed('many.db', 2, 600, 0);
alter(many, 'db.execute("UPDATE crash_case SET scenario = scenario || \'_\' || repeat, repeat = 0")');
alter(many, 'db.execute("UPDATE crash_case SET verdict = \'PASS\' WHERE run_id = 1")');
alter(many, "db.execute(\"UPDATE crash_case SET verdict = 'FAIL', reason = 'it fails' WHERE run_id = 2\")");
const large = await serve('--db', many);

test('every_rest_of_a_list_is_a_link_to_it', async () => {
  const page = await openPage(chromium, 'about:blank');
  for (const base of [server.base, large.base])
    for (const view of [...views.map((one) => one.replace('/3', '/latest')), '/compare/1/latest']) {
      await page.goto(base + view);
      await settled(page);
      const loose = await page.evaluate(() =>
        [...document.querySelectorAll('body *')]
          .filter((one) => !one.closest('a'))
          .map((one) => [...one.childNodes].map((n) => (n.nodeType === 3 ? n.nodeValue : '')).join(''))
          .filter((text) => /\band [\d,]+ more\b(?! frame| fact)/.test(text)),
      );
      same(loose, [], view);
    }
  await page.goto(`${large.base}/compare/1/2`);
  await settled(page);
  const fresh = page.locator('section', { has: page.locator('h2', { hasText: 'New failures' }) });
  await fresh.getByRole('button', { name: 'show' }).click();
  for (const [shown, left] of [
    ['1–200', 'and 400 more'],
    ['201–400', 'and 200 more'],
    ['401–600', ''],
  ]) {
    await becomes(() => fresh.locator('tbody a').count(), 200, `as many as it says: ${shown}`);
    await says(page, 'main', `${shown} of 600 cases`, 'which of them');
    if (left) await fresh.getByRole('link', { name: left }).click();
  }
  same(await fresh.getByRole('link', { name: /more/ }).count(), 0, 'the end');
  await fresh.getByRole('link', { name: 'the 400 before' }).click();
  await says(page, 'main', '201–400 of 600 cases', 'and back');
  await closePage(page);
});

// What is folded on the screen cannot be opened on paper.
test('what_is_folded_is_on_paper', async () => {
  const { changes } = await fetchData(large.base, '/api/v1/compare', { a: 1, b: 2 });
  for (const [view, head, names] of /** @type {[string, string, string[]][]} */ ([
    ['/compare/1/2', 'New failures', changes.new.map(({ scenario, variant }) => `${scenario}.${variant}`)],
    ['/trend', 'Every run, as a table', ['started', 'commit', 'branch', 'platform']],
  ])) {
    const page = await openPage(chromium, large.base + view);
    await says(page, 'main', head, 'the folded part');
    await settled(page);
    await page.emulateMedia({ media: 'print' });
    const text = textOf(await page.pdf({ format: 'A4' })).replace(/\s+/g, '');
    const part = text.slice(text.indexOf(head.replace(/\s+/g, '')));
    same(
      names.filter((name) => !part.includes(name)),
      [],
      `${view}: not on paper`,
    );
    await closePage(page);
  }
});

test('nothing_moves_on_any_page_of_a_red_day', async () => {
  for (const width of [1440, 390, 320]) {
    const page = await openPage(chromium, 'about:blank', { viewport: { width, height: 844 }, fresh: true });
    await page.addInitScript(() => {
      let sum = 0;
      new PerformanceObserver((list) => {
        for (const shift of /** @type {any[]} */ (list.getEntries()))
          if (!shift.hadRecentInput) sum += shift.value;
        document.documentElement.dataset.shift = String(sum);
      }).observe({ type: 'layout-shift', buffered: true });
    });
    for (const view of views.map((one) => one.replace('/3', '/latest'))) {
      await page.goto(server.base + view);
      await settled(page);
      const [moved, wide] = await page.evaluate(() => [
        Number(document.documentElement.dataset.shift ?? 0),
        document.documentElement.scrollWidth,
      ]);
      check(moved <= 0.05, `${view}, ${width} px wide: layout shift ${moved}`);
      check(wide <= width, `${view} is ${wide} px wide on ${width}`);
      if (width > 860) continue;
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll('.scroll:has(> .stacking)')]
          .filter((box) => box.scrollWidth > box.clientWidth + 1)
          .map((box) => `${box.getAttribute('aria-label')}: ${box.scrollWidth}`),
      );
      same(cut, [], `${view} at ${width}: rows that are cut off`);
    }
    await closePage(page);
  }
});

test('no_figure_is_broken_within_a_word', async () => {
  const page = await openPage(chromium, `${server.base}/`);
  for (const width of [320, 360, 390, 480, 560, 680, 768, 900, 1024, 1360]) {
    await page.setViewportSize({ width, height: 844 });
    await settled(page);
    const broken = await page.evaluate(() => {
      const words = [];
      for (const figure of document.querySelectorAll('.tile .figure')) {
        const text = figure.firstChild;
        const range = document.createRange();
        for (const { 0: word, index } of (text?.nodeValue ?? '').matchAll(/\S+/g)) {
          range.setStart(/** @type {Node} */ (text), index);
          range.setEnd(/** @type {Node} */ (text), index + word.length);
          if (range.getClientRects().length > 1) words.push(word);
        }
      }
      return words;
    });
    same(broken, [], `${width} px wide`);
  }
  await closePage(page);
});

await runAll();
