// What the first page, a run and a problem show of rare states, without a browser.
import { runAll, same, test } from './web/world.mjs';
import {
  DAY,
  change,
  copied,
  counts,
  does,
  group,
  lines,
  modulesOf,
  none,
  page,
  runOf,
  sent,
  shows,
} from './web/states.mjs';

const made = await modulesOf('pages/benched', 'pages/overview', 'pages/problem', 'pages/run');

const trend = { band: { low: null, high: null }, points: [] };
const nothing = { rows: [], where: '' };
const figures = {
  accuracy: { cases: 0 },
  headline: { cases: 0, rows: [], columns: [], dominates: '', foreign: '', counts: '', scope: '' },
  speed: nothing,
  speed_ratio: { origin: null, text: 'not measured', about: '', run: null },
};

const { Overview } = made.overview;

test('before_the_first_run', async () => {
  const { live } = made.api;
  const overview = { '/api/v1/overview': { run: null } };
  shows(
    await page(Overview, {}, overview, '/'),
    `
    Overview
    The same crashes, by dump and by offsets, compared with what really ran.
    No run yet: waiting for the first
    This page shows it as soon as it starts. If none is starting, capture every crash both ways:
    twinstack run
  `,
  );
  live.running = [runOf(3, { case_count: 1 })];
  shows(
    await page(Overview, {}, overview, '/'),
    `
    Overview
    The same crashes, by dump and by offsets, compared with what really ran.
    The first run is in progress
    Run 3: 1 case judged so far. The summary appears here when it ends. → /runs/3
  `,
  );
  live.running = [];
});

const shares = [
  { name: 'captured', right: 5, total: 5, of: 'cases', left_out: 0 },
  { name: 'captured', right: 4, total: 4, of: 'cases', left_out: 1, left_out_why: 'gone' },
  { name: 'dump', right: 0, total: 1, of: 'stacks of dump', left_out: 1200, left_out_why: 'not judged' },
];
const eight = Array.from({ length: 9 }, (_, i) => change(`n${i}`));
const all = {
  run: runOf(7, { label: 'regrade of 3', commit: null, branch: 'dev' }),
  not_run: 'x86',
  wrong: {
    total: 1,
    groups: [{ trouble: 'broken', cases: 1, text: 'broken' }],
    baseline: null,
    new: 0,
    problems: [{ ...group, cases: 1 }],
    problems_left: 2,
  },
  shares,
  ...figures,
  figures: { capture_rate: { value: 0.8, count: 5 }, exact: { value: 0.5, count: 8 } },
  trends: {
    capture_rate: trend,
    exact: { ...trend, points: [{ run: 1, value: 0.5, count: 8, bench: null, started_ns: DAY }] },
    f1: trend,
    speed_ratio: trend,
  },
  baseline: 2,
  changes: {
    ...none,
    new: eight,
    fixed: [change('f', { is: null })],
    counts: { ...counts, new: 1209, fixed: 1 },
  },
  causes: [
    { cause: 'unexplained', findings: 1200, cases: 3, subject_findings: 2 },
    { cause: 'line_off', findings: 1, cases: 1, subject_findings: 0 },
  ],
};
// green only where nothing is missing; red only where a case fails
const colours = (/** @type {import('./web/paper.mjs').Paper} */ of) =>
  of.all('dl')[0].childNodes.map(({ attributes }) => attributes.class ?? '');

test('the_first_page', async () => {
  const paper = await page(Overview, {}, { '/api/v1/overview': all }, '/');
  shows(
    paper,
    `
    Overview
    The same crashes, by dump and by offsets, compared with what really ran.
    {strong} Run 7 → /runs/7
    regrade of run 3 · 20457 days ago · wine · no commit on dev → /runs/3
    {v-pass} ✓ 3
    {v-calm} ◌ 1
    ✓ as expected◌ left nothing, as expected
    {bad} Not run: x86
    {bad} {wrong} {strong} 1 wrong: 1 broken. → /runs/7/mismatches → /runs/7/mismatches?trouble=broken
    3 problems in 1 case
    {strong} 1 case: it brokee.g. s.v → /runs/7/mismatches?problem=k1 → /runs/7/mismatches/s.v?problem=k1
    and 2 more problems → /signatures?run=7
    Captured both ways
    100 % 5 of 5 cases
    Captured both ways
    100 % 4 of 4 cases; 1 case left out: gone
    Exact, dump
    {warned} 0 % 0 of 1 stack of dump; 1,200 cases left out: not judged
    Captured either way → /trend?metric=capture_rate
    80.0 %
    not measured
    of all cases that should leave a record or a dump; the line leaves out those not judged · 5 cases
    Exact stacks → /trend?metric=exact
    50.0 %
    one run so far
    function, file and line of every own frame · 8 stacks
    Frame F1 → /trend?metric=f1
    not known
    not measured
    precision and recall against the truth
    Plain dump : offsets → /trend?metric=speed_ratio
    not measured
    back end:
    Every sample, warm and cold → /timing
    Since the baseline, run 2: each case once, however often it ran → /compare/2/7
    New failures 1,209
    {v-fail} ✗fail n0.ob2r → /runs/7/mismatches/n0.ob2
    {v-fail} ✗fail n1.ob2r → /runs/7/mismatches/n1.ob2
    {v-fail} ✗fail n2.ob2r → /runs/7/mismatches/n2.ob2
    {v-fail} ✗fail n3.ob2r → /runs/7/mismatches/n3.ob2
    {v-fail} ✗fail n4.ob2r → /runs/7/mismatches/n4.ob2
    {v-fail} ✗fail n5.ob2r → /runs/7/mismatches/n5.ob2
    {v-fail} ✗fail n6.ob2r → /runs/7/mismatches/n6.ob2
    {v-fail} ✗fail n7.ob2r → /runs/7/mismatches/n7.ob2
    and 1,201 more → /compare/2/7
    Fixed 1
    {v-pass} ✓pass f.ob2r → /runs/7/mismatches/f.ob2
    Other reason 0
    none
    Still failing 0
    none
    Causes of differences
    {bad} unexplained1,2003 cases · 2 of engines under test → /runs/7/mismatches?cause=unexplained
    line off11 case → /runs/7/mismatches?cause=line_off
  `,
  );
  same(colours(paper), ['whole', '', 'part']);
  const good = {
    ...all,
    run: runOf(8, { label: 'reporter crashpad', branch: null }),
    not_run: null,
    wrong: { ...all.wrong, total: 0, problems: [] },
    baseline: null,
    changes: null,
    causes: [],
  };
  shows(
    await page(Overview, {}, { '/api/v1/overview': good }, '/'),
    `
    Overview
    The same crashes, by dump and by offsets, compared with what really ran.
    {strong} Run 8 → /runs/8
    reporter crashpad by its dumps · 20456 days ago · wine · 0123456789ab
    {v-pass} ✓ 3
    {v-calm} ◌ 1
    ✓ as expected◌ left nothing, as expected
    {good} ✓ Nothing is wrong.
    Since the baseline
    No baseline is set: twinstack baseline set 8 makes this run the one to compare with.
    Causes of differences
    No engine differs from the truth or from another.
  `,
  );
  const passes = { ...good, run: runOf(8), not_run: 'x86' };
  same(colours(await page(Overview, {}, { '/api/v1/overview': passes }, '/')), ['whole', '', 'accepted']);
});

/** @type {(engine: string, more?: object) => object} */
const engineOf = (engine, more = {}) => ({
  engine,
  subject: false,
  stacks: 4,
  exact: 1,
  judged: 4,
  right_frames: 3,
  own_frames: 4,
  truth_frames: 6,
  inline_right: 1,
  inline_demanded: 5,
  lines_right: 7,
  lines_judged: 8,
  physical_same: 9,
  physical_judged: 10,
  shares: null,
  skip_reason: null,
  ...more,
});

test('one_run', async () => {
  const { Run } = made.run;
  const data = {
    run: runOf(7, {
      state: 'interrupted',
      finished_ns: null,
      compiler: 'clang',
      tools: [{ name: 'lldb', version: '19' }],
    }),
    lanes_counts: 'x64 3, x86 1',
    not_run: 'arm64',
    failing: [
      {
        ...group,
        verdict: 'FAIL',
        names: 'a.v, b.v and 5 more cases',
        blame: 'record',
        file: 'a.pdb',
        right: 'dump',
        right_text: 'in a.v only dump is right',
        reason: 'why',
        command: 'twinstack review',
      },
      {
        ...group,
        key: 'k2',
        cases: 1,
        verdict: 'ERROR',
        names: 'c.v',
        blame: null,
        right: null,
        reason: 'x',
        command: null,
      },
    ],
    failing_left: 1200,
    engines: [
      engineOf('dump', { subject: true, stacks: 0, shares: 'reader' }),
      engineOf('judge:a', { stacks: 0, skip_reason: 'absent' }),
      engineOf('judge:b', { stacks: 0 }),
      engineOf('judge:c', { exact: 4 }),
    ],
    not_shown: [
      { cases: 1, reason: 'needs Windows', names: 'x.v' },
      { cases: 1200, reason: 'needs ARM', names: 'y.v' },
    ],
    causes: [],
    ...figures,
  };
  const given = { '/api/v1/runs/{run}': data, '/api/v1/runs/7': data, '/api/v1/runs/7/grid': { total: 0 } };
  const paper = await page(Run, { run: '7' }, given, '/runs/7?fold=0');
  shows(
    paper,
    `
    Run 7
    wine
    Make this the baseline
    Copy link
    Mismatches → /runs/7/mismatches
    1970-01-28 00:00 UTC · interrupted: its process is gone · 0123456789ab
    {v-pass} ✓ 3
    {v-calm} ◌ 1
    ✓ as expected◌ left nothing, as expected
    cases run: x64 3, x86 1
    {bad} Not run: arm64
    What fails, and why
    {v-fail} {strong} ✗fail 7 cases: it brokeblame: record · file: a.pdb · in a.v only dump is right · \
      a.v, b.v and 5 more casese.g. whymore: twinstack review → /runs/7/mismatches?problem=k1 \
      → /runs/7/mismatches?problem=k1
    {v-error} {strong} ⚠error 1 case: it brokec.ve.g. x → /runs/7/mismatches?problem=k2
    and 1,200 more cases → /signatures?run=7
    Engines against the truth
    engine | exact | precision | recall | inline | lines | physical | shares
    dump under test | 25.0 % 1 of 4 | 75.0 % | 50.0 % | 20.0 % | 87.5 % | 90.0 % | reader
    judge:c | 100 % 4 of 4 | 75.0 % | 50.0 % | 20.0 % | 87.5 % | 90.0 % | nothing of ours
    Not asked: judge:a (absent); judge:b.
    Not shown here
    {v-unsupported} ⊘unsupported 1 case needs Windows (x.v)
    {v-unsupported} ⊘unsupported 1,200 cases needs ARM (y.v)
    Cases
    No case yet
    This run has none. What a bench measured is on the page Timing. → /timing?run=7
    Causes of differences
    No engine differs from the truth or from another.
    Where it ran
    platform
    wine
    compiler
    clang
    lldb
    19
  `,
  );
  await does(paper, 'button', 'Copy link');
  same(copied.pop(), 'http://twinstack.example/runs/7?fold=0');
  await does(paper, 'button', 'Make this', 'click');
  same(
    [sent.pop(), lines(paper).filter((line) => /baseline/.test(line))],
    ['PUT /api/v1/baseline {"run":7}', ['is now the baseline']],
  );
});

test('the_cases_of_a_problem_are_a_matrix', async () => {
  const problem = {
    ...group,
    cases: 1200,
    new: 3,
    verdict: 'FAIL',
    matrix: {
      variants: ['ob0', 'ob1', 'ob2', 'x86'],
      variants_hit: 2,
      rows_before: 200,
      rows_left: 1,
      rows: [
        { scenario: 'b', cases: [0, 0, 3, 0], of: [1, 0, 3, 0] },
        { scenario: 'a', cases: [0, 0, 2, 0], of: [1, 0, 3, 1] },
        { scenario: 'c', cases: [0, 0, 1, 1], of: [0, 0, 1, 1] },
      ],
    },
  };
  const paper = await page(made.problem.ProblemHead, { problem, run: 7 });
  shows(
    paper,
    `
    1,200 cases: it broke
    204 scenarios in 2 of 4 builds · 3 new since the baselinee.g. s.v → /runs/7/mismatches/s.v?problem=k1
    scenario | ob2 | x86 | ob0 | cases
    {wrong} b | ✗ 3 | | · | 3 → /runs/7/mismatches/b.ob2?problem=k1
    {wrong} a | ✗ 2/3 | · | · | 2 → /runs/7/mismatches/a.ob2?problem=k1
    {wrong} c | ✗ | ✗ | | 2 → /runs/7/mismatches/c.ob2?problem=k1 → /runs/7/mismatches/c.x86?problem=k1
    ✗ of this problem✗ 2/3 two of three repeats are· another resultempty not in this run
    the 200 scenarios beforeand 1 more scenario → /runs/7/mismatches?problem=k1 → \
      /runs/7/mismatches?problem=k1&scenarios=203
    Accept all as one…
    A typical case
  `,
  );
  same(
    paper
      .all('td')
      .flatMap((cell) => cell.all('*').map(({ attributes }) => attributes.title ?? []))
      .flat(),
    [
      '3 of 3 cases of b.ob2',
      'b.ob0 is not of this problem',
      '2 of 3 cases of a.ob2',
      'a.x86 is not of this problem',
      'a.ob0 is not of this problem',
      '1 of 1 case of c.ob2',
      '1 of 1 case of c.x86',
    ],
  );
  await does(paper, 'button', 'Accept all');
  same(lines(paper).slice(-9), [
    '✗ of this problem✗ 2/3 two of three repeats are· another resultempty not in this run',
    'the 200 scenarios beforeand 1 more scenario → /runs/7/mismatches?problem=k1 → ' +
      '/runs/7/mismatches?problem=k1&scenarios=203',
    'Accept all as one…',
    'One block in the file of known mismatches names every case, and what may be wrong in ' +
      'them. A case in which more is wrong fails; so does one that passes.',
    'reason',
    'issue (a link, may be empty)',
    'holds until',
    'Accept',
    'A typical case',
  ]);
  const accepted = {
    ...problem,
    verdict: 'XFAIL',
    new: 0,
    matrix: { ...problem.matrix, variants_hit: 4, rows_before: 0, rows_left: 0, rows: [] },
  };
  shows(
    await page(made.problem.ProblemHead, { problem: accepted, run: 7 }),
    `
    1,200 cases: it broke
    0 scenarios in all 4 buildse.g. s.v → /runs/7/mismatches/s.v?problem=k1
    scenario | cases
    A typical case
  `,
  );
});

test('a_bench_says_how_sure_it_is', async () => {
  const side = {
    ratio: 9.44,
    cold: false,
    ratio_low: 8.04,
    ratio_high: 10.96,
    arch: 'x64',
    cases: 1200,
    scenarios: 1,
    processes: 20,
    noise: 0.034,
    samples: 400,
    dump_against_offset: { p: 0.00123 },
  };
  const bench = {
    back_end: [
      side,
      { ...side, cold: true, ratio_low: null, noise: null, samples: 1, dump_against_offset: { p: null } },
      { ...side, ratio: null },
      { ...side, arch: null },
    ],
  };
  shows(
    await page(made.benched.BenchSays, { bench }),
    `
    Bench, symbols loaded: the dump way takes 9.4× [8.0, 11.0] as long (95 % interval: x64, 1,200 cases \
      of 1 scenario, 20 processes; noise 3 %, p 0.0012, 400 samples of each way).
    Bench, cold: the dump way takes 9.4× as long (no interval, too few scenarios or processes: x64, \
      1,200 cases of 1 scenario, 20 processes; noise not known, p –, 1 sample of each way).
    Bench, symbols loaded: the dump way takes 9.4× [8.0, 11.0] as long (no interval: its cases were not \
      stored; noise 3 %, p 0.0012, 400 samples of each way).
  `,
  );
});

await runAll();
