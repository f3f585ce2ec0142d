// The page "Reference suite": the same as `score --html` writes, reached from the rail and back; a click
// shows a case.  Only this finds a page that the server's own content policy leaves without its style.
import { NARROW, axeFindsNothing } from './web/checks.mjs';
import {
  browser,
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
import { cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';

const corpus = `${root}/corpus/reference`;
const results = readdirSync(`${corpus}/results`).sort();
const db = seed('suite-runs.db', 1, 4, 0);
const server = await serve('--db', db, '--suite', corpus);
const chromium = await browser();

/**
 * @param {string} base
 * @param {Record<string, string>} headers
 */
const get = async (base, headers = {}) => {
  const answer = await fetch(`${base}/suite`, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

test('the_page_is_what_score_writes', async () => {
  const file = scratch('results.html');
  twinstack(
    'score',
    '--suite',
    corpus,
    '--html',
    file,
    ...results.map((name) => `${corpus}/results/${name}`),
  );
  const link = '<p><a href="./">dashboard</a></p>\n';
  const { status, text, headers } = await get(server.base);
  same(status, 200, 'status');
  same(headers.get('connection'), 'close', 'as this client asks; it refuses what comes else');
  check(text.includes(link), 'a link back');
  check(text.replace(link, '') === readFileSync(file, 'utf8'), 'the rest is the file');
  const policy = must(headers.get('content-security-policy'), 'a policy');
  check(/^default-src 'none'; style-src 'unsafe-inline'; /.test(String(policy)), `nothing runs: ${policy}`);
  const again = await get(server.base, { 'If-None-Match': String(headers.get('etag')) });
  same([again.status, again.text], [304, ''], 'a second visit');
});

// The page takes seconds to make. One that is too large to be kept would be made again for each visitor.
test('it_is_made_once', async () => {
  /** @type {() => Promise<number>} ticks of processor time that one answer takes */
  const cost = async () => {
    const ticks = () => {
      const fields = readFileSync(`/proc/${one.pid}/stat`, 'utf8').split(') ')[1].split(' ');
      return Number(fields[11]) + Number(fields[12]);
    };
    const before = ticks();
    same((await get(one.base, { 'Accept-Encoding': 'identity' })).status, 200, 'status');
    return ticks() - before;
  };
  const one = await serve('--db', db, '--suite', corpus);
  const first = await cost();
  const second = await cost();
  check(second * 4 < first, `the first visitor takes ${first} ticks, the second ${second}`);
  same(await one.stop(), 0, 'exit status');
});

test('tables_fit_paper_and_names_leave_room_on_a_phone', async () => {
  // What a sheet of A4 has between its margins, and a phone.
  for (const [media, width, height] of /** @type {['print' | 'screen', number, number][]} */ ([
    ['print', 1046, 718],
    ['screen', NARROW.width, NARROW.height],
  ])) {
    const page = await openPage(chromium, `${server.base}/suite`, { viewport: { width, height } });
    await page.emulateMedia({ media, colorScheme: media === 'print' ? 'dark' : 'light' });
    const tables = await page.locator('.wide').evaluateAll((all) =>
      all.map((around) => ({
        over: around.scrollWidth - around.clientWidth,
        name: around.querySelector('tbody th')?.getBoundingClientRect().width ?? 0,
        tall: Math.max(...[...around.querySelectorAll('tbody th')].map((head) => head.clientHeight)),
      })),
    );
    check(tables.length > 2, `${tables.length} tables`);
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    if (media === 'print') {
      same(Math.max(...tables.map(({ over }) => over)), 0, 'what a sheet cuts off');
      same(ground, 'rgb(255, 255, 255)', 'no ground on paper');
    } else
      check(
        tables.every(({ name }) => name <= width / 2),
        `first columns: ${tables.map(({ name }) => name)}`,
      );
    if (media === 'screen') check(tables[0].tall <= 90, `names of tools are ${tables[0].tall} tall`);
    await shot(page, `suite-${media}-${width}`);
    await closePage(page);
  }
});

test('a_click_shows_a_case_and_leads_back', async () => {
  const page = await openPage(chromium, server.base);
  await settled(page);
  await page.locator('.rail li a', { hasText: /^Suite$/ }).click();
  await page.waitForURL('**/suite');
  const [first] = await page.locator('h2').allTextContents();
  same(first, 'Wrong in one tool only', 'what comes first');
  const border = await page
    .locator('td')
    .first()
    .evaluate((cell) => getComputedStyle(cell).borderTopStyle);
  same(border, 'solid', 'the style is in force');
  const example = page.locator('table').first().locator('td a').first();
  const id = must(await example.textContent());
  await example.click();
  const shown = page
    .locator('details:not(.shape)', { has: page.locator('summary', { hasText: id }) })
    .first()
    .locator('pre');
  await shown.waitFor({ state: 'visible' });
  const text = must(await shown.textContent());
  for (const word of [
    'rule: ',
    'truth:',
    'wrong: ',
    'right: ',
    `again: twinstack score --cmd COMMAND -k '${id}'`,
  ])
    check(text.includes(word), `${word} in ${text}`);
  await shot(page, 'suite-case');
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  check(height < 60e3, `cases are folded by shape: ${height} px high`);
  await page.getByText('dashboard', { exact: true }).click();
  await settled(page);
  same(new URL(page.url()).pathname, '/', 'the way back');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('a_changed_result_is_shown_and_a_broken_one_is_refused', async () => {
  const folder = scratch('suite');
  mkdirSync(`${folder}/results`, { recursive: true });
  for (const name of readdirSync(corpus))
    if (name !== 'results') symlinkSync(`${corpus}/${name}`, `${folder}/${name}`);
  const own = await serve('--db', db, '--suite', folder);
  const rows = async () => (await get(own.base)).text.match(/, (\d+) tools/)?.[1];
  same(await rows(), '0', 'no result yet');
  cpSync(`${corpus}/results/twinstack.json`, `${folder}/results/a.json`);
  same(await rows(), '1', 'one came');
  cpSync(`${corpus}/results/gdb-13.json`, `${folder}/results/b.json`);
  writeFileSync(`${folder}/results/notes.txt`, 'no result');
  same(await rows(), '2', 'a second one, and another file');
  const page = await openPage(chromium, `${own.base}/suite`);
  await axeFindsNothing(page, 'the page of two tools');
  await closePage(page);
  writeFileSync(`${folder}/results/c.json`, '{}');
  const broken = await get(own.base);
  same(broken.status, 422, 'a broken one');
  check(broken.text.includes('make it with'), broken.text);
  await own.stop();
});

test('a_case_has_what_a_tool_answered_and_the_code_of_its_step', async () => {
  const folder = scratch('suite-answers');
  mkdirSync(`${folder}/results`, { recursive: true });
  for (const name of readdirSync(corpus))
    if (name !== 'results') symlinkSync(`${corpus}/${name}`, `${folder}/${name}`);
  const id = 'moments/x64/push/rbx/called/0003';
  /** @type {(name: string, rest: object) => void} */
  const put = (name, rest) =>
    writeFileSync(
      `${folder}/results/${name}.json`,
      JSON.stringify({
        ...{ result: 1, tool: { name, version: '1', bugs: null }, edition: '1', when: '2026-11-28' },
        ...rest,
      }),
    );
  put('right', { cases: { right: [id] } });
  const frames = [
    { ip: '0x180001120', sp: '0x107ffed8' },
    { ip: '0x180001141', sp: '0x107ffee0' },
    { ip: '0xbad', sp: null },
  ];
  put('wrong', { cases: { wrong: [id] }, answers: { [id]: { first: 2, frames, left_out: 1 } } });
  const own = await serve('--db', db, '--suite', folder);
  for (const options of [{}, { viewport: NARROW, colorScheme: /** @type {const} */ ('dark') }]) {
    const page = await openPage(chromium, `${own.base}/suite`, options);
    await page.locator('td a', { hasText: id }).click();
    const shown = page.locator('pre');
    await shown.waitFor({ state: 'visible' });
    const lines = String(await shown.textContent()).split('\n');
    const at = lines.indexOf('wrong 1 answered:');
    same(
      lines.slice(at, at + 6).map((line) => line.trim()),
      [
        ...['wrong 1 answered:', '180001120  sp 107ffed8', '180001141  sp 107ffee0', 'bad'],
        ...['and 1 more', 'code at the step out of frame 1:'],
      ],
      'the frames, then the code',
    );
    check(
      lines.some((line) => /^ {2}call 18000113c {2}call 0x180001120 +e8 df/.test(line)),
      `the call that returns: ${lines}`,
    );
    check(
      lines.some((line) => /^ {2}pc {3}180001141 {2}nop +90$/.test(line)),
      'where it returns to',
    );
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    check(wide <= 0, `${wide} px too wide`);
    await shot(page, `suite-code${options.viewport ? '-360' : ''}`);
    await axeFindsNothing(page, 'a case of the suite');
    await closePage(page);
  }
  await own.stop();
});

test('a_server_without_a_suite_says_how_to_have_one', async () => {
  const bare = await serve('--db', db, '--suite', scratch('no-such-suite'));
  const { status, text } = await get(bare.base);
  same(status, 404, 'status');
  check(text.includes('serve --suite DIR'), text);
  await bare.stop();
});

await runAll();
