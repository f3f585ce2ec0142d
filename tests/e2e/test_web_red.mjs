// A red day: two faults break every case of a run.  Pages show two problems, not 480 sentences.
import { readFileSync } from 'node:fs';
import { NARROW, axeFindsNothing } from './web/checks.mjs';
import {
  alter,
  becomes,
  browser,
  changeAnswers,
  check,
  closePage,
  inDays,
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
  twinstack,
} from './web/world.mjs';

/** @import { Answers } from 'openapi' */

const STEP = 'wrong step by UWOP';
const SILENT = 'offset:rtl has, where the truth is silent';
const ONE = `dump lacks a frame that ${SILENT}, in ntdll.dll (${STEP}_ALLOC_SMALL)`;
const TWO = `dump lacks a frame that ran, in victims-*.exe (${STEP}_SET_FPREG)`;
const red = seed('red.db', 3, 24, 480, 'red');
// Two findings that have four rows: three alike, and one after them.
const apart = `
case, = db.execute("SELECT max(id) FROM crash_case WHERE scenario = 'null_write' AND variant = 'ob0'"
                   ).fetchone()
frames = "stack_id = (SELECT id FROM stack WHERE case_id = ? AND claim = 1) AND row IN (1, 2, 3)"
db.execute("INSERT INTO text (value) SELECT value || '; and 2 more frames' FROM text"
           " WHERE id = (SELECT evidence_text FROM finding WHERE case_id = ? AND position = 0)", (case,))
db.execute("UPDATE finding SET row = 1 + 3 * position WHERE case_id = ?", (case,))
db.execute("UPDATE finding SET evidence_text = last_insert_rowid(), fact_more = 2"
           " WHERE case_id = ? AND position = 0", (case,))
db.execute(f"UPDATE stack_frame SET mark = 3 WHERE {frames}", (case,))
`;
alter(red, apart);
const server = await serve('--db', red);
const chromium = await browser();

/** @type {(path: string) => ReturnType<typeof openPage>} */
const open = async (path) => {
  const page = await openPage(chromium, server.base + path);
  await settled(page);
  return page;
};
/** @type {(page: import('playwright-core').Page) => Promise<string[]>} */
const lines = async (page) =>
  (await page.locator('.casegroups li').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));

test('overview_and_compare_show_two_problems', async () => {
  // Compare counts a case that ran twenty times once.
  for (const [path, one, two] of /** @type {[string, number, number][]} */ ([
    ['/', 360, 120],
    ['/compare/3/4', 18, 6],
  ])) {
    const page = await open(path);
    const shown = await lines(page);
    same(shown.length, 2, `${path}: ${shown}`);
    check(shown[0].startsWith(`${one} cases: ${ONE} blame: walk of dump`), `${path}: ${shown[0]}`);
    check(shown[1].startsWith(`${two} cases: ${TWO} blame: walk of dump`), `${path}: ${shown[1]}`);
    check(
      shown.every((line) => /since run 4 \(/.test(line)),
      `${path}: since when: ${shown}`,
    );
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    check(height < 4000, `${path}: ${height} px high`);
    await shot(page, `red${path.replaceAll('/', '-')}`);
    await axeFindsNothing(page, path);
    await closePage(page);
  }
});

test('no_text_of_a_tile_is_over_another', async () => {
  for (const width of [1440, 794, 390]) {
    const page = await openPage(chromium, server.base, { viewport: { width, height: 860 } });
    await settled(page);
    const over = await page.locator('.tile').evaluateAll((tiles) =>
      tiles.flatMap((tile) => {
        const boxes = [...tile.children].map((part) => {
          const range = document.createRange();
          range.selectNodeContents(part);
          return range.getBoundingClientRect();
        });
        const after = boxes.filter((box, i) => i > 0 && box.top < boxes[i - 1].bottom - 3);
        return after.length > 0 ? [tile.textContent] : [];
      }),
    );
    same(over, [], `tiles at ${width}`);
    await closePage(page);
  }
});

test('the_sentence_of_a_case_counts_the_rows_of_its_table', async () => {
  for (const [name, rows] of /** @type {[string, number][]} */ ([
    ['null_write.ob0?repeat=19', 4],
    ['null_write.ob0', 1],
  ])) {
    const page = await open(`/runs/4/mismatches/${name}`);
    const sentence = must(await page.locator('.sentence').textContent());
    const counted = [...sentence.matchAll(/ in (\d+) (?:place|more)/g)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    );
    same(counted, rows, `${name}: ${sentence}`);
    await says(page, '.tools', rows === 1 ? '1 row differs' : `${rows} rows differ`, name);
    same(await page.locator('tr.differs').count(), rows, `${name}: rows of the table`);
    await closePage(page);
  }
});

test('bars_are_on_paper', async () => {
  for (const [path, bars] of /** @type {[string, string[]][]} */ ([
    ['/timing', ['.lane i', '.stage .seg', '.legend i']],
    ['/', ['.track .fill']],
  ])) {
    const page = await open(path);
    await page.emulateMedia({ media: 'print' });
    for (const bar of bars) {
      await page.locator(bar).first().waitFor({ state: 'attached' });
      const printed = await page
        .locator(bar)
        .evaluateAll((all) => all.every((one) => getComputedStyle(one).printColorAdjust === 'exact'));
      same(printed, true, `${path}: ${bar}`);
    }
    await closePage(page);
  }
});

test('a_time_has_its_history_one_click_away', async () => {
  for (const [name, metric] of [
    ['offset:rtl', 'offset_ns'],
    ['dump', 'dump_ns'],
    ['x64 plain dump : offsets', 'speed_ratio'],
  ]) {
    const page = await open('/timing');
    same(
      await page
        .locator('.lanes')
        .evaluateAll((all) =>
          all
            .filter((one) => one.textContent === 'not measured')
            .every((one) => getComputedStyle(one, '::before').content === 'none'),
        ),
      true,
      'no line through a word',
    );
    await page.getByRole('link', { name, exact: true }).click();
    await page.waitForURL(`**/trend?metric=${metric}`);
    await closePage(page);
  }
});

test('each_case_that_changed_is_listed_once', async () => {
  const page = await open('/');
  const fresh = page.locator('.panel.bad', { hasText: 'New failures' });
  const names = await fresh.locator('li a').allInnerTexts();
  same(names.length, 9, 'eight cases and the rest');
  same(new Set(names.map((name) => name.replace(/#.*/, '').trim())).size, 9, `${names}`);
  const count = Number(await fresh.locator('h2 .count').innerText());
  same(names.at(-1), `and ${count - 8} more`, 'with as many as it says');
  await fresh.locator('li a').last().click();
  await page.waitForURL('**/compare/1/4');
  await says(page, '.verdictline', `${count} cases fail that did not, 5 cases differ for another reason`);
  await says(page, 'main', 'What broke 2 problems in 24 cases', 'each case is new or has another reason');
  await closePage(page);
});

test('what_is_wrong_and_what_is_not_agreed_are_two_counts', async () => {
  const page = await open('/');
  const line = (await page.locator('.verdictline').innerText()).replace(/\s+/g, ' ');
  check(
    line.startsWith(
      '480 wrong: 360 with stacks that differ where the truth is silent, 120 with a wrong stack;',
    ),
    line,
  );
  const shares = (await page.locator('.shares-list').innerText()).replace(/\s+/g, ' ');
  check(shares.includes('360 of 480 cases'), `dump is exact in the 360 where the truth is silent: ${shares}`);
  await closePage(page);
});

test('repeats_of_a_case_have_numbers_where_its_name_is_cut', async () => {
  const page = await open('/runs/4/mismatches');
  const second = page.locator('.queue li a').nth(1);
  const box = async (/** @type {string} */ part) => must(await second.locator(part).boundingBox());
  const name = await box('bdi');
  const number = await box('bdi + span');
  check(/^#\d+$/.test(await second.locator('bdi + span').innerText()), 'which of them');
  check(name.x + name.width <= number.x, 'after the name, which is cut');
  await closePage(page);
});

test('a_problem_has_its_page_with_only_its_cases', async () => {
  const page = await open('/');
  await page.locator('.casegroups a.strong').nth(1).click();
  await page.locator('.queue li a').first().waitFor();
  await settled(page);
  check(page.url().includes('problem='), page.url());
  same(await page.locator('.problemhead h1').innerText(), `120 cases: ${TWO}`, 'its sentence');
  const names = await page.locator('.queue li a bdi').allInnerTexts();
  check((await page.locator('.pager').innerText()).includes('of 120'), 'as many as it says');
  same(await page.locator('.queue .group').innerText(), 'failing 120', 'as many as the filter leaves');
  check(
    names.every((name) => /^(null_write|noreturn_tail|recursion)\./.test(name)),
    `other cases: ${names.slice(0, 5)}`,
  );
  same(
    await page
      .locator('.problemhead .matrix tr')
      .evaluateAll((rows) =>
        rows.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? '')),
      ),
    [
      ['scenario', 'ob0', 'ob2', 'cases'],
      ['noreturn_tail', '✗ 20', '✗ 20', '40'],
      ['null_write', '✗ 20', '✗ 20', '40'],
      ['recursion', '✗ 20', '✗ 20', '40'],
    ],
    'all cases of it by scenario and build',
  );
  check(
    (await page.locator('.sentence').innerText()).startsWith(
      'Wrong: the stack of dump differs from what really ran',
    ),
    'a case against the truth',
  );
  same(
    await page.locator('.aligned tr[aria-selected=true]').allInnerTexts(),
    await page.locator('.aligned tr', { hasText: 'missing' }).allInnerTexts(),
    'its typical case is open where it goes wrong',
  );
  const dump = page.locator('.drawer .why', { hasText: 'this engine has none' });
  check(
    (await dump.innerText()).includes('Its walk went on to the next row.'),
    `why a frame in the middle is missing: ${await dump.innerText()}`,
  );
  await shot(page, 'red-problem');
  await axeFindsNothing(page, 'problem');
  await page.locator('.problemhead .matrix a').nth(2).click();
  await page.locator('.casehead h1', { hasText: 'null_write.ob0' }).waitFor();
  await settled(page);
  check(page.url().includes('problem='), 'a cell leads to a case of the problem');
  check(
    (await page.locator('.sidehead .small[role=status]').innerText()).includes(`120 cases: ${TWO}`),
    'beside a case',
  );
  await closePage(page);
});

test('builds_of_a_problem_come_first_and_empty_ones_are_no_columns', async () => {
  const first = await open('/');
  const path = must(await first.locator('.casegroups a.strong').nth(1).getAttribute('href'));
  await closePage(first);
  const page = await openPage(chromium, 'about:blank', { viewport: { width: 390, height: 844 } });
  await changeAnswers(
    page,
    '**/api/v1/runs/4/queue*',
    (/** @type {{data: Answers['/api/v1/runs/{run}/queue']}} */ body) => {
      const matrix = must(body.data.problem).matrix;
      matrix.variants = ['no-such', 'good', ...matrix.variants];
      for (const row of matrix.rows)
        [row.cases, row.of] = [
          [0, 0, ...row.cases],
          [0, 20, ...row.of],
        ];
      return body;
    },
  );
  await page.goto(server.base + path);
  const heads = page.locator('.problemhead .matrix thead th');
  await becomes(() => heads.allInnerTexts(), ['scenario', 'ob0', 'ob2', 'good', 'cases'], 'columns');
  const { x, width } = must(await page.locator('.problemhead .matrix tbody a').first().boundingBox());
  check(x + width <= 390, `the first cell of the problem ends at ${x + width}`);
  await closePage(page);
});

test('the_row_that_went_wrong_shows_the_step_where_the_walks_part', async () => {
  const page = await open('/runs/4/mismatches/abort_call.ob0');
  await page.keyboard.press('e');
  await page.waitForURL('**frame=*');
  await becomes(() => page.locator('.steps .strong').count(), 1, 'one code');
  const step = page.locator('.steps .strong');
  check((await step.innerText()).includes('ALLOC_SMALL'), 'the one that the group names');
  same(
    (await page.locator('.ruler').last().locator('li').allInnerTexts()).map(
      (text) => text.split(' ').length > 1,
    ),
    [true, true, true],
    'its stack: 40 bytes, a register, the return address',
  );
  const code = page.locator('.instructions').first();
  same(
    await code.locator('tbody tr td:nth-child(3)').allInnerTexts(),
    ['sub rsp, 0x28', 'mov rcx, qword ptr [rcx]', 'call 0xa172', 'mov dword ptr [rax], 1', 'nop'].concat([
      'add rsp, 0x28',
      'pop rbx',
      'ret',
      'int3',
      'int3',
      'int3',
    ]),
    'the code around the pc',
  );
  check(/mov dword/.test(await code.locator('.pc').innerText()), 'the pc is marked');
  await page.setViewportSize(NARROW);
  const tops = await page
    .locator('.steps li')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
  same(
    tops,
    [...tops].sort((a, b) => a - b),
    'codes in their order on a phone',
  );
  await code.scrollIntoViewIfNeeded();
  await shot(page, 'red-step');
  await axeFindsNothing(page, 'the step');
  await closePage(page);
});

test('both_return_slots_are_shown_where_the_walks_part', async () => {
  const page = await open('/runs/4/mismatches/null_write.ob0?frame=4');
  /** @type {(engine: string) => Promise<string[]>} */
  const ruler = async (engine) => {
    const why = page.locator('.why', { has: page.locator('h3', { hasText: engine }) });
    return (await why.locator('.ruler').first().locator('li').allInnerTexts()).map((text) => text.trim());
  };
  same(
    await ruler('dump'),
    [
      '0x21ff00 40 bytes',
      '0x21ff28 return address of offset:rtl',
      '0x21ff30 rbp, saved',
      '0x21ff38 return address that it found',
    ],
    'of the dump, which goes over a frame',
  );
  same(
    await ruler('offset:rtl'),
    ['0x21ff28 return address to this frame', '0x21ff30 8 bytes', '0x21ff38 return address of dump'],
    'of the record, which has no stack pointers',
  );
  const why = page.locator('.why', { has: page.locator('h3', { hasText: 'offset:rtl' }) });
  check(
    (await why.innerText()).includes('the one word of the dump’s stack that has this return address'),
    await why.innerText(),
  );
  await shot(page, 'red-slots');
  await axeFindsNothing(page, 'two return slots');
  await closePage(page);
});

const sealed = scratch('sealed.db');
twinstack(
  'check',
  ...['inline_chain', 'crash_in_dll'].map((name) => `${root}/corpus/cases/${name}.ob2`),
  '--db',
  sealed,
);
const kept = await serve('--db', sealed);

/** @type {[row: number, pc: string, before: string][]} the truth: llvm-objdump on the victim of the corpus */
const around = [
  [0, 'mov dword ptr [rcx], 0x15', 'mov dword ptr [rdx], r8d'],
  [6, 'mov ecx, dword ptr [rip + 0x22d5c]', 'call 0x6ec0'],
];

test('code_around_a_pc_is_instructions', async () => {
  for (const [row, pc, before] of around) {
    const page = await openPage(chromium, `${kept.base}/runs/1/mismatches/inline_chain.ob2?frame=${row}`, {
      viewport: NARROW,
      colorScheme: 'dark',
    });
    await settled(page);
    const code = page.locator('.instructions').last();
    for (const width of [1440, 1900, NARROW.width]) {
      await page.setViewportSize({ ...NARROW, width });
      await code.scrollIntoViewIfNeeded();
      const cut = await code.evaluate((one) => one.scrollWidth - Number(one.parentElement?.clientWidth));
      check(cut <= 0, `row ${row}: ${cut} px of the code are out of sight at ${width}`);
    }
    const rows = await code.locator('tbody tr').all();
    const texts = await Promise.all(rows.map((line) => line.locator('td').nth(2).innerText()));
    const at = texts.indexOf(pc);
    check(at > 0, `row ${row}: ${texts}`);
    same(texts[at - 1], before, 'before it');
    same(await rows[at].getAttribute('class'), 'pc', 'the mark of the pc');
    same((await rows[at - 1].getAttribute('class')) ?? '', before.startsWith('call') ? 'call' : '', 'a call');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= NARROW.width, `${wide} px wide`);
    await shot(page, `instructions-${row}`);
    await axeFindsNothing(page, 'instructions on a narrow dark page');
    await closePage(page);
  }
});

test('bytes_that_are_not_known_to_be_instructions_stay_bytes', async () => {
  const page = await openPage(chromium, `${kept.base}/about`);
  await changeAnswers(page, '**/api/v1/runs/1/cases/*', (/** @type {any} */ body) => {
    for (const thread of body.data.threads)
      for (const stack of thread.stacks) for (const e of stack?.evidence ?? []) e.code = null;
    return body;
  });
  await page.goto(`${kept.base}/runs/1/mismatches/inline_chain.ob2?frame=6`);
  await settled(page);
  same(await page.locator('.instructions').count(), 0, 'no instruction');
  const bytes = await page.locator('.bytes b').last().innerText();
  check(/^8b 0d /.test(bytes), `from the pc on: ${bytes}`);
  check(await page.getByText('Bytes alone').count(), 'and why');
  await closePage(page);
});

test('the_stack_of_a_frame_is_a_ruler_of_its_slots', async () => {
  const page = await openPage(chromium, `${kept.base}/runs/1/mismatches/inline_chain.ob2?frame=6`);
  await settled(page);
  /** @type {(nth: number) => Promise<string[]>} */
  const ruler = async (nth) =>
    (await page.locator('.ruler').nth(nth).locator('li').allInnerTexts()).map((text) => text.trim());
  same(
    await ruler(0),
    [
      '0x11e390 6520 bytes',
      ...['rbx', 'rdi', 'rsi', 'r12', 'r13', 'r14', 'r15', 'rbp'].map(
        (name, i) => `0x${(0x11fd08 + 8 * i).toString(16)} ${name}, saved`,
      ),
      '0x11fd48 return address to this frame',
    ],
    'of the frame below',
  );
  same((await ruler(1)).at(-1), '0x11fe08 return address to its caller', 'of this one');
  same((await ruler(1))[0], '0x11fd50 144 bytes', 'it begins where the other ends');
  const wide = await page.$eval('main', (main) => main.scrollWidth <= main.clientWidth);
  check(wide, 'nothing is cut');
  await shot(page, 'ruler');
  await axeFindsNothing(page, 'a ruler');
  same(await page.locator('.moduletimes').count(), 0, 'no module of this stack came or went');
  await closePage(page);
});

test('modules_that_came_or_went_are_a_time_line', async () => {
  const page = await openPage(chromium, 'about:blank');
  const path = `${kept.base}/runs/1/mismatches/crash_in_dll.ob2`;
  const times = page.locator('.moduletimes li');
  await page.goto(path);
  await settled(page);
  same(
    (await times.allInnerTexts()).map((text) => text.trim()),
    ['plugin-call-ob2.dll 0x180000000 loaded at 424 ms, still there'],
    'as the record has it',
  );
  await changeAnswers(page, '**/api/v1/runs/1/cases/*', (/** @type {any} */ body) => {
    const [plugin] = body.data.loads;
    body.data.loads = [
      { ...plugin, loaded_ns: 0, unloaded_ns: 9e8 },
      { ...plugin, base: '0x190000000', loaded_ns: 4.5e8 },
    ];
    return body;
  });
  await page.goto('about:blank');
  await page.goto(path);
  await settled(page);
  same(
    (await times.allInnerTexts()).map((text) => text.trim()),
    [
      'plugin-call-ob2.dll 0x180000000 there from the start, gone at 900 ms',
      'plugin-call-ob2.dll 0x190000000 loaded at 450 ms, still there',
    ],
    'one that was loaded again elsewhere',
  );
  same(
    await page
      .locator('.moduletimes rect')
      .evaluateAll((bars) => bars.map((bar) => ['x', 'width'].map((name) => bar.getAttribute(name)))),
    [
      ['0', '90'],
      ['45', '55'],
    ],
    'in proportion',
  );
  await shot(page, 'module-times');
  await axeFindsNothing(page, 'modules over time');
  await closePage(page);
});

test('a_step_to_another_case_takes_the_focus_and_is_heard', async () => {
  const page = await open('/runs/4/mismatches');
  for (const [key, place] of /** @type {[string, number][]} */ ([
    ['j', 2],
    ['j', 3],
    ['k', 2],
  ])) {
    await page.keyboard.press(key);
    await becomes(
      () =>
        page.evaluate(() => {
          const all = [...document.querySelectorAll('.queue a')];
          return document.activeElement ? all.indexOf(document.activeElement) + 1 : 0;
        }),
      place,
      `after ${key}, the focus is on the case`,
    );
    await says(page, '.sidehead .sr[role=status]', `case ${place} of 480: `, `after ${key}`);
  }
  await axeFindsNothing(page, 'a case after a step');
  await closePage(page);
});

test('all_cases_of_a_problem_are_accepted_as_one', async () => {
  const file = scratch('red-known.txt');
  const writing = await serve('--db', scratch('red.db'), '--allow-write', '--known', file);
  const page = await openPage(chromium, writing.url);
  await settled(page);
  await page.locator('.casegroups a.strong').nth(1).click();
  await page.getByRole('button', { name: 'Accept all as one' }).click();
  await page.getByLabel('reason').fill('the fault of the day');
  await page.getByRole('button', { name: 'Accept', exact: true }).click();
  await says(page, '.problemhead', 'Added to the file of known mismatches');
  await shot(page, 'red-accepted');
  const text = readFileSync(file, 'utf8');
  same(text.match(/^\[.*\]$/gm)?.length, 1, text);
  check(
    text.includes(
      'scope: noreturn_tail.ob0 noreturn_tail.ob2 null_write.ob0 null_write.ob2 recursion.ob0\n' +
        'scope: recursion.ob2\n',
    ),
    text,
  );
  check(/^pins: .*dump=1\//m.test(text), text);
  const key = new URL(page.url()).searchParams.get('problem') ?? '';
  await closePage(page);
  await writing.stop();
  const printed = String(
    twinstack(
      ...['accept', '--db', scratch('red.db'), '--known', scratch('red-known-2.txt'), '--problem', key],
      ...['--reason', 'the fault of the day', '--expires', inDays(90)],
    ),
  );
  same(printed.trim(), text.slice(text.indexOf('[')).trim(), 'the command accepts the same');
});

test('the_file_without_a_server_has_the_pages_of_problems', async () => {
  twinstack('report', '--db', scratch('red.db'), '--html', scratch('red.html'), '--exit-zero');
  const page = await openPage(chromium, `file://${scratch('red.html')}`);
  await settled(page);
  await page.locator('.casegroups a.strong').nth(1).click();
  await says(page, '.problemhead', `120 cases: ${TWO}`);
  same(await page.locator('.problemhead .matrix tbody tr').count(), 3, 'scenarios');
  same(await page.locator('.queue .group').innerText(), 'failing 120', 'its cases');
  await closePage(page);
});

test('a_case_that_the_truth_does_not_judge_says_so', async () => {
  const page = await open('/runs/4/mismatches/spin.ob0');
  const text = await page.locator('.sentence').innerText();
  check(text.startsWith('Not agreed: the stack of dump differs from that of offset:rtl'), text);
  const chip = page.locator('.toggles button', { hasText: 'dump' }).first();
  check(
    !(await chip.innerText()).includes('✓'),
    `chip of a stack that fails the case: ${await chip.innerText()}`,
  );
  await shot(page, 'red-case');
  await closePage(page);
});

test('what_is_accepted_is_not_red', async () => {
  const page = await open('/');
  /** @type {(total: number) => Promise<string[]>} */
  const bars = async (total) => {
    await changeAnswers(page, '**/api/v1/overview', (body) => {
      body.data.shares[0] = { ...body.data.shares[0], right: 9, total: 10 };
      body.data.wrong = { ...body.data.wrong, total };
      return body;
    });
    await page.goto(`${server.base}/`);
    await settled(page);
    return page.locator('.shares-list > div').evaluateAll((rows) => rows.map((row) => row.className));
  };
  check((await bars(1)).includes('part'), 'a case fails');
  check(!(await bars(0)).includes('part'), 'none fails');
  await closePage(page);
});

await runAll();
