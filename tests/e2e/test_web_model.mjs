// Orders, filters and joins of lists, without a browser: tables, the grid of a run, and what a run in
// progress gains.
import { runAll, same, test } from './web/world.mjs';
import { draw, parts } from './web/paper.mjs';

const made = await parts(
  'pages/grid_model',
  'pages/aligned',
  'pages/case_groups',
  'pages/overview',
  'delta',
  'table',
);
const { grid_model: grid, delta } = made;

/** Each row: its name, what is got, what is expected.
 * @type {(rows: [string, unknown, unknown][]) => void} */
const rows = (all) => all.forEach(([name, got, want]) => same(got, want, name));

/** @type {(more?: object) => any} */
const gridData = (more = {}) => ({
  run: 7,
  state: 'complete',
  total: 4,
  kinds: ['crash', 'hang'],
  verdicts: ['PASS', 'FAIL'],
  groups: ['broken', 'rest'],
  causes: [null, 'line_off'],
  scenarios: ['a', 'b'],
  variants: ['ob0', 'ob2'],
  hooks: ['one, two', ''],
  engines: [{ engine: 'dump' }, { engine: 'offset:rtl' }],
  cases: {
    id: [1, 2, 3, 4],
    scenario: [0, 0, 1, 1],
    variant: [1, 1, 0, 1],
    repeat: [0, 1, 0, 0],
    kind: [0, 0, 1, 1],
    verdict: [0, 1, 0, 0],
    group: [1, 0, 1, 1],
    is_new: [0, 1, 0, 0],
    hooks: [0, 1, 1, 1],
    marks: ['ee', 'ew', 'fe', 'e-'],
    causes: [[], [1], [0], []],
    reference_exact: [1, 0, 1, 1],
    reference_judged: [1, 2, 1, 1],
    reference_percent: [100, 0, 100, 100],
  },
  ...more,
});

test('cases_of_a_grid_are_decoded_and_filtered', () => {
  const data = gridData();
  const cases = grid.decode(data);
  /** @type {(query: object) => number[]} */
  const ids = (query) =>
    cases.filter(grid.fitting(query, data)).map((/** @type {{id: number}} */ { id }) => id);
  const { scenario, variant, kind, verdict, group, urgency, isNew, hooks, causes, references } = cases[1];
  rows([
    [
      'the second',
      [scenario, variant, kind, verdict, group, urgency, isNew],
      ['a', 1, 'crash', 'FAIL', 'broken', 0, true],
    ],
    ['its causes and references', [causes, references], [['line_off'], { exact: 0, judged: 2, percent: 0 }]],
    ['no hook', hooks, ['']],
    ['two hooks', cases[0].hooks, ['one', 'two']],
    ['a cause that has no word', cases[2].causes, ['none']],
    ['all', ids({}), [1, 2, 3, 4]],
    ['by name', ids({ search: 'b.ob2' }), [4]],
    ['by the number of its repeat', ids({ search: '#2' }), [2]],
    ['by verdict', ids({ verdict: 'FAIL' }), [2]],
    ['by kind', ids({ kind: 'hang' }), [3, 4]],
    ['by group', ids({ group: 'broken' }), [2]],
    ['new ones', ids({ new: '1' }), [2]],
    ['by cause', ids({ cause: 'line_off' }), [2]],
    ['by hook', ids({ hook: 'two' }), [1]],
    ['wrong in the first engine', ids({ engine: 'dump' }), [3]],
    ['wrong in the second', ids({ engine: 'offset:rtl' }), [2]],
    ['two at once', ids({ kind: 'hang', search: 'ob0' }), [3]],
  ]);
});

test('the_variants_of_most_cases_come_first', () => {
  const { variants, cases } = grid.fullFirst(gridData());
  rows([
    ['their order', variants, ['ob2', 'ob0']],
    ['the cases stay in theirs', cases.variant, [0, 0, 1, 0]],
    [
      'even ones keep their order',
      grid.fullFirst(gridData({ cases: { variant: [1, 0] } })).variants,
      ['ob0', 'ob2'],
    ],
  ]);
});

test('cases_become_rows_and_lines', () => {
  const data = gridData();
  const cases = grid.decode(data);
  const [a, b] = grid.toRows(cases, 2, () => true);
  const cell = a.cells[1];
  /** @type {(verdict: string) => any} */
  const twice = (verdict) => cases.slice(0, 2).map((/** @type {object} */ c) => ({ ...c, verdict }));
  const [[passing], [failing]] = ['PASS', 'FAIL'].map((word) => grid.toRows(twice(word), 2, () => true));
  /** @type {(how: object, all?: any[]) => string[]} */
  const lines = (how, all = [a, b]) =>
    grid
      .toLines(all, { running: false, fold: false, open: new Set(), letters: [], ...how })
      .map(
        (/** @type {{type: string, key: string, count: number}} */ line) =>
          `${line.type} ${line.key} ${line.count}`,
      );
  /** @type {(scenario: string, urgency?: number, kind?: string) => any} */
  const row = (scenario, urgency = 1, kind = 'hang') => ({ ...b, scenario, urgency, kind });
  const three = [row('c'), row('b'), row('d')];
  const key = grid.toLines(three, { running: false, fold: true, open: new Set(), letters: [] })[1].key;
  rows([
    ['a cell shows the repeat that fails', [cell.worst.id, cell.repeats, cell.fits], [2, 2, true]],
    ['the first where none fails', passing.cells[1].worst.id, 1],
    ['the first of two that fail', failing.cells[1].worst.id, 1],
    ['no case in a variant', a.cells[0], null],
    ['a row', [a.urgency, a.newest, a.fits], [0, 2, 2]],
    [
      'rows without a case that fits go',
      grid
        .toRows(cases, 2, (/** @type {any} */ c) => c.id === 3)
        .map((/** @type {any} */ r) => [r.scenario, r.fits]),
      [['b', 1]],
    ],
    ['kinds in their order', lines({}), ['kind kind crash 1', 'row a 1', 'kind kind hang 1', 'row b 1']],
    ['the newest first while it runs', lines({ running: true }), ['row b 1', 'row a 1']],
    [
      'urgent ones first, then names',
      lines({}, [row('c'), row('b'), row('z', 0)]).slice(1),
      ['row z 1', 'row b 1', 'row c 1'],
    ],
    [
      'three alike are one line',
      lines({ fold: true }, three).map((line) => line.split(' ')[0]),
      ['kind', 'fold'],
    ],
    [
      'an open fold has its rows',
      lines({ fold: true, open: new Set([key]) }, three).slice(2),
      ['row b 1', 'row c 1', 'row d 1'],
    ],
    ['two alike are two', lines({ fold: true }, three.slice(1)).slice(1), ['row b 1', 'row d 1']],
    ['healthy ones after what hangs', lines({}, [row('x', 0, 'calm'), row('y')])[0], 'kind kind hang 1'],
    ['another kind is last', lines({}, [row('x', 0, 'new'), row('y', 1, 'stacks')])[0], 'kind kind stacks 1'],
    ['words that differ', grid.different(['b', null, 'a', 'none', 'b']), ['a', 'b']],
  ]);
});

test('a_run_in_progress_gains_what_came_since', () => {
  const path = '/api/v1/runs/7/grid';
  const before = gridData({ state: 'running' });
  const { cases } = before;
  const after = gridData({
    state: 'running',
    total: 5,
    scenarios: ['aa'],
    variants: ['ob1'],
    hooks: ['three'],
    cases: { ...Object.fromEntries(Object.keys(cases).map((key) => [key, [0]])), id: [5] },
  });
  const whole = /** @type {any} */ (delta.join(before, after));
  rows([
    ['what to ask for', delta.since(path, before), `${path}?after=4`],
    ['a run that has ended', delta.since(path, gridData()), null],
    ['no case yet', delta.since(path, gridData({ state: 'running', cases: { id: [] } })), null],
    ['another document', delta.since('/api/v1/runs/7', before), null],
    ['all cases', whole.cases.id, [1, 2, 3, 4, 5]],
    ['scenarios in order', whole.scenarios, ['a', 'aa', 'b']],
    ['the places of the old ones and the new', whole.cases.scenario, [0, 0, 2, 2, 1]],
    [
      'variants',
      [whole.variants, whole.cases.variant],
      [
        ['ob0', 'ob1', 'ob2'],
        [2, 2, 0, 2, 1],
      ],
    ],
    [
      'hooks',
      [whole.hooks, whole.cases.hooks],
      [
        ['', 'one, two', 'three'],
        [1, 0, 0, 0, 2],
      ],
    ],
    ['what it was made of stays', before.scenarios, ['a', 'b']],
    ['another run', delta.join(before, { ...after, run: 8 }), null],
    ['it has ended', delta.join(before, { ...after, state: 'complete' }), null],
    ['cases are missing', delta.join(before, { ...after, total: 6 }), null],
    ['another engine', delta.join(before, { ...after, engines: [] }), null],
  ]);
});

test('tables_sort_by_a_click_and_back', async () => {
  /** @typedef {{name: string, count: number | null}} Row */
  const paper = draw(made, made.table.Table, {
    label: 'x',
    rows: [
      { name: 'b', count: 2 },
      { name: 'c', count: null },
      { name: 'a', count: 10 },
    ],
    columns: [
      {
        head: 'name',
        cell: (/** @type {Row} */ row) => row.name,
        sort: (/** @type {Row} */ row) => row.name,
      },
      {
        head: 'count',
        kind: 'num',
        cell: (/** @type {Row} */ row) => row.count ?? '–',
        sort: (/** @type {Row} */ row) => row.count,
      },
      false,
    ],
  });
  const shown = () =>
    paper
      .all('tbody')[0]
      .all('tr')
      .map((row) => row.all('td')[0].textContent)
      .join('');
  const sorted = () => paper.all('th').map(({ attributes }) => attributes['aria-sort'] ?? 'no');
  /** @type {(column: number) => Promise<unknown[]>} */
  const click = async (column) => {
    await paper.all('button')[column].click();
    return [shown(), sorted()];
  };
  rows([
    ['as the server gave them', [shown(), sorted()], ['bca', ['no', 'no']]],
    ['words go up first', await click(0), ['abc', ['ascending', 'no']]],
    ['then down', await click(0), ['cba', ['descending', 'no']]],
    ['then back', await click(0), ['bca', ['no', 'no']]],
    ['numbers go down first, the unknown last', await click(1), ['abc', ['no', 'descending']]],
    ['then up, the unknown last', await click(1), ['bac', ['no', 'ascending']]],
    ['another column at once', await click(0), ['abc', ['ascending', 'no']]],
  ]);
});

/** A row: the truth's frame and one of each engine; a number: its inline depth.
 * @type {(...frames: (number | string | null)[]) => object[]} */
const row = (...frames) =>
  frames.map((frame) => ({
    frame:
      frame === null
        ? null
        : typeof frame === 'number'
          ? { inline_depth: frame, class: 'own' }
          : { inline_depth: 0, class: frame },
  }));

test('a_row_is_inline_or_of_the_system_in_all_its_stacks', () =>
  rows([
    ['inlined in both', made.aligned.isInline(row(null, 1, 2)), true],
    ['in the one that has it', made.aligned.isInline(row(null, null, 1)), true],
    ['in only one of two', made.aligned.isInline(row(null, 1, 0)), false],
    ['in the last of three', made.aligned.isInline(row(null, 0, 0, 1)), false],
    ['in none', made.aligned.isInline(row(null, 0, 0)), false],
    ['no stack has it', made.aligned.isInline(row(1, null, null)), false],
    ['only the truth says so', made.aligned.isInline(row(1, 0)), false],
    ['of the system', made.aligned.isSystem(row(null, 'system', 'runtime')), true],
    ['of no class, or of the capture', made.aligned.isSystem(row(null, 'none', 'capture', null)), true],
    ['own in one', made.aligned.isSystem(row(null, 'system', 'own')), false],
    ['generated', made.aligned.isSystem(row(null, 'generated')), false],
    ['the truth has it', made.aligned.isSystem(row('system', 'system')), false],
  ]));

// 200 by 44, from 2 to 198 and from 42 up to 4; above and below the values is room for 60 % of their spread.
// Of 10 and 20: 10 is at 6 of 22 of the height, 42 - 6 / 22 * 38 = 31.64, and 20 at 16 of 22, 14.36.
test('a_small_line_has_its_points_or_says_why_there_is_none', () => {
  /** @type {(values: (number | null)[], more?: object[], band?: object) => any} */
  const drawn = (values, more = [], band = { low: null, high: null }) =>
    draw(made, made.overview.Sparkline, {
      trend: {
        band,
        points: values.map((value, i) => ({
          run: i + 1,
          value,
          bench: null,
          started_ns: (i + 1) * 864e11,
          ...more[i],
        })),
      },
      show: (/** @type {number} */ v) => `${v} ms`,
    });
  /** @type {(values: number[], more?: object[]) => string[]} */
  const line = (values, more) =>
    drawn(values, more)
      .all('polyline')
      .map((/** @type {any} */ l) => l.attributes.points);
  const banded = drawn([10, 20], [], { low: 10, high: 40 }).all('rect')[0].attributes;
  rows([
    ['two points', line([10, 20]), ['2.0,31.6 198.0,14.4']],
    ['three points', line([20, 10, 20]), ['2.0,14.4 100.0,31.6 198.0,14.4']],
    ['as long as before', line([10, 10]), ['2.0,23.0 198.0,23.0']],
    ['always nothing', line([0, 0]), ['2.0,23.0 198.0,23.0']],
    ['below nothing', line([-10, -20]), ['2.0,14.4 198.0,31.6']],
    ['what does not count is left out', line([10, 99, 20], [{}, { counts: false }]), ['2.0,31.6 198.0,14.4']],
    ['its ends', drawn([10, 30, 20]).textContent, '10 ms 1970-01-0220 ms 1970-01-04'],
    // 40 is above the top, 26: the band ends there, at 4
    ['its band', [Number(banded.y).toFixed(1), Number(banded.height).toFixed(1)], ['4.0', '27.6']],
    ['no run', drawn([]).textContent, 'not measured'],
    ['one run', drawn([10]).textContent, 'one run so far'],
    [
      'one that counts',
      drawn([10, 20], [{}, { counts: false }]).textContent,
      'no other run of about as many cases',
    ],
    ['none that counts', drawn([10], [{ counts: false }]).textContent, 'not measured'],
    [
      'one was a bench',
      drawn([10, 20], [{}, { counts: false, bench: 3 }]).textContent,
      'no other run was measured like it',
    ],
  ]);
});

test('cases_that_two_problems_share_are_counted', () => {
  const inBoth = (/** @type {number[]} */ [shared, listed, left]) =>
    made.case_groups.inBoth({ shared, problems: Array(listed).fill({}), problems_left: left });
  rows([
    ['none', inBoth([0, 2, 0]), ''],
    ['of two', inBoth([1234, 2, 0]), ', 1,234 of them in both'],
    ['of three', inBoth([2, 3, 0]), ', 2 of them in two'],
    ['of more than are listed', inBoth([2, 2, 1]), ', 2 of them in two'],
  ]);
});

await runAll();
