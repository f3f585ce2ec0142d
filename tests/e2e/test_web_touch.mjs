// Mouse and touch must reach everything that keys reach: links, steps, downloads, acceptances, sources.
import {
  becomes,
  browser,
  changeAnswers,
  check,
  fetchData,
  holds,
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
  closePage,
  drawn,
} from './web/world.mjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
/** @import { Answers } from 'openapi' */
/** @import { Options, Page } from './web/world.mjs' */
/** @import { Locator } from 'playwright-core' */

const chromium = await browser();
// All cases share one folder, which has a dump.
const kept = join(root, 'corpus/cases/inline_chain.ob2');
process.env.SEED_FOLDER = kept;
const db = seed('touched.db', 30, 24, 0);
delete process.env.SEED_FOLDER;
const server = await serve('--db', db);
/** @type {(path: string, options?: Options) => Promise<Page>} */
const open = (path, options) =>
  openPage(chromium, path.startsWith('http') ? path : server.base + path, {
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  });
/** @param {Page} page */
const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());
/** @type {(page: Page, name: string) => Locator} */
const button = (page, name) => page.getByRole('button', { name, exact: true });
const queue = async () => {
  const { cases } = await fetchData(server.base, '/api/v1/runs/{run}/queue', { run: 30 });
  return cases.map((c) => ({
    name: `${c.scenario}.${c.variant}`,
    fails: ['FAIL', 'XPASS', 'FLAKY', 'ERROR'].includes(c.verdict),
  }));
};

/** @typedef {{data: Answers['/api/v1/runs/{run}/cases/{case}']}} Body */

const sizes = /** @type {[string, {viewport: {width: number, height: number}}][]} */ ([
  ['mouse', { viewport: { width: 1280, height: 860 } }],
  ['touch', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
]);

for (const [by, options] of sizes) {
  /** @param {Locator} target */
  const press = (target) => (by === 'touch' ? target.tap() : target.click());

  test(`${by}_copies_a_link_that_stays`, async () => {
    const page = await open('/runs/latest/mismatches/inline_chain.ob2?frame=3&verdict=PASS', options);
    await settled(page);
    await press(button(page, 'Copy link'));
    await page.waitForFunction(() => document.querySelector('.tools')?.textContent.includes('link copied'));
    await becomes(
      () => clipboard(page),
      `${server.base}/runs/30/mismatches/inline_chain.ob2?frame=3`,
      'the run by its number',
    );
    await shot(page, `touch-case-${options.viewport.width}`);
    for (const [path, want] of [
      ['/runs/latest?verdict=PASS', '/runs/30?verdict=PASS'],
      ['/compare/latest~1/latest', '/compare/29/30'],
    ]) {
      await page.goto(server.base + path);
      await settled(page);
      await press(button(page, 'Copy link'));
      await page.waitForFunction(() => document.querySelector('main')?.textContent.includes('link copied'));
      await becomes(() => clipboard(page), server.base + want, path);
    }
    same(page.complaints, [], 'complaints');
    await closePage(page);
  });

  test(`${by}_steps_through_what_fails`, async () => {
    const cases = await queue();
    const failing = cases.filter((c) => c.fails).map((c) => c.name);
    check(failing.length > 1 && failing.length < cases.length, `${failing.length} of ${cases.length} fail`);
    const page = await open('/runs/30/mismatches', options);
    await settled(page);
    await holds(() => button(page, 'Previous failing').isDisabled(), 'the first one has none before it');
    /** @param {string} name */
    const shows = (name) =>
      page.waitForFunction((n) => document.querySelector('.casehead h1')?.textContent === n, name);
    for (const name of failing.slice(1)) {
      await press(button(page, 'Next failing'));
      await shows(name);
    }
    await holds(() => button(page, 'Next failing').isDisabled(), 'the last one has none after it');
    await press(button(page, 'Previous failing'));
    await shows(failing[failing.length - 2]);
    await page.goto(`${server.base}/runs/30/mismatches/${encodeURIComponent(cases[cases.length - 1].name)}`);
    await settled(page);
    await page.waitForSelector('.queue [aria-current]');
    await press(button(page, 'Previous failing'));
    await shows(failing[failing.length - 1]);
    await closePage(page);
  });

  test(`${by}_downloads_what_is_kept`, async () => {
    const page = await open('/runs/latest/mismatches/inline_chain.ob2', options);
    await settled(page);
    /** @type {(name: string) => Promise<[string, Buffer]>} */
    const download = async (name) => {
      const target = page.locator('.downloads').getByText(name, { exact: true });
      const [file] = await Promise.all([page.waitForEvent('download'), press(target)]);
      return [file.suggestedFilename(), readFileSync(await file.path())];
    };
    const [record, bytes] = await download('record');
    same([record, [...bytes]], ['run-30-inline_chain.ob2-record.rec', [0, 1, 2]], 'the record');
    const [dump, whole] = await download('dump');
    same(dump, 'run-30-inline_chain.ob2-dump.dmp', 'its name');
    check(whole.equals(readFileSync(join(kept, 'dump.dmp'))), 'the dump, bit by bit');
    const [name, text] = await download('stacks');
    /** @type {Body['data']} */
    const got = JSON.parse(text.toString());
    same(
      [name, got.run, got.case.scenario, got.threads.length],
      ['run-30-inline_chain.ob2.json', 30, 'inline_chain', 1],
      'the case',
    );
    same(page.complaints, [], 'complaints');
    await closePage(page);
  });

  test(`${by}_accepts_a_failure`, async () => {
    const known = scratch(`known-${by}.txt`);
    const writing = await serve('--db', db, '--allow-write', '--known', known);
    const page = await open(
      `${writing.base}/runs/30/mismatches?verdict=FAIL#token=${writing.token}`,
      options,
    );
    await settled(page);
    await press(button(page, 'Accept…'));
    await page.fill('input[name=reason]', 'seen and understood');
    await press(button(page, 'Accept'));
    await page.waitForSelector('.drawer .good');
    check(readFileSync(known, 'utf8').includes('reason: seen and understood'), 'it is in the file');
    await press(button(page, 'close'));
    await page.goto(`${writing.base}/runs/30/mismatches?verdict=PASS`);
    await settled(page);
    await becomes(() => button(page, 'Accept…').count(), 0, 'nothing to accept where nothing fails');
    await closePage(page);
    await writing.stop();
  });

  test(`${by}_shares_and_copies_a_resolved_stack`, async () => {
    const page = await open('/resolve', options);
    const stack = '> a crash\napp.exe!0x17d7\n<b>&.exe!0x1bb4\n';
    await page.fill('textarea', stack);
    await press(button(page, 'Resolve'));
    await page.waitForSelector('.panel table');
    await press(button(page, 'Copy as text'));
    await page.waitForFunction(() => document.querySelector('main')?.textContent.includes('copied as text'));
    const text = await clipboard(page);
    check(text.startsWith('> a crash\napp.exe!0x17d7'), text);
    await press(button(page, 'Copy link'));
    await page.waitForFunction(() => document.querySelector('main')?.textContent.includes('link copied'));
    const link = await clipboard(page);
    check(link.startsWith(`${server.base}/resolve#stack=`), link);
    const other = await open(link, options);
    await other.waitForSelector('.panel table');
    await becomes(() => other.inputValue('textarea'), stack, 'the shared stack');
    await becomes(() => other.locator('.panel tbody tr').count(), 2, 'and it is resolved');
    same([...page.complaints, ...other.complaints], [], 'complaints');
    await closePage(other);
    await closePage(page);
  });

  test(`${by}_opens_the_source_of_a_file_name`, async () => {
    const page = await open('/runs/30/mismatches/inline_chain.ob2', options);
    await settled(page);
    const name = page.locator('#row-3 a.src').first();
    await becomes(() => name.textContent(), 'scenario.c:46', 'the name of a kept file');
    await press(name);
    await page.waitForSelector('.code .marked');
    await becomes(() => page.locator('.code .marked .lineno').textContent(), '46', 'its line');
    check(page.url().endsWith('?frame=3'), page.url());
    await shot(page, `touch-source-${options.viewport.width}`);
    await changeAnswers(page, '**/api/v1/runs/30/cases/inline_chain.ob2', (/** @type {Body} */ body) => {
      body.data.artifacts = [];
      return body;
    });
    await page.goto(`${server.base}/runs/30/mismatches/inline_chain.ob2`);
    await settled(page);
    await becomes(
      async () => [await page.locator('a.src').count(), (await page.locator('span.src').count()) > 0],
      [0, true],
      'no link where no source was kept',
    );
    await closePage(page);
  });
}

test('a_dump_comes_in_ranges', async () => {
  const whole = readFileSync(join(kept, 'dump.dmp'));
  const at = `${server.base}/api/v1/runs/30/cases/inline_chain.ob2/dump`;
  const last = whole.length - 1;
  /** @type {[string | null, number, number?, number?][]} */
  const rows = [
    [null, 200, 0, last],
    ['bytes=0-3', 206, 0, 3],
    ['bytes=100-', 206, 100, last],
    ['bytes=-8', 206, whole.length - 8, last],
    ['bytes=5-99999999999999', 206, 5, last],
    [`bytes=${whole.length}-`, 416],
    ['bytes=-0', 416],
    ['bytes=9-3', 200, 0, last],
    ['bytes=1-2,5-6', 200, 0, last],
    ['bytes=a-b', 200, 0, last],
    ['lines=0-3', 200, 0, last],
  ];
  for (const [range, status, begin, end] of rows) {
    const answer = await fetch(at, { headers: range ? { Range: range } : {} });
    const got = Buffer.from(await answer.arrayBuffer());
    same(answer.status, status, `${range}`);
    if (status === 206)
      same(answer.headers.get('content-range'), `bytes ${begin}-${end}/${whole.length}`, `${range}`);
    const want = end === undefined ? Buffer.alloc(0) : whole.subarray(begin, end + 1);
    check(got.equals(want), `${range}: bytes`);
  }
  const etag = must((await fetch(at, { method: 'HEAD' })).headers.get('etag'));
  for (const { tag, status } of [
    { tag: etag, status: 206 },
    { tag: '"older"', status: 200 },
  ]) {
    const answer = await fetch(at, { headers: { Range: 'bytes=0-3', 'If-Range': tag } });
    await answer.arrayBuffer();
    same(answer.status, status, `If-Range: ${tag}`);
  }
  same((await fetch(at.replace('/inline_chain.ob2', '/nope.ob2'))).status, 404, 'no such case');
});

test('a_file_name_leads_to_the_web_where_only_source_link_has_it', async () => {
  const page = await open('/runs/30/mismatches/inline_chain.ob2?frame=3');
  await settled(page);
  const address = 'https://example.invalid/raw/victims/crash/scenario.c';
  const web = page.locator('.source h3 a', { hasText: 'source on the web' });
  await becomes(() => web.getAttribute('href'), address, 'beside a source that was kept');
  for (const [url, want] of /** @type {[string, string | null][]} */ ([
    [address, address],
    ['javascript:alert(1)', null],
    ['data:text/html,x', null],
  ])) {
    await page.unrouteAll();
    await changeAnswers(page, '**/api/v1/runs/30/cases/inline_chain.ob2', (/** @type {Body} */ body) => {
      const links = body.data.artifacts.filter((a) => a.role === 'source_link');
      body.data.artifacts = links.map((a) => ({ ...a, url }));
      return body;
    });
    await page.goto(`${server.base}/runs/30/mismatches/inline_chain.ob2`);
    await settled(page);
    const found = await page
      .locator('#row-3 .src')
      .evaluateAll((all) => all.map((a) => a.getAttribute('href')));
    same([...new Set(found)], [want], url);
  }
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('a_file_name_opens_the_editor_that_is_set', async () => {
  const page = await open('/runs/30/mismatches/inline_chain.ob2?frame=3');
  await settled(page);
  await page.getByText('Open files in an editor').click();
  const address = page.locator('input[name=editor]');
  await address.fill('vscode://file/home/me/{file}:{line}');
  await address.blur();
  await becomes(
    () => page.locator('.source h3 a.mono').getAttribute('href'),
    'vscode://file/home/me/victims/crash/scenario.c:46',
    'the name of the source',
  );
  await address.fill('javascript:alert({line})');
  await address.blur();
  await becomes(() => page.locator('.source h3 a.mono').count(), 0, 'no such link');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('a_drawer_covers_nothing', async () => {
  for (const [width, height, beside] of /** @type {[number, number, boolean][]} */ ([
    [390, 844, false],
    [1280, 860, false],
    [1700, 900, true],
  ])) {
    const page = await open('/runs/30/mismatches/inline_chain.ob2?frame=3', { viewport: { width, height } });
    await settled(page);
    await page.waitForSelector('.code .marked');
    let found = '';
    await holds(
      async () => {
        const { stacks, row, drawer } = await page.evaluate(() => {
          /** @type {(part: string) => Omit<DOMRect, 'toJSON'>} */
          const box = (part) => {
            const first = document.querySelector(part);
            if (!first) throw new Error(`${part} is not there`);
            return first.getBoundingClientRect().toJSON();
          };
          return { stacks: box('.besides > .scroll'), row: box('#row-3'), drawer: box('.drawer') };
        });
        found = JSON.stringify({ stacks, row, drawer });
        return (
          (beside ? drawer.left >= stacks.right : drawer.top >= stacks.bottom) &&
          row.top >= stacks.top &&
          row.bottom <= Math.min(stacks.bottom, height) &&
          drawer.top < height - 100
        );
      },
      () => `row and drawer show, side by side or one below the other, ${width}: ${found}`,
    );
    const [inside, wide] = await page.$eval('.detail', (part) => [part.clientWidth, part.scrollWidth]);
    check(wide <= inside, `${width}: ${wide} in ${inside}`);
    await shot(page, `touch-drawer-${width}`);
    await closePage(page);
  }
});

test('on_a_phone_the_stack_is_on_the_first_screen', async () => {
  for (const [width, most] of [
    [390, 560],
    [320, 660],
  ]) {
    const page = await open('/runs/30/mismatches/inline_chain.ob2', { viewport: { width, height: 844 } });
    await settled(page);
    const top = must(await page.locator('.aligned tbody tr').first().boundingBox()).y;
    check(top <= most, `${width} px wide: the first row is at ${top}`);
    check(await page.getByRole('button', { name: 'Copy', exact: true }).isVisible(), 'and what follows it');
    await shot(page, `phone-case-${width}`, { fullPage: true });
    await closePage(page);
  }
});

test('the_key_tab_goes_down_the_page_of_a_case', async () => {
  for (const width of [390, 1360]) {
    const page = await open('/runs/30/mismatches/inline_chain.ob2', { viewport: { width, height: 844 } });
    await settled(page);
    const places = await page.evaluate(() => {
      const detail = /** @type {HTMLElement} */ (document.querySelector('.detail'));
      return [...detail.querySelectorAll('a[href], button, select, input, summary')]
        .filter((part) => part.getClientRects().length > 0 && !part.closest('table'))
        .map((part) => ({ top: part.getBoundingClientRect().top, said: part.textContent ?? '' }));
    });
    check(places.length > 10, `${places.length} places`);
    const up = places.filter(({ top }, i) => i > 0 && top < places[i - 1].top - 40).map(({ said }) => said);
    same(up, [], `${width} px wide: above what was before it`);
    await closePage(page);
  }
});

test('on_a_phone_both_ways_are_read_without_a_swipe', async () => {
  for (const width of [390, 320])
    for (const [path, label, cells] of [
      ['/runs/30/mismatches/inline_chain.ob2', 'Aligned stacks', 'td'],
      ['/', 'Both ways', 'td'],
      ['/timing', 'Which way is faster', 'td'],
      ['/timing', 'Cost of a million crashes', 'td'],
      ['/timing', 'In the dying process', 'td'],
    ]) {
      const page = await open(path, { viewport: { width, height: 844 } });
      await settled(page);
      const table = page.locator(`[aria-label="${label}"]`);
      await table.first().scrollIntoViewIfNeeded();
      const places = await table
        .locator(cells)
        .evaluateAll((all) =>
          all
            .map((cell) => ({ ...cell.getBoundingClientRect().toJSON(), text: cell.textContent }))
            .filter(({ width: wide }) => wide > 0),
        );
      check(places.length > 3, `${label}, ${width} px wide: ${places.length} cells`);
      for (const { left, right, text } of places)
        check(left >= 0 && right <= width, `${label}, ${width} px wide: ${text} from ${left} to ${right}`);
      await closePage(page);
    }
});

test('on_a_phone_the_ways_of_a_row_are_beside_each_other', async () => {
  const page = await open('/runs/30/mismatches/inline_chain.ob2', { viewport: { width: 320, height: 844 } });
  await settled(page);
  const heads = await page.locator('.aligned thead th').allTextContents();
  const tops = await page
    .locator('.aligned tbody tr')
    .first()
    .locator('td')
    .evaluateAll((all) => all.map((cell) => cell.getBoundingClientRect().top));
  same(heads.slice(1, 4), ['truth', 'offset:rtl', 'dump'], 'the columns');
  same(tops[2], tops[3], `the two ways, below the truth: ${tops}`);
  check(tops[1] < tops[2], `the truth is above them: ${tops}`);
  await closePage(page);
});

test('on_timing_the_picture_is_between_the_ratio_and_its_table', async () => {
  for (const [width, media] of /** @type {[number, 'screen' | 'print'][]} */ ([
    [1440, 'screen'],
    [390, 'screen'],
    [320, 'screen'],
    [700, 'print'],
  ])) {
    const where = `${width} px wide, ${media}`;
    const page = await open('/timing', { viewport: { width, height: 900 } });
    await page.emulateMedia({ media });
    await settled(page);
    const box = async (/** @type {string} */ part) => must(await page.locator(part).boundingBox(), part);
    const ratio = await box('.benched .headline');
    const picture = await box('[aria-label="One crash"]');
    const table = await box('[aria-label="Which way is faster"]');
    check(ratio.y + ratio.height <= picture.y, `${where}: the ratio is first`);
    check(picture.y + picture.height <= table.y, `${where}: the table is below the picture`);
    check(picture.x >= 0 && picture.x + picture.width <= width, `${where}: the picture is all to be seen`);
    const lanes = await page
      .locator('[aria-label="One crash"] .lane')
      .evaluateAll((all) => all.map((lane) => lane.getBoundingClientRect().height));
    check(
      lanes.length > 2 && Math.max(...lanes) < 30,
      `${where}: each bar and its words are one line: ${lanes}`,
    );
    await shot(page, `timing-picture-${width}-${media}`);
    await closePage(page);
  }
});

test('nothing_moves_while_a_page_comes_in', async () => {
  for (const [width, path] of /** @type {[number, string][]} */ ([
    [390, '/compare/29/30'],
    [390, '/trend?metric=f1'],
    [390, '/timing'],
    [320, '/timing'],
    [1360, '/timing'],
    [320, '/trend?metric=f1'],
  ])) {
    const page = await openPage(chromium, 'about:blank', { viewport: { width, height: 844 }, fresh: true });
    await page.addInitScript(() => {
      let sum = 0;
      new PerformanceObserver((list) => {
        for (const shift of /** @type {any[]} */ (list.getEntries()))
          if (!shift.hadRecentInput) sum += shift.value;
        document.documentElement.dataset.shift = String(sum);
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await page.goto(server.base + path);
    await settled(page);
    await page.locator('select option').nth(2).waitFor({ state: 'attached' });
    if (path !== '/compare/29/30') await page.locator('.plot canvas').first().waitFor();
    await drawn(page);
    const moved = Number((await page.locator('html').getAttribute('data-shift')) ?? 0);
    check(moved <= 0.05, `${path}, ${width} px wide: layout shift ${moved}`);
    await closePage(page);
  }
});

test('on_a_phone_what_follows_the_stacks_keeps_its_distance', async () => {
  const page = await open('/runs/30/mismatches/null_write.ob0', { viewport: { width: 390, height: 844 } });
  await settled(page);
  const ends = await page
    .locator('.case .aligned, .case > .actions, .case > .facts, .case > .downloads')
    .evaluateAll((all) =>
      all
        .map((part) => part.getBoundingClientRect())
        .sort((one, other) => one.top - other.top)
        .map(({ top, bottom }) => [top, bottom]),
    );
  same(ends.length, 4, 'stacks, buttons, facts and files');
  for (const [i, [top]] of ends.slice(1).entries())
    check(top - ends[i][1] >= 8, `part ${i + 2} begins ${top - ends[i][1]} px below the one before`);
  await closePage(page);
});

await runAll();
