// What the page of one case shows of rare states, and what its keys and buttons do, without a browser.
import { runAll, same, test } from './web/world.mjs';
import { copied, does, lines, modulesOf, page, sent, settled, shows } from './web/states.mjs';

const made = await modulesOf('keys', 'pages/case', 'pages/why');

/** @type {(more?: object) => object} */
const frame = (more = {}) => ({
  index: 0,
  inline_depth: 0,
  module: 'app.exe',
  offset: '0x1005',
  address: '0x401005',
  kind: 'return',
  function: 'main',
  file: 'C:\\src\\a.c',
  line: 30,
  found_by: 'unwind',
  symbols: 'pdb',
  class: 'own',
  note: null,
  ...more,
});
/** @type {(mark: string, frame?: object | null, more?: object) => object} */
const cell = (mark, of = null, more = {}) => ({ mark, frame: of, cause: null, ...more });
/** @type {(stop?: string | null) => object} */
const stack = (stop = null) => ({ state: 'ok', stop, evidence: [] });
/** @type {(engine: string, more?: object) => object} */
const score = (engine, more = {}) => ({
  engine,
  state: 'ok',
  judged: true,
  exact: true,
  right_frames: 2,
  truth_frames: 3,
  own_frames: 2,
  lines_right: 1,
  lines_judged: 2,
  reason: null,
  ...more,
});
const truth = { gap: null, function: 'main', file: 'a.c', line: 30 };
const rows = [
  [
    cell('same', { ...truth, function: 'poke', line: 9, tail: true }),
    cell(
      'same',
      frame({ function: 'poke', inline_depth: 1, line: 9, kind: 'interrupted', found_by: 'inlined' }),
    ),
    cell('missing', null, { cause: 'frame_missing' }),
    cell(
      'extra',
      frame({ note: 'async: x', module: null, symbols: 'none', function: null, file: null, line: null }),
    ),
  ],
  [
    cell('same', { gap: 'runtime_frames', gap_count: 3 }),
    cell('line', frame({ line: 31, file: '/src/b.c', symbols: 'export', found_by: 'scan' }), {
      cause: 'unexplained',
    }),
    cell('gap'),
    cell('same', frame({ method: '0x6000001', offset: '0x7' })),
  ],
  [
    cell('gap'),
    cell('unjudged', frame({ class: 'system', function: 'start', module: 'ntdll.dll', index: 2 })),
    cell('gap'),
    cell('gap'),
  ],
];
const engines = [
  { engine: 'offset:rtl', kind: 'offset', subject: true, shares: 'reader' },
  { engine: 'dump', kind: 'dump', subject: true, shares: null },
  { engine: 'judge:x', kind: 'judge', subject: false, shares: null },
];
const data = {
  run: 7,
  sentence: 'It broke.',
  trouble: 'none',
  apart: ['judge:x'],
  case: {
    scenario: 's',
    variant: 'v',
    repeat: 2,
    verdict: 'FAIL',
    reason: 'why',
    right: 'dump',
    known_id: 'old',
    got_doors: null,
    expected_doors: 'late',
    got_code: '0xc0000005',
    got_exit_code: '0x0',
    timing: { record_bytes: 0, dump_bytes: 1200, walk_ns: 0, dump_write_ns: 1500, stop_dump_ns: 2000 },
    engines,
    scores: [
      score('offset:rtl', { exact: false }),
      score('dump', { state: 'failed', reason: 'cut' }),
      score('judge:x'),
    ],
    findings: [
      {
        thread_id: 4,
        row: 1,
        fails: true,
        cause: 'line_off',
        engine: 'offset:rtl',
        against: 'truth',
        level: 'line',
        evidence: 'e1',
      },
      {
        thread_id: 4,
        row: 1,
        fails: false,
        cause: 'line_off',
        engine: 'judge:x',
        against: 'truth',
        level: 'line',
        evidence: 'e2',
      },
      {
        thread_id: 5,
        row: 1,
        fails: false,
        cause: 'other',
        engine: 'dump',
        against: 'truth',
        level: 'line',
        evidence: 'e3',
      },
    ],
  },
  threads: [
    { thread_id: 4, role: 'suspect', name: null, rows, stacks: [stack(), null, stack()] },
    { thread_id: 5, role: null, name: 'worker', rows: [], stacks: [null, null, null] },
    { thread_id: 6, role: null, name: null, rows: [], stacks: [null, null, null] },
  ],
  artifacts: [
    { role: 'record', sha256: 'aa', name: 'x/record.bin', bytes: 1200 },
    { role: 'dump', sha256: 'bb', name: 'x/dump.dmp', bytes: 9 },
    { role: 'source_link', name: '/src/b.c', url: 'https://e.org/b.c' },
    { role: 'source_link', name: 'C:/src/a.c', url: 'javascript:1' },
  ],
  dump_file: { bytes: 3_400_000 },
  loads: [],
};
/** @type {(given: object, address: string) => Promise<any>} */
const shown = (given, address) => page(made.case.CaseView, { data: given }, {}, address);

test('a_case_with_gaps_and_lost_stacks', async () => {
  const paper = await shown(data, '/runs/7/mismatches/s.v?repeat=2');
  shows(
    paper,
    `
    s.v
    It broke.
    {v-fail} ✗ fail why Right: dump. known old
    Copy
    Copy link
    Accept…
    History → /cases/s/v
    hooks
    none (expected late)
    exception
    0xc0000005
    dump
    1.20 KB
    dump write
    1.50 µs
    thread stopped
    2.00 µs
    downloadstacksrecorddump
    {wrong} offset:rtl ✗ 2 of 3 frames right, 1 line off
    thread
    * suspect (4)
    worker (5)
    6 (6)
    {wrong} * ✗ offset:rtl, 2 of 3 frames right, 1 line off (2 of 3 frames right, 1 line off; shares reader)
    {wrong} * dump, not judged (not judged; shares nothing of ours)
    {wrong} ≠ judge:x, right where the truth judges; elsewhere the two ways contradict each other (right \
      where the truth judges; elsewhere the two ways contradict each other; shares nothing of ours)
    * inlines
    * system
    addresses
    no stack of dump to compare
    Engines:≠ right where the truth judges; elsewhere the two ways contradict each other✗ wrong
    Frames:✓ agrees at every level≈ same function, another file or line∅ missing: a frame is expected here
    # | truth | offset:rtl | dump | cause
    {m-same} {in} {m-missing} {wrong} 0 | ✓agrees at every levelpoke absent a.c:9 | ✓agrees at every \
      level↳poke inlineda.c:9app.exe!0x1005 inlined | missing: a frame is expected hereno stack: cut | \
      frame missing
    {m-same} {m-line} {m-gap} {bad} 1 | ✓agrees at every level⋯ runtime frames (3) | ≈same function, \
      another file or linemainb.c:31app.exe!0x1005 scan export | nothing here, and nothing was expected | \
      unexplained → https://e.org/b.c
    {m-gap} {m-unjudged} 2 | nothing here, and nothing was expected | nothing to compare it \
      withstarta.c:30ntdll.dll!0x1005 unwind | nothing here, and nothing was expected |
  `,
  );
  same(
    paper
      .all('button')
      .map((/** @type {any} */ b) => b.attributes.title ?? [])
      .flat(),
    [
      'verdict, stacks and findings, as JSON',
      'x/record.bin, 1.20 KB',
      '3.40 MB',
      '2 of 3 frames right, 1 line off; shares reader',
      'not judged; shares nothing of ours',
      'right where the truth judges; elsewhere the two ways contradict each other; shares nothing of ours',
    ],
  );
  same(
    paper.all('a').map((/** @type {any} */ a) => `${a.attributes.class} ${a.attributes.title}`),
    ['button undefined', 'src small wrap /src/b.c'],
  );
  await does(paper, 'button', 'Copy');
  same(
    copied.pop(),
    `s.v  FAIL: why

> truth
# poke  a.c:9
# runtime_frames

> offset:rtl
#   inlined poke  a.c:9
app.exe!0x1005  # main  b.c:31
ntdll.dll!0x1005  # start  a.c:30

> dump
`,
  );
  await does(paper, 'button', 'Copy link');
  same(copied.pop(), 'http://twinstack.example/runs/7/mismatches/s.v?repeat=2');
  await does(paper, 'select', 'suspect', 'change', { value: '1' });
  same(location.search, '?repeat=2&thread=1');
  await does(paper, 'button', 'addresses');
  same(location.search, '?repeat=2&thread=1&absolute=1');
});

test('what_is_switched_on', async () => {
  const all = await shown(data, '/c?engines=offset:rtl,dump,judge:x&inlines=0&system=0&absolute=1');
  shows(
    all,
    `
    s.v
    It broke.
    {v-fail} ✗ fail why Right: dump. known old
    Copy
    Copy link
    Accept…
    History → /cases/s/v
    hooks
    none (expected late)
    exception
    0xc0000005
    dump
    1.20 KB
    dump write
    1.50 µs
    thread stopped
    2.00 µs
    downloadstacksrecorddump
    {wrong} offset:rtl ✗ 2 of 3 frames right, 1 line off
    thread
    * suspect (4)
    worker (5)
    6 (6)
    {wrong} * ✗ offset:rtl, 2 of 3 frames right, 1 line off (2 of 3 frames right, 1 line off; shares reader)
    {wrong} * dump, not judged (not judged; shares nothing of ours)
    {wrong} * ≠ judge:x, right where the truth judges; elsewhere the two ways contradict each other \
      (right where the truth judges; elsewhere the two ways contradict each other; shares nothing of ours)
    inlines
    system
    * addresses
    no stack of dump to compare
    Engines:≠ right where the truth judges; elsewhere the two ways contradict each other✗ wrong
    Frames:✓ agrees at every level≈ same function, another file or line∅ missing: a frame is expected \
      here+ a frame that the other side does not have
    # | truth | offset:rtl | dump | judge:x reference | cause
    {m-same} {in} {m-missing} {wrong} {m-extra} 0 | ✓agrees at every levelpoke absent a.c:9 | ✓agrees at \
      every level↳poke inlineda.c:90x401005 inlined | missing: a frame is expected hereno stack: cut | +a \
      frame that the other side does not haveno name async0x401005 unwind no symbols | frame missing
    {m-same} {m-line} {m-gap} {bad} 1 | ✓agrees at every level⋯ runtime frames (3) | ≈same function, \
      another file or linemainb.c:310x401005 scan export | nothing here, and nothing was expected | \
      ✓agrees at every levelmaina.c:300x401005 unwind | unexplained → https://e.org/b.c
  `,
  );
  await does(all, 'button', 'judge:x');
  same(location.search, '?engines=offset%3Artl%2Cdump&inlines=0&system=0&absolute=1');
  await does(all, 'button', 'inlines');
  same(location.search, '?engines=offset%3Artl%2Cdump&system=0&absolute=1');
  await does(all, 'button', 'addresses');
  same(location.search, '?engines=offset%3Artl%2Cdump&system=0');
});

test('what_has_no_stack', async () => {
  shows(
    await shown(data, '/c?thread=1'),
    `
    s.v
    It broke.
    {v-fail} ✗ fail why Right: dump. known old
    Copy
    Copy link
    Accept…
    History → /cases/s/v
    hooks
    none (expected late)
    exception
    0xc0000005
    dump
    1.20 KB
    dump write
    1.50 µs
    thread stopped
    2.00 µs
    downloadstacksrecorddump
    {wrong} offset:rtl ✗ 2 of 3 frames right, 1 line off
    thread
    suspect (4)
    * worker (5)
    6 (6)
    {wrong} * ✗ offset:rtl, 2 of 3 frames right, 1 line off (2 of 3 frames right, 1 line off; shares reader)
    {wrong} * dump, not judged (not judged; shares nothing of ours)
    {wrong} ≠ judge:x, right where the truth judges; elsewhere the two ways contradict each other (right \
      where the truth judges; elsewhere the two ways contradict each other; shares nothing of ours)
    * inlines
    * system
    addresses
    Engines:≠ right where the truth judges; elsewhere the two ways contradict each other✗ wrong
    No stacks
    why
  `,
  );
  shows(
    await shown(data, '/c?engines=none'),
    `
    s.v
    It broke.
    {v-fail} ✗ fail why Right: dump. known old
    Copy
    Copy link
    Accept…
    History → /cases/s/v
    hooks
    none (expected late)
    exception
    0xc0000005
    dump
    1.20 KB
    dump write
    1.50 µs
    thread stopped
    2.00 µs
    downloadstacksrecorddump
    thread
    * suspect (4)
    worker (5)
    6 (6)
    {wrong} ✗ offset:rtl, 2 of 3 frames right, 1 line off (2 of 3 frames right, 1 line off; shares reader)
    {wrong} dump, not judged (not judged; shares nothing of ours)
    {wrong} ≠ judge:x, right where the truth judges; elsewhere the two ways contradict each other (right \
      where the truth judges; elsewhere the two ways contradict each other; shares nothing of ours)
    * inlines
    * system
    addresses
    no stack of dump to compare
    Engines:≠ right where the truth judges; elsewhere the two ways contradict each other✗ wrong
    Frames:✓ agrees at every level
    # | truth | cause
    {m-same} 0 | ✓agrees at every levelpoke absent a.c:9 |
    {m-same} 1 | ✓agrees at every level⋯ runtime frames (3) |
  `,
  );
  const bare = {
    ...data,
    case: { ...data.case, reason: null, verdict: 'PASS', repeat: 0, known_id: null },
    threads: [],
    apart: [],
  };
  shows(
    await shown(bare, '/c?thread=9'),
    `
    s.v
    It broke.
    {v-pass} ✓ pass Right: dump.
    Copy link
    History → /cases/s/v
    hooks
    none (expected late)
    exception
    0xc0000005
    dump
    1.20 KB
    dump write
    1.50 µs
    thread stopped
    2.00 µs
    downloadstacksrecorddump
    {wrong} offset:rtl ✗ 2 of 3 frames right, 1 line off
    {wrong} * ✗ offset:rtl, 2 of 3 frames right, 1 line off (2 of 3 frames right, 1 line off; shares reader)
    {wrong} * dump, not judged (not judged; shares nothing of ours)
    Engines:✗ wrong
    No stacks
    There is neither a record nor a dump.
  `,
  );
  const two = { ...data, threads: [{ ...data.threads[0], stacks: [stack(), stack('limit'), stack()] }] };
  const differing = await shown(two, '/c?engines=offset:rtl,judge:x');
  same(
    lines(differing).filter((line) => /row/.test(line)),
    ['2 rows differ'],
  );
});

// The keys of the page lead through the rows that differ, in a ring, and through the threads.
test('the_keys_of_a_case', async () => {
  const both = {
    ...data,
    threads: [{ ...data.threads[0], stacks: [stack(), stack(), stack()] }, data.threads[1]],
  };
  for (const [name, at, key, want] of [
    ['the first difference', '', 'n', '0'],
    ['the next', '?frame=0', 'n', '1'],
    ['round', '?frame=1', 'n', '0'],
    ['back', '?frame=1', 'p', '0'],
    ['back round', '?frame=0', 'p', '1'],
    ['the next frame', '?frame=1', 'ArrowDown', '2'],
    ['the frame before', '?frame=1', 'ArrowUp', '0'],
    ['what failed', '', 'e', '1'],
    ['closed again', '?frame=1', 'e', undefined],
  ]) {
    await shown(both, `/c${at}`);
    made.keys.listKeys()[String(key)][1]();
    await settled();
    same(made.router.current().query.frame, want, String(name));
  }
  for (const [name, at, key, want] of [
    ['the next thread', '', ']', '1'],
    ['the last', '?thread=1', ']', '1'],
    ['the one before', '?thread=1&frame=3', '[', undefined],
  ]) {
    await shown(both, `/c${at}`);
    made.keys.listKeys()[String(key)][1]();
    await settled();
    same(made.router.current().query.thread, want, String(name));
    same(made.router.current().query.frame, undefined, String(name));
  }
});

test('an_acceptance_is_sent', async () => {
  const given = { '/api/v1/known': { added: '[old]\nscope: s.v\n' } };
  const { FormData } = globalThis;
  globalThis.FormData = /** @type {any} */ (
    class {
      *[Symbol.iterator]() {
        yield* [
          ['reason', 'because'],
          ['issue', ''],
          ['expires', '2026-05-01'],
        ];
      }
    }
  );
  const { Accept } = made.why;
  const c = { ...data.case, signature: 'poke | main' };
  const paper = await page(Accept, { c, run: 7, close: () => {} }, given);
  shows(
    paper,
    `
    Accept this difference
    ✕
    An accepted difference has a reason, a scope and an end; one that is unused or has expired fails the \
      run.
    reason
    issue (a link, may be empty)
    holds until
    Accept
    poke | main
  `,
  );
  same(
    paper.all('input').map((/** @type {any} */ { attributes: { min, value } }) => [min, value]),
    [
      [null, null],
      [null, null],
      ['2026-01-31', '2026-05-01'],
    ],
  );
  await does(paper, 'form', '', 'submit');
  same(
    sent.pop(),
    'POST /api/v1/known ' +
      '{"run":7,"case":"s.v","repeat":2,"reason":"because","issue":null,"expires":"2026-05-01"}',
  );
  shows(
    paper,
    `
    Accept this difference
    ✕
    An accepted difference has a reason, a scope and an end; one that is unused or has expired fails the \
      run.
    {good} Added to the file of known mismatches; commit it. It applies from the next run on.
    [old] scope: s.v
    poke | main
  `,
  );
  const refused = await page(Accept, { c, run: 7 }, { '/api/v1/known': new Error('it is there already') });
  await does(refused, 'form', '', 'submit');
  same(lines(refused).at(-2), '{wrong} it is there already');
  globalThis.FormData = FormData;
  shows(
    await page(Accept, { c: { ...c, verdict: 'PASS' }, run: 7 }),
    `
    Accept this difference
    ✕
    This case does not fail: there is nothing to accept.
  `,
  );
});

// Of row 0 line 9, which the truth states with a HERE; five lines before and after it.
test('the_source_of_a_row', async () => {
  const at = (/** @type {number | null} */ line) =>
    cell('same', line ? frame({ file: '/src/a.c', line }) : null);
  const thread = {
    rows: [
      [at(9), at(9), at(10)],
      [at(null), at(12), at(null)],
      [at(13), at(12), at(30)],
    ],
  };
  const artifacts = [{ role: 'source', sha256: 'cc', name: 'a.c' }];
  const text = (/** @type {string} */ here) =>
    Array.from({ length: 40 }, (_, i) => `l${i + 1}${i === 8 ? here : ''}\n`).join('');
  const props = { thread, artifacts, columns: [0, 1], engines, at: 0 };
  const file = '/api/v1/artifacts/cc';
  const paper = await page(made.why.Source, props, { [file]: new Blob([text(' HERE')]) });
  shows(
    paper,
    `
    a.c:9 whole file
    4l4
    5l5
    6l6
    7l7
    8l8
    {marked} 9truth, offset:rtlTOl9 HERE
    {marked} 10dumpDl10
    11l11
    {near} 12·1l12
    {near} 13·2l13
    14l14
    T the truth names this lineO a stack of offsets names itD a stack of the dump \
    names it·1 row 1 of this stack does
    Open files in an editor
    address, with {file} and {line}
  `,
  );
  await does(paper, 'button', 'whole');
  same(paper.all('ol')[0].all('li').length, 40);
  const moved = await page(made.why.Source, props, { [file]: new Blob([text('')]) });
  same(
    lines(moved).filter((line) => /HERE/.test(line)),
    ['{warned} ≈ No line that the truth names has a HERE: this source is not the one that was built.'],
  );
  const short = await page(made.why.Source, props, { [file]: new Blob(['one\n']) });
  same(
    lines(short).filter((line) => /kept/.test(line)),
    ['The kept file has 1 line: it is another version.'],
  );
  const last = await page(made.why.Source, { ...props, at: 2 }, { [file]: new Blob([text('')]) });
  same(
    lines(last).filter((line) => /^.(marked|near). /.test(line)),
    ['{near} 9·0l9', '{near} 10·0l10', '{marked} 12offset:rtlOl12', '{marked} 13truthTl13'],
  );
});

await runAll();
