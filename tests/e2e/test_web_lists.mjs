// What the lists of runs and of one run show of rare states, and a comparison, without a browser.
// test_web_whole.mjs has the common ones.
import { runAll, same, test } from './web/world.mjs';
import {
  change,
  copied,
  counts,
  does,
  group,
  lines,
  modulesOf,
  none,
  orders,
  page,
  runOf,
  shows,
} from './web/states.mjs';

const made = await modulesOf('pages/compare', 'pages/lists', 'pages/runs');

const compared = {
  a: runOf(3),
  b: runOf(5),
  sentence: 'They differ.',
  totals: { new: 1 },
  environment: [
    { name: 'compiler', a: 'clang 18', b: 'clang 19' },
    { name: 'machine', a: null, b: 'ci' },
  ],
  clusters: [],
  broke: 0,
  changes: {
    ...none,
    new: [
      change('b', { was: 'PASS', is: 'FAIL', reason: 'x' }),
      change('a', { was: 'XFAIL', is: null, reason: null }),
      change('c', { was: null, is: 'ERROR', reason: 'y' }),
    ],
    gone: [change('g', { is: null })],
    counts: { ...counts, new: 450, gone: 1 },
  },
  speed_ratio: { a: { text: '9.4×', about: 'x64' }, b: null },
  timing: [
    { engine: 'dump', a_ns: 1000, b_ns: 2000, effect: 1, threshold: 0.03, p: 0.00123, change: 'slower' },
    { engine: 'rtl', a_ns: 2000, b_ns: 1000, effect: -0.5, threshold: null, p: null, change: 'faster' },
    {
      engine: 'few',
      a_ns: 1,
      b_ns: 1,
      effect: null,
      threshold: null,
      p: null,
      change: 'too_few',
      samples: 4,
    },
    { engine: 'even', a_ns: 1, b_ns: 1, effect: 0, threshold: 0.25, p: 1, change: 'too_noisy' },
  ],
};

test('two_runs_of_other_environments', async () => {
  const given = {
    '/api/v1/compare': compared,
    '/api/v1/runs': { runs: [runOf(5), runOf(3), runOf(9, { state: 'running' })] },
  };
  const paper = await page(
    made.compare.Compare,
    { a: '3', b: '5' },
    given,
    '/compare/3/5?group=new&after=200',
  );
  shows(
    paper,
    `
    Compare
    run 3 (1970-01-24 00:00) with run 5 (1970-01-26 00:00)
    Swap
    Copy as Markdown
    Copy link
    before
    run 5 · 1970-01-26 00:00 · main · 0123456789ab
    * run 3 · 1970-01-24 00:00 · main · 0123456789ab
    now
    * run 5 · 1970-01-26 00:00 · main · 0123456789ab
    run 3 · 1970-01-24 00:00 · main · 0123456789ab
    {bad} They differ.
    {warn} The environments differ: compiler, machine changed.
    around the run | run 3 | run 5
    compiler | clang 18 | clang 19
    machine | – | ci
    New failures 450
    case | was | is | reason
    {v-pass} {v-fail} b.ob2 | ✓ pass | ✗ fail | x → /runs/5/mismatches/b.ob2
    {v-xfail} a.ob2 | ~ xfail | – | → /runs/5/mismatches/a.ob2
    {v-error} c.ob2 | – | ⚠ error | y → /runs/5/mismatches/c.ob2
    201–203 of 450 casesthe 200 beforeand 247 more → /compare/3/5 → /compare/3/5?group=new&after=203
    Fixed 0
    Gone 1
    case | was | is | reason
    {v-pass} g.ob2 | ✓ pass | – | r → /runs/3/mismatches/g.ob2
    Time on the back end
    run 3: dump : offsets 9.4× (x64) → /runs/3
    engine | before | now | effect | threshold | p | says
    {wrong} dump | 1.00 µs | 2.00 µs | +100.0 % | 3.0 % | 0.0012 | ▲ slower
    {good} rtl | 2.00 µs | 1.00 µs | -50.0 % | – | – | ▼ faster
    few | 1 ns | 1 ns | – | – | – | ? not enough samples (4)
    even | 1 ns | 1 ns | +0.0 % | 25.0 % | 1.0 | ? too noisy
    Before and now: medians of the cases that both runs have. Effect: the median of what each case \
      itself lost or gained, which need not be the quotient of these two.
  `,
  );
  same(await orders(paper, 1), [
    'case ▲: a.ob2,b.ob2,c.ob2',
    'was ▲: b.ob2,a.ob2,c.ob2',
    'is ▲: c.ob2,b.ob2,a.ob2',
    'reason ▲: b.ob2,c.ob2,a.ob2',
  ]);
  await does(paper, 'button', 'Copy as');
  same(
    copied.pop(),
    `## Run 3 → run 5

- compiler: clang 18 → clang 19
- machine: – → ci

### New failures: 450
- \`b.ob2\` PASS → FAIL: x
- \`a.ob2\` XFAIL → –
- \`c.ob2\` – → ERROR: y

### Fixed: 0

### Another verdict or reason: 0

### Failed, and are accepted now: 0

### Gone: 1
- \`g.ob2\` PASS → –: r

### Added: 0

### Still failing: 0
`,
  );
  await does(paper, 'button', 'Copy link');
  same(copied.pop(), 'http://twinstack.example/compare/3/5');
  await does(paper, 'button', 'Swap');
  same(location.pathname, '/compare/5/3');
  const second = await page(
    made.compare.Compare,
    { a: '3', b: '5' },
    given,
    '/compare/3/5?group=new&after=1',
  );
  same(
    lines(second).filter((line) => line.includes('of 450')),
    ['2–4 of 450 casesthe 1 beforeand 446 more → /compare/3/5 → /compare/3/5?group=new&after=4'],
  );
});

test('two_runs_without_a_change', async () => {
  const many = Array.from({ length: 13 }, (_, i) => change(`s${i}`));
  const rest = { totals: { new: 0 }, environment: [], timing: [], speed_ratio: { a: null, b: null } };
  const same_ = { ...compared, ...rest, changes: { ...none, counts } };
  shows(
    await page(made.compare.Compare, {}, { '/api/v1/compare': same_ }, '/compare'),
    `
    Compare
    run 3 (1970-01-24 00:00) with run 5 (1970-01-26 00:00)
    Swap
    Copy as Markdown
    Copy link
    before
    run 5 · 1970-01-26 00:00 · main · 0123456789ab
    * run 3 · 1970-01-24 00:00 · main · 0123456789ab
    now
    * run 5 · 1970-01-26 00:00 · main · 0123456789ab
    run 3 · 1970-01-24 00:00 · main · 0123456789ab
    {good} They differ.
    No case changed
    Every case of both runs has the same verdict.
    Time on the back end
    No engine was timed in both runs.
  `,
  );
  const folded = { ...same_, changes: { ...none, still: many, counts: { ...counts, still: 13 } } };
  const paper = await page(made.compare.Compare, {}, { '/api/v1/compare': folded }, '/compare?a=1');
  shows(
    paper,
    `
    Compare
    run 3 (1970-01-24 00:00) with run 5 (1970-01-26 00:00)
    Swap
    Copy as Markdown
    Copy link
    before
    run 5 · 1970-01-26 00:00 · main · 0123456789ab
    * run 3 · 1970-01-24 00:00 · main · 0123456789ab
    now
    * run 5 · 1970-01-26 00:00 · main · 0123456789ab
    run 3 · 1970-01-24 00:00 · main · 0123456789ab
    {good} They differ.
    New failures 0
    Fixed 0
    Still failing 13 show
    Time on the back end
    No engine was timed in both runs.
  `,
  );
  await does(paper, 'button', 'show');
  same(lines(paper).filter((line) => line.includes('.ob2')).length, 13, 'all are shown');
});

const { Hooks, Signatures, Known, Symbols } = made.lists;

test('the_hooks_of_a_run', async () => {
  /** @type {(scenario: string, expected: string | null, got: string | null, more?: object) => object} */
  const hook = (scenario, expected, got, more = {}) => ({
    scenario,
    variant: 'v',
    repeat: 0,
    expected,
    got,
    ...more,
  });
  const hooks = {
    run: 7,
    total: 90,
    fitting: 90,
    differing: 1200,
    hooks: [
      { hook: 'late', seen: 1 },
      { hook: 'watch_dog', seen: 5 },
      { hook: 'early', seen: 1 },
    ],
    rows: [
      hook('a', 'early, late', 'early,watch_dog', { repeat: 1 }),
      hook('b', 'none', null),
      hook('c', null, 'late'),
    ],
  };
  const given = { '/api/v1/hooks': hooks, '/api/v1/runs': { runs: [] } };
  const paper = await page(Hooks, {}, given, '/hooks?after=50&differs=1&search=z');
  shows(
    paper,
    `
    Hooks
    Which hook saw each crash: expected, and measured in this run.
    run
    * 7
    search
    * only where expected and measured differ (1,200)
    ✓ as promised✗ promised, not seen+ seen, not promised
    case | watch dogsaw 5 | earlysaw 1 | latesaw 1
    {v-flaky} {v-pass} {v-fail} a.v#2 | +seen, not promised | ✓as promised | ✗promised, not seen → \
      /runs/7/mismatches/a.v?repeat=1
    b.v | none promised, none saw it → /runs/7/mismatches/b.v
    {v-flaky} c.v | | | +seen, not promised → /runs/7/mismatches/c.v
    51–53 of 90 casespreviousnext
  `,
  );
  await does(paper, 'button', 'previous');
  same(location.search, '?differs=1&search=z');
  await does(paper, 'button', 'next');
  same(location.search, '?differs=1&search=z&after=3');
  await does(paper, 'button', 'only where');
  same(location.search, '?search=z');
  shows(
    await page(Hooks, {}, { '/api/v1/hooks': { ...hooks, total: 0 } }, '/hooks'),
    `
    Hooks
    Which hook saw each crash: expected, and measured in this run.
    run
    * 7
    No case in this run
    Hooks are known once cases have been captured.
  `,
  );
  shows(
    await page(Hooks, {}, { '/api/v1/hooks': { ...hooks, rows: [], fitting: 0 } }, '/hooks'),
    `
    Hooks
    Which hook saw each crash: expected, and measured in this run.
    run
    * 7
    search
    only where expected and measured differ (1,200)
    case | watch dogsaw 5 | earlysaw 1 | latesaw 1
    No case fits.
  `,
  );
});

test('the_differences_of_a_run', async () => {
  /** @type {(rank: number, before: number | null, more?: object) => object} */
  const signature = (rank, before, more = {}) => ({
    ...group,
    key: `k${rank}`,
    rank,
    rank_before: before,
    verdict: 'FAIL',
    known_id: null,
    signatures: [{ signature: 'f | g', cases: 2 }],
    signatures_left: 0,
    examples: ['a', 'b', 'c', 'd'].map((scenario) => ({ scenario, variant: 'v', repeat: 0 })),
    ...more,
  });
  const found = {
    run: 7,
    total: 1200,
    signatures: [
      signature(1, 4, { signatures_left: 1 }),
      signature(2, 2, { known_id: 'old', verdict: 'XFAIL', cases: 9 }),
      signature(3, 1, { cases: 3 }),
      signature(4, null, { cases: 1, examples: [], verdict: 'ERROR' }),
    ],
  };
  const list = await page(Signatures, {}, { '/api/v1/signatures': found }, '/signatures');
  shows(
    list,
    `
    Differences
    Differences that belong together, by what is broken and where; most cases first.
    run
    * 7
    = the same rank as in the previous run▲ so many ranks higher than in the previous run▼ so many \
      ranks lower than in the previous run
    rank | cases | verdict | difference | for example
    {wrong} {strong} {v-fail} 1 ▲3 | 7 | ✗ fail | it brokee.g. s.v2 cases: f | gand 1 more combination | \
      a.vb.vc.vand 4 more → /runs/7/mismatches?problem=k1 → /runs/7/mismatches/s.v?problem=k1 → \
      /runs/7/mismatches?problem=k1&signature=f+%7C+g → /runs/7/mismatches?problem=k1 → \
      /runs/7/mismatches/a.v → /runs/7/mismatches/b.v → /runs/7/mismatches/c.v → \
      /runs/7/mismatches?problem=k1
    {strong} {v-xfail} 2 = | 9 | ~ xfail old | it brokee.g. s.v2 cases: f | g | a.vb.vc.vand 6 more → \
      /runs/7/mismatches?problem=k2 → /runs/7/mismatches/s.v?problem=k2 → \
      /runs/7/mismatches?problem=k2&signature=f+%7C+g → /runs/7/mismatches/a.v → /runs/7/mismatches/b.v → \
      /runs/7/mismatches/c.v → /runs/7/mismatches?problem=k2
    {strong} {v-fail} 3 ▼2 | 3 | ✗ fail | it brokee.g. s.v2 cases: f | g | a.vb.vc.v → \
      /runs/7/mismatches?problem=k3 → /runs/7/mismatches/s.v?problem=k3 → \
      /runs/7/mismatches?problem=k3&signature=f+%7C+g → /runs/7/mismatches/a.v → /runs/7/mismatches/b.v → \
      /runs/7/mismatches/c.v
    {strong} {v-error} 4 new | 1 | ⚠ error | it brokee.g. s.v2 cases: f | g | and 1 more → \
      /runs/7/mismatches?problem=k4 → /runs/7/mismatches/s.v?problem=k4 → \
      /runs/7/mismatches?problem=k4&signature=f+%7C+g → /runs/7/mismatches?problem=k4
    The 4 largest of 1,200.
  `,
  );
  same(await orders(list), ['cases ▼: 9,7,3,1', 'verdict ▲: 1,7,3,9']);
  const empty = { '/api/v1/signatures': { ...found, signatures: [] } };
  shows(
    await page(Signatures, {}, empty, '/signatures'),
    `
    Differences
    Differences that belong together, by what is broken and where; most cases first.
    run
    * 7
    No difference in this run
    Every engine under test agrees with the truth.
  `,
  );
});

test('what_is_accepted', async () => {
  /** @type {(id: string, more?: object) => object} */
  const item = (id, more = {}) => ({
    id,
    scope: `${id}.*`,
    cause: '*',
    reason: 'why',
    issue: null,
    hits: 0,
    expires: '2026-02-28',
    expired: false,
    ...more,
  });
  const known = {
    run: 7,
    text: 'a',
    used: 'b',
    damage: 'line 3',
    items: [
      item('b', { issue: 'https://e.org/1', hits: 1200 }),
      item('a', { issue: 'javascript:1', expires: '2026-03-01', hits: 2 }),
      item('c', { expires: '2026-01-30', expired: true }),
    ],
    hits: [{ id: 1, run: 7, scenario: 's', variant: 'v', repeat: 1, verdict: 'XFAIL', known_id: 'b' }],
    hits_total: 1201,
  };
  shows(
    await page(Known, {}, { '/api/v1/known': known }, '/known'),
    `
    Known
    Differences that were accepted, each with a reason and an end. The list is a file, reviewed like code.
    {bad} The file cannot be read: line 3
    {warn} Run 7 used another version of this list.
    id | scope and cause | reason | cases in run 7 | holds until | remove
    {strong} {warned} b | b.** | whyhttps://e.org/1 | 1,200 | 2026-02-2829 days left | Remove → \
      https://e.org/1
    {strong} a | a.** | whyjavascript:1 | 2 | 2026-03-0130 days left | Remove
    {strong} {wrong} c | c.** | why | none | 2026-01-30✗ expired: it fails the run | Remove
    Used in run 7
    ~ wrong, and accepted with a reason
    {v-xfail} ~xfail s.v b → /runs/7/mismatches/s.v?repeat=1
    the first 1 of 1,201 cases
    The file itself
    a
  `,
  );
  const plain = { ...known, text: null, damage: null, items: [], hits: [], hits_total: 0 };
  shows(
    await page(Known, {}, { '/api/v1/known': plain }, '/known'),
    `
    Known
    Differences that were accepted, each with a reason and an end. The list is a file, reviewed like code.
    Used in run 7
    No case of this run needed any of them.
    The file itself
    b
  `,
  );
  shows(
    await page(Known, {}, { '/api/v1/known': { ...plain, used: null } }, '/known'),
    `
    Known
    Differences that were accepted, each with a reason and an end. The list is a file, reviewed like code.
    Nothing is accepted
    Every difference counts. twinstack accept accepts one, with reason, scope and end; the list is a \
      file that is reviewed like code.
  `,
  );
});

test('the_symbols_of_a_run', async () => {
  /** @type {(module: string, frames: number, inlined: number, more?: object) => object} */
  const moduleOf = (module, frames, inlined, more = {}) => ({
    module,
    frames,
    inlined,
    sources: [
      { symbols: 'pdb', frames },
      { symbols: 'new', frames: 1 },
    ],
    debug_id: 'D1',
    code_id: 'C1',
    ...more,
  });
  const modules = [moduleOf('b.dll', 1200, 0), moduleOf('a.dll', 3, 2, { debug_id: null, code_id: '' })];
  const symbols = await page(Symbols, {}, { '/api/v1/symbols': { run: 7, modules } }, '/symbols');
  shows(
    symbols,
    `
    Symbols
    The modules that the frames of our engines are in, by identity, and which symbols named their frames.
    run
    * 7
    ✓ pdb PDB of the right identity
    module | symbols used, for how many frames | frames | inlined | debug id, code id
    {strong} {v-pass} {v-other} b.dll | ✓ pdb 1,200· new 1 | 1,200 | none | D1C1
    {strong} {v-pass} {v-other} a.dll | ✓ pdb 3· new 1 | 3 | 2 | no debug idno code id
  `,
  );
  same(await orders(symbols), ['module ▲: a.dll,b.dll', 'frames ▼: b.dll,a.dll', 'inlined ▼: a.dll,b.dll']);
  shows(
    await page(Symbols, {}, { '/api/v1/symbols': { run: 7, modules: [] } }, '/symbols'),
    `
    Symbols
    The modules that the frames of our engines are in, by identity, and which symbols named their frames.
    run
    * 7
    No module
    No frame of this run lies in a known module.
  `,
  );
});

test('the_list_of_runs', async () => {
  const runs = [
    runOf(10, { state: 'running', verdicts: {}, case_count: 0, finished_ns: null }),
    runOf(9, { branch: null, commit: null, label: 'bench' }),
    runOf(2, { branch: 'dev', platform: 'windows', finished_ns: null, state: 'interrupted' }),
  ];
  const { Runs } = made.runs;
  const found = { runs, total: 1200, baseline: 9, next: 2 };
  const paper = await page(Runs, {}, { '/api/v1/runs': found }, '/runs?tick=10,9&after=11');
  shows(
    paper,
    `
    Runs
    Each run captured its cases anew. A finished run never changes.
    Compare 9 with 10
    branch
    any
    dev
    main
    platform
    any
    windows
    wine
    compare | run | verdicts | started | state | took | what | commit | branch | platform
    {running} {strong} | 10 | | 20454 days ago | going | | | 0123456789ab | main | wine → /runs/10
    {strong} {v-pass} {v-calm} | 9 baseline | ✓ 3◌ 1 | 20455 days ago | complete | 5.00 s | bench | – | \
      – | wine → /runs/9
    {strong} {v-pass} {v-calm} | 2 | ✓ 3◌ 1 | 20462 days ago | interrupted | – | | 0123456789ab | dev | \
      windows → /runs/2
    ✓ as expected◌ left nothing, as expected
    1,200 runs newest older
  `,
  );
  await does(paper, 'button', 'Compare');
  same(location.pathname, '/compare/9/10');
  const third = await page(Runs, {}, { '/api/v1/runs': found }, '/runs?tick=2,9');
  await does(third, 'input', '', 'change'); // of run 10: the newest two ticks stay
  same(location.search, '?tick=9%2C10');
  const other = await page(Runs, {}, { '/api/v1/runs': found }, '/runs?tick=9');
  await does(other, 'button', 'older');
  same(location.search, '?tick=9&after=2');
  await does(other, 'input', '', 'change'); // of run 10
  same(location.search, '?tick=9%2C10&after=2');
  await does(other, 'input', '', 'change');
  same(location.search, '?tick=9&after=2');
  const nothing = { '/api/v1/runs': { ...found, runs: [] } };
  shows(
    await page(Runs, {}, nothing, '/runs?branch=x'),
    `
    Runs
    Each run captured its cases anew. A finished run never changes.
    Compare two
    branch
    any
    * x
    No run fits
    Change the filters above.
  `,
  );
  shows(
    await page(Runs, {}, nothing, '/runs?after=3'),
    `
    Runs
    Each run captured its cases anew. A finished run never changes.
    Compare two
    No run fits
    newest
  `,
  );
  shows(
    await page(Runs, {}, nothing, '/runs'),
    `
    Runs
    Each run captured its cases anew. A finished run never changes.
    Compare two
    No run yet
    Start one, and it appears here while it runs:
    twinstack run
  `,
  );
});

await runAll();
