// What the pages make of the server's data, without a browser: units, orders, filters, words and links.
import { check, runAll, same, test } from './web/world.mjs';
import { draw, parts } from './web/paper.mjs';

const made = await parts(
  'ui',
  'router',
  'pages/speed',
  'pages/benched',
  'pages/accuracy',
  'pages/headline',
  'pages/cost',
  'pages/module_times',
  'pages/case_groups',
  'pages/progress',
  'pages/instructions',
  'pages/stack_ruler',
);
const { ui, router } = made;

/** Each row: its name, what is got, what is expected.
 * @type {(rows: [string, unknown, unknown][]) => void} */
const rows = (all) => all.forEach(([name, got, want]) => same(got, want, name));

/** @type {(component: unknown, props: object) => string} */
const said = (component, props) => draw(made, component, props).textContent;

/** @type {(component: unknown, props: object) => string[]} */
const links = (component, props) =>
  draw(made, component, props)
    .all('a')
    .map(({ attributes }) => attributes.href);

// The prefixes are those of the International System of Units: a step is a factor of 1,000.
test('amounts_have_three_digits_and_the_right_unit', () =>
  rows([
    ['no time', ui.duration(null), '–'],
    ['a nanosecond', ui.duration(1), '1 ns'],
    ['the last of its unit', ui.duration(999), '999 ns'],
    ['the first of the next', ui.duration(1000), '1.00 µs'],
    ['rounded up to the next', ui.duration(999_500), '1.00 ms'],
    ['just not', ui.duration(999_499), '999 µs'],
    ['two digits and a part', ui.duration(12_340_000), '12.3 ms'],
    ['no part from 100 on', ui.duration(99_950_000), '100 ms'],
    ['seconds', ui.duration(1.5e9), '1.50 s'],
    ['almost two minutes', ui.duration(119.4e9), '119 s'],
    ['two minutes', ui.duration(120e9), '2 min 0 s'],
    ['minutes and seconds', ui.duration(754e9), '12 min 34 s'],
    ['no bytes', ui.bytes(0), '–'],
    ['bytes', ui.bytes(512), '512 B'],
    ['thousand', ui.bytes(230_000), '230 KB'],
    ['million', ui.bytes(3_400_000), '3.40 MB'],
    ['billion', ui.bytes(5e9), '5.00 GB'],
    ['beyond the last unit', ui.bytes(1.25e13), '12,500 GB'],
    ['thousands apart', ui.number(1_234_567), '1,234,567'],
    ['three digits', ui.number(999), '999'],
    ['not known is none', ui.number(undefined), '0'],
    ['one', ui.plural(1, 'case'), '1 case'],
    ['none', ui.plural(0, 'case'), '0 cases'],
    ['a plural of its own', ui.plural(2, 'entry', 'entries'), '2 entries'],
  ]));

test('shares_are_rounded_down', () =>
  rows([
    ['of nothing', ui.percent(0, 0), '–'],
    ['all', ui.percent(7, 7), '100 %'],
    ['none', ui.percent(0, 7), '0 %'],
    ['almost all', ui.percent(99_999, 100_000), '99.9 %'],
    ['almost none', ui.percent(1, 100_000), '0.1 %'],
    ['two thirds', ui.percent(2, 3), '66.6 %'],
  ]));

test('times_are_in_utc_and_ages_in_the_largest_unit', () => {
  const now = Date.now;
  Date.now = () => Date.UTC(2026, 0, 31, 12, 0);
  /** @type {(minutes: number) => string} */
  const ago = (minutes) => ui.ago((Date.now() - minutes * 60e3) * 1e6);
  rows([
    ['never', ui.when(0), '–'],
    ['a billion seconds', ui.when(1e18), '2001-09-09 01:46'],
    ['a moment', ago(0.4), 'under 1 min ago'],
    ['in the future', ago(-5), 'under 1 min ago'],
    ['a minute', ago(1), '1 min ago'],
    ['almost an hour', ago(59), '59 min ago'],
    ['an hour', ago(60), '1 h ago'],
    ['almost two days', ago(47 * 60), '47 h ago'],
    ['two days', ago(48 * 60), '2 days ago'],
  ]);
  Date.now = now;
});

test('verdicts_have_glyph_class_and_meaning', () => {
  rows([
    ['which fail', Object.keys(ui.verdicts).filter(ui.failing), ['FAIL', 'XPASS', 'FLAKY', 'ERROR']],
    ['with hyphens', ui.verdictOf('NOT-CAPTURED-AS-EXPECTED')[2], 'left nothing, as expected'],
    ['unknown', ui.verdictOf('MAYBE'), ['·', 'other', 'MAYBE']],
    ['none', ui.verdictOf(null), ['·', 'other', '']],
    ['as words', ui.words('NOT_CAPTURED-AS_EXPECTED'), 'not captured as expected'],
    ['a short one', said(ui.Verdict, { word: 'PASS' }), '✓pass'],
    ['a long one', said(ui.Verdict, { word: 'XFAIL', long: true }), '~ xfail'],
    [
      'a bar of those that are there',
      said(ui.CountsBar, { verdicts: { PASS: 1200, FAIL: 3, ERROR: 0 }, total: 1203 }),
      '✓ 1,200✗ 3',
    ],
  ]);
});

test('a_score_says_what_keeps_it_from_exact', () => {
  const exact = { right_frames: 5, truth_frames: 5, own_frames: 5, lines_right: 5, lines_judged: 5 };
  rows([
    ['nothing of these', ui.wrongness(exact), 'not exact'],
    ['one is missing', ui.wrongness({ ...exact, right_frames: 4, own_frames: 4 }), '4 of 5 frames right'],
    ['one too many', ui.wrongness({ ...exact, own_frames: 6 }), '1 wrong'],
    ['a line', ui.wrongness({ ...exact, lines_right: 4 }), '1 line off'],
    [
      'all',
      ui.wrongness({ right_frames: 3, truth_frames: 5, own_frames: 5, lines_right: 1, lines_judged: 3 }),
      '3 of 5 frames right, 2 wrong, 2 lines off',
    ],
  ]);
});

test('long_names_are_cut_and_keep_their_whole_in_the_title', () => {
  const [whole, long] = ['n'.repeat(300), 'n'.repeat(301)];
  const paper = draw(made, ui.Name, { text: long });
  rows([
    ['300 characters', said(ui.Name, { text: whole }), whole],
    ['301', paper.textContent, `${'n'.repeat(299)}…`],
    ['its title', paper.all('bdi')[0].attributes.title, long],
    ['frames', said(ui.Frames, { text: 'a | b | c' }), 'a | b | c'],
    ['each by itself', draw(made, ui.Frames, { text: 'a | b | c' }).all('bdi').length, 3],
  ]);
});

// Percent-encoding: RFC 3986, and application/x-www-form-urlencoded of the URL standard.
test('addresses_are_matched_and_made', () =>
  rows([
    ['the same', router.match('/runs', '/runs'), {}],
    ['a place', router.match('/runs/{run}', '/runs/12'), { run: '12' }],
    ['decoded', router.match('/cases/{case}', '/cases/a%2Fb%20c'), { case: 'a/b c' }],
    ['two', router.match('/compare/{a}/{b}', '/compare/1/2'), { a: '1', b: '2' }],
    ['longer', router.match('/runs/{run}', '/runs/1/x'), null],
    ['shorter', router.match('/runs/{run}', '/runs'), null],
    ['an empty place', router.match('/runs/{run}', '/runs/'), null],
    ['another word', router.match('/runs/{run}/x', '/runs/1/y'), null],
    ['no query', router.withQuery('/x', { a: '', b: null, c: undefined, d: false }), '/x'],
    ['nought is a value', router.withQuery('/x', { a: 0 }), '/x?a=0'],
    ['true is 1', router.withQuery('/x', { a: true, b: 'c d&e' }), '/x?a=1&b=c+d%26e'],
    ['a case', ui.casePath(3, { scenario: 'a b', variant: 'ob2' }), '/runs/3/mismatches/a%20b.ob2'],
    [
      'a repeat',
      ui.casePath('latest', { scenario: 's', variant: 'v', repeat: 2 }),
      '/runs/latest/mismatches/s.v?repeat=2',
    ],
  ]));

// ---- what the server computed ----------------------------------------------------------------------

test('speed_and_accuracy_say_what_the_report_says', () => {
  const cell = { state: 'measured', cases: 1200, scenarios: 9, drifts: false, median_ns: 1500, ratio: null };
  /** @type {(value: number) => object} */
  const ratio = (value) => ({ ...cell, ratio: { value, low: value / 2, high: value * 2 } });
  const row = {
    arch: 'x64',
    lane: 'offsets',
    cells: { 'no index': cell, index: ratio(2.5), warm: ratio(25) },
  };
  const other = {
    ...row,
    lane: 'dump',
    cells: {
      ...row.cells,
      warm: { ...cell, state: 'few scenarios' },
      index: { ...cell, cases: 0, state: 'no cases' },
      'no index': { ...ratio(250), drifts: true },
    },
  };
  const one = { text: '9.4×, 506 cases', about: 'x64', answer: 'So it is', note: 'why', origin: 'run' };
  const paper = draw(made, made.speed.Speed, { speed: { rows: [row, other], where: '' }, ratio: one });
  check(paper.textContent.includes('So it is. Dump : offsets 9.4×, 506 cases (x64)'), 'the one ratio');
  const legend = '! the same way in other rounds took another time: no ratio to rely on';
  check(paper.textContent.includes(`why; twinstack bench measures it.${legend}`), 'its sign, above');
  check(!said(made.speed.Speed, { speed: { rows: [row] }, ratio: one }).includes(legend), 'no sign');
  const cells = paper.all('td').map((td) => td.textContent);
  const way = {
    engine: 'dump',
    exact: { right: 1, total: 3 },
    top1: { right: 2, total: 3 },
    top3: { right: 3, total: 3 },
    recall_macro: 0.5,
    recall_micro: { right: 0, total: 3 },
  };
  const split = { both: 1, only_offset: 2, only_dump: 3, neither: 4 };
  const accuracy = { cases: 1, scenarios: 2, ways: [way], exact: split, judged: { ...split, neither: 1000 } };
  rows([
    ['a time', cells.slice(0, 2), ['x64 offsets, time', '1.50 µs (1,200)']],
    ['a ratio of units', cells[2], '2.5 [1.3, 5.0] (1,200)'],
    ['a ratio of tens', cells[3], '25.0 [12.5, 50.0] (1,200)'],
    [
      'a ratio of hundreds that drifts',
      cells.slice(4, 6),
      ['x64 dump : offsets', '250 [125, 500] (1,200) !'],
    ],
    ['no cases', cells[6], 'no cases'],
    ['few scenarios', cells[7], 'few scenarios (9)'],
    ['few cases', made.speed.unmeasured({ state: 'few cases', cases: 4, scenarios: 9 }), 'few cases (4)'],
    ['no row', said(made.speed.Speed, { speed: { rows: [], where: '' } }), ''],
    [
      'the ways',
      draw(made, made.accuracy.Accuracy, { accuracy })
        .all('td')
        .map((td) => td.textContent),
      ['dump', '33.3 % 1 of 3', '66.6 %', '100 %', '50.0 %', '0 %'],
    ],
  ]);
  check(
    said(made.accuracy.Accuracy, { accuracy }).includes(
      'Exact: both 1, only offset 2, only dump 3, neither 4. With a stack to judge: both 1, ' +
        'only offset 2, only dump 3, neither 1,000. Macro: mean of 2 scenarios',
    ),
    'both ways',
  );
});

test('the_headline_has_amounts_in_their_units', () => {
  const cell = { median: 1500, least: 1000, most: 2000, count: 8, state: 'measured' };
  const row = {
    group: 'size',
    name: 'file',
    unit: 'bytes',
    part: false,
    cells: { dump: cell, offset: { ...cell, count: 4, least: null } },
  };
  const time = {
    ...row,
    group: 'in the dying process',
    unit: 'ns',
    part: true,
    cells: { dump: { ...cell, median: -1500 }, offset: { ...cell, median: null, state: 'not done' } },
  };
  const old = {
    ...time,
    group: 'later',
    cells: {
      dump: { ...cell, median: null, state: 'not measured' },
      offset: { ...cell, median: null, state: 'not done' },
    },
  };
  const few = {
    ...row,
    cells: { dump: { ...cell, state: 'too few' }, offset: { ...cell, median: null, state: 'not measured' } },
  };
  const headline = {
    cases: 8,
    rows: [row, time, old, few],
    columns: [
      { key: 'dump', name: 'as a dump' },
      { key: 'offset', name: 'as offsets' },
    ],
    dominates: '',
    foreign: '',
    counts: '',
    scope: '',
  };
  const cells = draw(made, made.headline.Headline, { headline })
    .all('td')
    .map((td) => td.textContent);
  rows([
    ['bytes', cells.slice(0, 3), ['size: file (8)', '1.50 KB (1.00 KB to 2.00 KB)', '1.50 KB (4)']],
    [
      'a time that is saved, a part',
      cells.slice(3, 6),
      ['in the dying process: file', '-1.50 µs (1.00 µs to 2.00 µs)', '–'],
    ],
    ['too few, and not measured', cells.slice(6), ['size: file (8)', 'too few (8)', 'not measured']],
  ]);
});

test('a_ratio_says_what_measured_it', () => {
  /** @type {(origin: string | null, note?: string) => string} */
  const under = (origin, note) =>
    said(made.benched.RatioSays, { rest: 'the table is', ratio: { origin, note, about: '', run: 9 } });
  rows([
    [
      'a bench',
      under('bench').split(')')[1],
      'Measured by run 9, a bench of the same commit; the table is of this run.',
    ],
    ['the run', under('run', 'no control').split(')')[1], 'no control; twinstack bench measures it.'],
    ['neither, which is said once', under(null).split(')')[1], 'twinstack bench measures it.'],
  ]);
});

test('a_million_crashes_have_a_price', () => {
  const steps = { stop_ns: 1e6, read_ns: null };
  const amount = { value: 999.5, low: 0.5, high: 12.34, cases: 1000, scenarios: 9, state: 'measured' };
  const lane = {
    lane: 'full dump',
    steps,
    total_ns: 1e9,
    raw_gb: amount,
    upload_s: 1234.5,
    price: null,
    unusable: 3,
    judged: 4000,
  };
  const other = {
    ...lane,
    lane: 'offsets',
    steps: { stop_ns: 1e3, read_ns: 0 },
    total_ns: null,
    raw_gb: { ...amount, value: null, state: 'few cases', cases: 2 },
    upload_s: null,
    price: 99.95,
    unusable: null,
  };
  const words = {
    lines: ['raw_gb', 'upload_s', 'price', 'unusable'].map((key) => ({ key, name: key })),
    steps: ['stop_ns', 'read_ns', 'total_ns'].map((key) => ({ key, name: key })),
  };
  const cost = { arch: 'x64', lanes: [lane, other], terms: { mbit_s: 20 }, where: '' };
  const paper = draw(made, made.cost.CostOfMillion, { cost, words, set: () => {} });
  const picture = draw(made, made.cost.Steps, { cost, steps: words.steps, speed: { rows: [] } });
  const bars = picture
    .all('i')
    .map(({ attributes, style }) => [attributes.class, /** @type {any} */ (style).width]);
  rows([
    [
      'three digits',
      paper.all('td').map((td) => td.textContent),
      [
        'raw_gb',
        '1.00k [0.50, 12.3] (1,000)',
        'few cases (2)',
        'upload_s',
        '1.23k',
        'not measured',
        'price',
        'not measured',
        '100',
        'unusable',
        '3 of 4,000',
        'not judged',
      ],
    ],
    // 1 µs to 1 s are six decades of the 60 % that bars may take
    [
      'bars grow with the logarithm',
      bars,
      [
        ['way-full-dump', '30%'],
        ['way-offsets', '0%'],
        ['way-full-dump', '60%'],
      ],
    ],
    [
      'a tick per decade',
      picture
        .all('span')
        .filter(({ attributes }) => attributes.class === 'ticks')[0]
        .all('span')
        .map((tick) => tick.textContent),
      ['1 µs', '10 µs', '100 µs', '1 ms', '10 ms', '100 ms', '1 s'].map((text) => text),
    ],
  ]);
});

test('modules_came_and_went', () => {
  const loads = [
    { module: 'a.dll', base: '0x10', loaded_ns: 0, unloaded_ns: 2000 },
    { module: null, base: '0x20', loaded_ns: 1000, unloaded_ns: null },
  ];
  const paper = draw(made, made.module_times.ModuleTimes, { loads });
  rows([
    [
      'each',
      paper.all('li').map((line) => line.textContent),
      ['a.dll 0x10 there from the start, gone at 2.00 µs', '? 0x20 loaded at 1.00 µs, still there'],
    ],
    [
      'from when to when',
      paper.all('rect').map(({ attributes }) => [attributes.x, attributes.width]),
      [
        ['0', '90'],
        ['45', '55'],
      ],
    ],
    ['none', said(made.module_times.ModuleTimes, { loads: [] }), ''],
  ]);
});

test('groups_of_cases_name_blame_and_since', () => {
  const example = { scenario: 's', variant: 'v', repeat: 2 };
  const group = {
    key: 'k&1',
    cases: 3,
    sentence: 'it broke',
    blames: [{ blame: 'walk of dump', cases: 3 }],
    since: { run: 5, commit: '0123456789abcdef' },
    before: { run: 4 },
    file: 'f',
    example,
  };
  const two = {
    ...group,
    file: null,
    blames: [
      { blame: 'record', cases: 2 },
      { blame: 'not known', cases: 1 },
    ],
    since: null,
    example: { ...example, repeat: 0 },
  };
  const props = { groups: [group, two], left: 2, run: 7 };
  const lines = draw(made, made.case_groups.CaseGroups, props)
    .all('li')
    .map((line) => line.textContent);
  rows([
    [
      'one blame',
      lines[0],
      '3 cases: it brokeblame: walk of dump (3) · since run 5 (0123456789ab), run 4 was good · file: f' +
        ' · e.g. s.v',
    ],
    ['two blames', lines[1], '3 cases: it brokeblame: record (2), not known (1) · e.g. s.v'],
    ['more', lines[2], 'and 2 more problems'],
    [
      'where they lead',
      links(made.case_groups.CaseGroups, props),
      [
        '/runs/7/mismatches?problem=k%261',
        '/runs/5',
        '/runs/7/mismatches/s.v?problem=k%261&repeat=2',
        '/runs/7/mismatches?problem=k%261',
        '/runs/7/mismatches/s.v?problem=k%261',
        '/signatures?run=7', // which lists them all
      ],
    ],
  ]);
});

test('a_run_in_progress_says_how_far_it_is', () => {
  const progress = {
    total: 1000,
    judged: 400,
    captured: 410,
    cases_per_minute: 59.6,
    left_ms: 90_000,
    failing: 2,
  };
  /** @type {(more?: object, state?: string) => string} */
  const text = (more = {}, state = 'running') =>
    said(made.progress.Progress, { run: { id: 7, state, progress: { ...progress, ...more } } }).trim();
  rows([
    [
      'all of it',
      text(),
      '400 of 1,000 cases · 10 captured and not yet judged · 60 per minute · ' +
        'about 90.0 s left · 2 failing so far',
    ],
    [
      'little is known',
      text({ total: 0, judged: 1, captured: 1, cases_per_minute: 0, left_ms: null, failing: 0 }),
      '1 case · none failing so far',
    ],
    [
      'it was killed',
      text({}, 'interrupted'),
      'The process that wrote this run has ended before the last case: 400 of 1,000 cases · 2 failing so far',
    ],
    ['complete', text({}, 'complete'), ''],
  ]);
});

test('what_is_wrong_with_a_run_is_counted_and_linked', () => {
  const wrong = {
    total: 1200,
    groups: [
      { trouble: 'broken', cases: 1000, text: 'broken' },
      { trouble: 'error', cases: 200, text: 'not judged' },
    ],
    baseline: 3,
    new: 2,
  };
  rows([
    [
      'all',
      said(ui.Wrong, { wrong, run: 7 }),
      '1,200 wrong: 1,000 broken, 200 not judged; 2 new since the baseline.',
    ],
    [
      'its links',
      links(ui.Wrong, { wrong, run: 7 }),
      [
        '/runs/7/mismatches',
        '/runs/7/mismatches?trouble=broken',
        '/runs/7/mismatches?trouble=error',
        '/runs/7/mismatches?new=1',
      ],
    ],
    [
      'short',
      said(ui.Wrong, { wrong: { ...wrong, new: 0 }, run: 7, short: true }),
      '1,200 wrong; none new since the baseline.',
    ],
    [
      'no baseline',
      said(ui.Wrong, { wrong: { ...wrong, baseline: null }, run: 7, short: true }),
      '1,200 wrong.',
    ],
    ['nothing', said(ui.Wrong, { wrong: { total: 0 }, run: 7 }), '✓ Nothing is wrong.'],
    [
      'nothing of what was run',
      said(ui.Wrong, { wrong: { total: 0 }, run: 7, notRun: 'x86' }),
      '✓ Nothing is wrong in what was run.',
    ],
  ]);
});

// The codes are those of Microsoft's x64 exception handling: a push is 8 bytes, an XMM register 16.
test('the_stack_of_a_frame_is_a_ruler', () => {
  const steps = [
    { had_run: true, text: 'SAVE_NONVOL rsi at +0x10' },
    { had_run: true, text: 'ALLOC_SMALL 32' },
    { had_run: true, text: 'PUSH_NONVOL rbx' },
    { had_run: false, text: 'PUSH_NONVOL rdi' },
  ];
  const evidence = { sp: '0x1000', return_slot: '0x1028', steps };
  /** @type {(more?: object, others?: object[]) => string[]} */
  const ruler = (more = {}, others = []) =>
    draw(made, made.stack_ruler.Ruler, { evidence: { ...evidence, ...more }, leads: 'main', others })
      .all('li')
      .map((line) => line.textContent);
  rows([
    [
      'saved registers and gaps',
      ruler(),
      [
        '0x1000 16 bytes',
        '0x1010 rsi, saved',
        '0x1018 8 bytes',
        '0x1020 rbx, saved',
        '0x1028 return address main',
      ],
    ],
    [
      'another walk parts here',
      ruler({ steps: [] }, [{ slot: '0x1008', engine: 'dump' }]),
      ['0x1000 8 bytes', '0x1008 return address of dump', '0x1010 24 bytes', '0x1028 return address main'],
    ],
    [
      'an XMM register',
      ruler({
        steps: [
          { had_run: true, text: 'SAVE_XMM128 xmm6 at +0x0' },
          { had_run: true, text: 'ALLOC_SMALL 40' },
        ],
      }),
      ['0x1000 xmm6, saved', '0x1010 24 bytes', '0x1028 return address main'],
    ],
    ['nothing is known', ruler({ return_slot: null, steps: [] }), []],
  ]);
});

test('bytes_around_the_pc_are_pairs', () => {
  const code = {
    note: 'n',
    lines: [
      { at: '0x1', bytes: '90', text: 'nop', mark: 'pc' },
      { at: '0x2', bytes: 'e8', text: 'call', mark: null },
    ],
  };
  rows([
    [
      'bytes',
      said(made.instructions.Instructions, {
        evidence: { code_before: '90cc', code_after: 'e80102' },
      }).startsWith('Bytes around the pc90 cc e8 01 02'),
      true,
    ],
    [
      'none before',
      said(made.instructions.Instructions, { evidence: { code_before: null, code_after: 'e801' } }).includes(
        '… e8 01',
      ),
      true,
    ],
    [
      'instructions',
      draw(made, made.instructions.Instructions, { evidence: { code, code_after: 'e8' } })
        .all('td')
        .map((td) => td.textContent),
      ['▸the pc', '0x1', 'nop', '90', '', '0x2', 'call', 'e8'],
    ],
    ['nothing', said(made.instructions.Instructions, { evidence: {} }), ''],
  ]);
});

await runAll();
