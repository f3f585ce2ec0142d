// What the plots and tables of times and trends show of rare states, and what they draw, without a browser.
import { runAll, same, test } from './web/world.mjs';
import { happens } from './web/paper.mjs';
import { DAY, does, lines, modulesOf, orders, page, settled, shows } from './web/states.mjs';

const made = await modulesOf('uplot', 'pages/history', 'pages/timing', 'pages/trend');

/** What is drawn: each call of a canvas, with the colours and the width of its pen.
 * @type {(upwards?: boolean) => any} */
function canvas(upwards = true) {
  /** @type {string[]} */
  const calls = [];
  const pen = { globalAlpha: 1, fillStyle: '', strokeStyle: '' };
  const ctx = new Proxy(/** @type {any} */ (pen), {
    get: (_, name) =>
      name in pen
        ? pen[/** @type {keyof typeof pen} */ (name)]
        : (/** @type {unknown[]} */ ...given) => {
            const drawn = /^fill|^stroke$/.test(String(name));
            calls.push(
              [String(name), ...given, ...(drawn ? [pen.fillStyle, pen.globalAlpha] : [])].join(' '),
            );
          },
  });
  return {
    calls,
    ctx,
    bbox: { left: 10, top: 20, width: 300, height: 100 },
    scales: { y: { min: 0, max: 50 } },
    cursor: { left: 100, top: 50 },
    // where a canvas draws, or for the pointer where the page shows it
    valToPos: (/** @type {number} */ v, /** @type {string} */ along, /** @type {boolean} */ drawn = false) =>
      drawn !== upwards ? NaN : upwards && along === 'y' ? 1000 - v : v,
  };
}
/** @type {(name: string) => string} */
const paint = (name) => `<${name}>`;
globalThis.devicePixelRatio = 2;

/** @type {(run: number, value: number | null, more?: object) => object} */
const point = (run, value, more = {}) => ({
  run,
  value,
  count: 8,
  counts: true,
  started_ns: run * DAY,
  commit: '0123456789abcdef',
  branch: 'main',
  platform: 'wine',
  arch: 'x64',
  ...more,
});
const level = {
  from_ns: 2 * DAY,
  to_ns: 3 * DAY,
  from_run: 2,
  low: 8,
  high: 12,
  median: 10,
  change: null,
  commit: 'fedcba9876543210',
  before: 20,
  effect: -0.5,
  p: 0.00123,
  last_run_before: 1,
};
const worse = {
  ...level,
  change: 'worse',
  commit: null,
  from_run: 4,
  effect: 0.25,
  p: null,
  last_run_before: 3,
};
const better = { ...level, change: 'better' };
const found = {
  figure: { name: 'walk', title: 'Walk', unit: 'ns' },
  figures: [
    { name: 'walk', title: 'Walk' },
    { name: 'exact', title: 'Exact' },
  ],
  sentence: 'It is worse.',
  arch: 'x64',
  trend: {
    points: [
      point(1, 20, { branch: 'b', platform: 'q' }),
      point(2, 10, { counts: false, branch: null, platform: null, commit: null }),
      point(3, null, { branch: 'a', platform: 'r' }),
      point(4, 1500, { count: 1, arch: null }),
    ],
  },
  levels: [level, better, worse],
  branches: ['dev', 'main'],
  platforms: ['wine'],
  noise: { bench: 9, threshold: 0.0451 },
};
const { Trend } = made.trend;
/** @type {(given: object, address: string) => Promise<any>} */
const trend = (given, address) => page(Trend, {}, { '/api/v1/trend': given }, address);
/** @type {(paper: any) => any} */
const plotted = (paper) => paper.all('*').find((/** @type {any} */ node) => node.plotted)?.plotted;

test('a_figure_over_runs', async () => {
  const paper = await trend(found, '/trend?metric=walk&run=4&branch=old&scenario=s&variant=v');
  shows(
    paper,
    `
    Trend
    One figure over runs: is it getting worse, and since when?
    figure
    * Walk
    Exact
    runs
    newest 30
    * newest 100
    newest 300
    newest 1,000
    branch
    * old
    any
    dev
    main
    platform
    * any
    wine
    of s.v alone; show all
    {bad} Walk, x64. It is worse.
    {near} Point at a dot to see its run; click to open it.
    {strong} Run 4, 1970-01-05 00:00 UTC, 0123456789ab: 1.50 µs of 1 sample · compare with run 3 before \
      it → /runs/4 → /compare/3/4
    Changes 2
    since | day | commit | says | before | now | effect | p | look
    {strong} {wrong} run 4 | 1970-01-03 | – | ▲ worse | 20 ns | 10 ns | +25.0 % | | compare with run 3 → \
      /runs/4 → /compare/3/4
    {strong} {good} run 2 | 1970-01-03 | fedcba987654 | ▼ better | 20 ns | 10 ns | -50.0 % | 0.0012 | \
      compare with run 1 → /runs/2 → /compare/1/2
    Every run, as a table
    The band is 4.5 % around the median of a level: the larger of 3 % and the difference of equal work \
      in the bench of run 9 (A/A). A level changes where chance does not explain it (ranks, p under 0.01 \
      at any run) and the effect is outside the band. Pale points, runs of under half of the cases or of \
      another processor, are not compared.
  `,
  );
  await does(paper, 'select', 'newest 30', 'change', { value: '300' });
  same(location.search, '?metric=walk&branch=old&scenario=s&variant=v&limit=300');
  await does(paper, 'select', 'dev', 'change', { value: 'dev' });
  same(location.search, '?metric=walk&branch=dev&scenario=s&variant=v&limit=300');
  await does(paper, 'button', 'alone');
  same(location.search, '?metric=walk&branch=dev&limit=300');
  await does(paper, 'details', '', 'toggle', { open: true });
  same(await orders(paper, 1), [
    'run ▲: 1,2,3,4',
    'branch ▲: 3,1,4,2',
    'platform ▲: 1,3,4,2',
    'Walk ▼: 4,1,2,3',
  ]);
  const other = await trend(found, '/trend?metric=walk&run=2');
  same(
    lines(other).find((line) => line.includes('Run 2')),
    '{strong} Run 2, 1970-01-03 00:00 UTC, no commit: 10 ns of 8 samples, x64 (not compared: ' +
      'no such figure, too few cases, or another processor) → /runs/2',
  );
  same(
    lines(await trend(found, '/trend?run=99')).some((line) => line.includes('UTC, ')),
    false,
  );
  const share = {
    ...found,
    figure: { name: 'exact', title: 'Exact', unit: 'share' },
    levels: [],
    trend: { points: [] },
    arch: null,
  };
  shows(
    await trend(share, '/trend'),
    `
    Trend
    One figure over runs: is it getting worse, and since when?
    figure
    Walk
    * Exact
    runs
    newest 30
    * newest 100
    newest 300
    newest 1,000
    branch
    * any
    dev
    main
    platform
    * any
    wine
    Exact. It is worse.
    No run here has this figure.
    Every run, as a table
    A share has no noise of its own: the line is the median of a level. A level changes where chance \
      does not explain it (ranks, p under 0.01 at any run) and the effect is outside the band. Pale \
      points, runs of under half of the cases or of another processor, are not compared.
  `,
  );
  const unknown = { ...found, noise: { bench: null, threshold: 0.03 }, levels: [level, better] };
  same(
    lines(await trend(unknown, '/trend')).filter((line) => /band|^.good. Walk/.test(line)),
    [
      '{good} Walk, x64. It is worse.',
      'No bench has measured the noise of this machine: the band is 3 % around the median of a ' +
        'level. A level changes where chance does not explain it (ranks, p under 0.01 at any run)' +
        ' and the effect is outside the band. Pale points, runs of under half of the cases or of ' +
        'another processor, are not compared.',
    ],
  );
  const one = await trend({ ...found, levels: [level] }, '/trend');
  same(
    one
      .all('p')
      .map((/** @type {any} */ p) => p.attributes.class)
      .filter((/** @type {string} */ c) => /verdictline/.test(c)),
    ['verdictline box '],
  );
});

test('the_axes_of_a_trend', async () => {
  const paper = await trend(found, '/trend?metric=walk');
  const { options, data } = plotted(paper);
  same(data, [
    [86400, 172800, 345600],
    [20, null, 1500],
    [null, 10, null],
  ]);
  const [x, y] = options.axes;
  same(x.values(null, [1e9], 0, 0, 86400), ['2001-09-09']);
  same(x.values(null, [1e9], 0, 0, 86399), ['09-09 01:46']);
  same(x.values(null, [1e9], 0, 0, 59), ['09-09 01:46:40']);
  same(x.values(null, [1e9], 0, 0, 60), ['09-09 01:46']);
  same(y.values(null, [1, 1500]), ['1 ns', '1.50 µs']);
  same(options.scales.x.range(null, 5, 9), [5, 9]);
  // 10 and 20 with the levels, 8 to 12: 8 to 20, and 12 % of 12 more on both sides
  same(
    options.scales.y.range(null, 10, 20).map((/** @type {number} */ v) => v.toFixed(2)),
    ['6.56', '21.44'],
  );
  const single = {
    ...found,
    levels: [],
    trend: { points: [point(1, 0.5)] },
    figure: { name: 'exact', title: 'Exact', unit: 'share' },
  };
  const alone = plotted(await trend(single, '/trend?metric=one')).options;
  same(alone.scales.x.range(null, 86400, 86400), [43200, 129600]);
  same(alone.scales.y.range(null, 100, 100), [95, 105]);
  same(alone.scales.y.range(null, 0, 0), [-1, 1]);
  same(alone.axes[1].values(null, [0.12345, 1, 1.01]), ['12.34 %', '100.00 %', '']);
});

test('the_levels_of_a_trend_are_drawn', async () => {
  const paper = await trend(found, '/trend?metric=walk');
  const { hooks } = plotted(paper).options;
  const plot = canvas();
  hooks.drawClear[0](plot);
  same(plot.calls, [
    'save',
    'fillRect 172800 988 86400 4 --dim 0.16',
    'fillRect 172800 990 86400 1.5 --dim 1',
    'fillRect 172800 988 86400 4 --dim 0.16',
    'fillRect 172800 990 86400 1.5 --dim 1',
    'fillRect 172800 988 86400 4 --dim 0.16',
    'fillRect 172800 990 86400 1.5 --dim 1',
    'restore',
  ]);
  const marks = canvas();
  hooks.draw[0](marks);
  same(marks.calls, [
    'save',
    'beginPath',
    'moveTo 172800 20',
    'lineTo 172800 120',
    'stroke --pass 1',
    'fillText ▼ better fedcba987654 172796 44 --pass 1',
    'beginPath',
    'moveTo 172800 20',
    'lineTo 172800 120',
    'stroke --fail 1',
    'fillText ▲ worse run 4 172796 44 --fail 1',
    'restore',
  ]);
});

// The pointer is at 100, 50; a dot is meant within 14 pixels.
test('the_dot_under_the_pointer_is_named_and_opened', async () => {
  const dots = [
    { x: 86, y: 50, text: 'just too far', to: '/far' },
    { x: 95, y: 53, text: 'near', to: '/near' },
    { x: 90, y: 41, text: 'less near', to: '/less' },
  ];
  const options = () => ({ series: [], hooks: { draw: [1] } });
  const paper = await page(made.uplot.Plot, {
    options,
    data: [[1]],
    label: 'said',
    dots,
    what: 'run',
    height: 99,
  });
  shows(
    paper,
    `
    {near} Point at a dot to see its run; click to open it.
  `,
  );
  const { options: given, data } = plotted(paper);
  same([data, given.height, given.hooks.draw], [[[1]], 99, [1]]);
  given.hooks.setCursor[0](canvas(false));
  await settled();
  same(lines(paper), ['{near} near → /near']);
  const box = paper.all('*').find((/** @type {any} */ node) => node.attributes.role === 'img');
  box?.listeners.click.call(box, {});
  same(location.pathname, '/near');
  given.hooks.setCursor[0]({ ...canvas(), cursor: { left: -1, top: -1 } });
  await settled();
  same(lines(paper).length, 1);
  // on paper the colours are greys; afterwards they are the page's own again
  /** @type {string[]} */
  const painted = [];
  const colours = (/** @type {(name: string) => string} */ with_) => {
    painted.push(`${with_('dim')} ${with_('judge')} ${with_('fail')}`);
    return { series: [] };
  };
  await page(made.uplot.Plot, { options: colours, data: [[1]], label: 'said' });
  happens('beforeprint', {});
  happens('afterprint', {});
  same(painted, ['--dim --judge --fail', '#333333 #aaaaaa #000000', '--dim --judge --fail']);
});

test('bands_and_axes', () => {
  const plot = canvas();
  const rows = [
    [{ low: 10, high: 20 }, 'dump', 2],
    [{ low: null, high: 20 }, 'none'],
    [{ low: 20, high: null }, 'none'],
    [{ low: 30, high: 60 }, 'high'],
    [{ low: -5, high: 1 }, 'low'],
  ];
  made.uplot.bands(paint, rows).drawClear[0](plot);
  same(plot.calls, [
    'save',
    'fillRect 10 960 300 20 <dump> 0.14',
    'restore',
    'save',
    'fillRect 10 950 300 20 <high> 0.14',
    'restore',
    'save',
    'fillRect 10 999 300 2 <low> 0.14',
    'restore',
  ]);
  const { filter, values } = made.uplot.logAxis(paint, (/** @type {number} */ v) => `${v}.00 ns`);
  same(filter(null, [0, 1, 2, 10, 99.9999, 1000]), [null, 1, null, 10, null, 1000]);
  same(values(null, [null, 10]), ['', '10 ns']);
  const axis = made.uplot.runAxis(paint, [3, 9]);
  same(axis.values(null, [2, 3, 9, 10]), ['', 3, 9, '']);
});

const engine = {
  engine: 'dump',
  kind: 'dump',
  subject: true,
  count: 0,
  median: null,
  metric: null,
  parts: [],
};
const timing = {
  run: 7,
  arch: 'x64',
  engines: [engine],
  capture: [],
  others: [],
  costs: [],
  samples: [],
  groups: [],
  samples_total: 0,
  cases_shown: 0,
  cases_total: 0,
  bench: null,
  total: 0,
};
const bench = {
  ...timing,
  samples: [
    { subject: 'dump', stage: 'walk', cold: true, ns: 100 },
    { subject: 'dump', stage: 'walk', cold: false, ns: 100 },
    { subject: 'dump', stage: 'read', cold: true, ns: 100 },
    { subject: 'dump', stage: 'walk', cold: true, ns: 10_000 },
  ],
  samples_total: 4,
  groups: [
    {
      subject: 'dump',
      stage: 'walk',
      cold: true,
      kind: 'dump',
      median: 1000,
      least: 100,
      most: 10_000,
      count: 1200,
    },
    {
      subject: 'dump',
      stage: 'walk',
      cold: false,
      kind: 'offset',
      median: 100,
      least: 100,
      most: 100,
      count: 1,
    },
  ],
  bench: { back_end: [] },
};

test('a_bench_has_every_sample', async () => {
  const given = { '/api/v1/timing': timing, '/api/v1/runs': { runs: [] } };
  shows(
    await page(made.timing.Timing, {}, given, '/timing?run=7'),
    `
    Timing
    run 7: dump against offsets, stage by stage
    run
    * 7
    Nothing was timed
    No engine was timed in this run.
  `,
  );
  const paper = await page(made.timing.Timing, {}, { '/api/v1/timing': bench }, '/timing?run=8');
  shows(
    paper,
    `
    Timing
    run 7: dump against offsets, stage by stage
    run
    * 7
    Cold and warm
    bench | median | every sample, log scale from 100 ns to 10.2 µs | samples
    {strong} dump · walk · cold | 1.00 µs | | 1,200
    {strong} dump · walk · warm | 100 ns | | 1
  `,
  );
  // from 4 to 296; the axis ends a hundredth of a decade after the largest of two decades: 4 + 292 * 2 / 2.01
  const dots = paper
    .all('circle')
    .map(({ attributes }) => [Number(attributes.cx).toFixed(1), attributes.class]);
  same(dots, [
    ['4.0', 'dump'],
    ['294.5', 'dump'],
    ['4.0', 'offset'],
  ]);
  same(
    paper.all('svg').map(({ attributes }) => attributes['aria-label']),
    ['from 100 ns to 10.0 µs', 'from 100 ns to 100 ns'],
  );
});

await runAll();
