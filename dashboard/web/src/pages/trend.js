// One figure over runs: is it getting worse, and since when.
import { useMemo, useState } from 'preact/hooks';
import { offline, useData } from '../api.js';
import { Term } from '../glossary.js';
import { usePaper } from '../paper.js';
import { useQuery } from '../router.js';
import { Plot, axis } from '../uplot.js';
import { Table } from '../table.js';
import { bytes, commitOf, duration, Field, Link, Loaded, number, Page, plural, times, when } from '../ui.js';

/**
 * @typedef {import('openapi').Answers['/api/v1/trend']} Found
 * @typedef {Found['trend']['points'][number]} Point
 * @typedef {import('../uplot.js').Paint} Paint
 * @typedef {import('../uplot.js').PlotOptions} PlotOptions
 */

const LIMITS = [30, 100, 300, 1000];
const DEFAULT_LIMIT = 100;
const DEFAULT_METRIC = 'exact';

/** @type {Record<import('openapi').Figure['unit'], (value: number) => string>} */
const shown = {
  share: (value) => `${(Math.floor(1e4 * value + 1e-6) / 100).toFixed(2)} %`, // 100: only of all
  ratio: times,
  ns: duration,
  bytes,
};
/** @type {(figure: import('openapi').Figure, value: number | null) => string} */
const show = (figure, value) => (value === null ? '–' : shown[figure.unit](value));
/** @type {(share: number) => string} */
const percent = (share) => `${share >= 0 ? '+' : ''}${(100 * share).toFixed(1)} %`;
/** @type {(ns: number) => number} */
const seconds = (ns) => ns / 1e9;
const DAY_SECONDS = 86400;
/**
 * @param {number} time seconds since 1970
 * @param {number} step between two labels
 */
function day(time, step) {
  const text = new Date(time * 1e3).toISOString();
  return step >= DAY_SECONDS
    ? text.slice(0, 10)
    : `${text.slice(5, 10)} ${text.slice(11, step < 60 ? 19 : 16)}`;
}

// The noise around each level, its median, and a mark with the commit where a level begins.
/** @type {(found: Found, paint: Paint) => import('uplot').Hooks.Arrays} */
const levels = (found, paint) => ({
  drawClear: [
    (plot) => {
      const { ctx } = plot;
      /** @type {(v: number) => number} */
      const x = (v) => plot.valToPos(v, 'x', true);
      /** @type {(v: number) => number} */
      const y = (v) => plot.valToPos(v, 'y', true);
      ctx.save();
      for (const level of found.levels) {
        const [from, to] = [x(seconds(level.from_ns)), x(seconds(level.to_ns))];
        ctx.globalAlpha = 0.16;
        ctx.fillStyle = paint('dim');
        ctx.fillRect(from, y(level.high), Math.max(4, to - from), Math.max(2, y(level.low) - y(level.high)));
        ctx.globalAlpha = 1;
        ctx.fillRect(from, y(level.median), Math.max(4, to - from), 1.5);
      }
      ctx.restore();
    },
  ],
  draw: [
    (plot) => {
      const { ctx, bbox } = plot;
      ctx.save();
      ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.textAlign = 'right';
      for (const level of found.levels.filter((each) => each.change)) {
        const at = plot.valToPos(seconds(level.from_ns), 'x', true);
        ctx.fillStyle = ctx.strokeStyle = paint(level.change === 'worse' ? 'fail' : 'pass');
        ctx.beginPath();
        ctx.moveTo(at, bbox.top);
        ctx.lineTo(at, bbox.top + bbox.height);
        ctx.stroke();
        const mark = level.change === 'worse' ? '▲ worse' : '▼ better';
        const commit = commitOf(level) ?? `run ${level.from_run}`;
        ctx.fillText(`${mark} ${commit}`, at - 4, bbox.top + 12 * devicePixelRatio);
      }
      ctx.restore();
    },
  ],
});

/** @param {{found: Found, to: (run: number) => string}} props */
function Line({ found, to }) {
  const { figure } = found;
  const { data, options, dots } = useMemo(() => {
    const points = found.trend.points.filter((point) => point.value !== null);
    /** @type {(counts: boolean) => (number | null)[]} */
    const of = (counts) => points.map((point) => (point.counts === counts ? point.value : null));
    return {
      data: [points.map((point) => seconds(point.started_ns)), of(true), of(false)],
      dots: points.map((point) => ({
        x: seconds(point.started_ns),
        y: /** @type {number} */ (point.value),
        to: to(point.run),
        text: `run ${point.run}, ${when(point.started_ns)}: ${show(figure, point.value)}`,
      })),
      /** @type {import('../uplot.js').Options} */
      options: (paint, library) => ({
        legend: { show: false },
        tzDate: (time) => library.tzDate(new Date(time * 1e3), 'UTC'),
        padding: [14, 16, 0, 0],
        scales: {
          x: {
            // uPlot gives a single point an axis of years
            range: (_, low, high) =>
              points.length === 1 ? [low - DAY_SECONDS / 2, low + DAY_SECONDS / 2] : [low, high],
          },
          y: {
            range: (_, low, high) => {
              const all = [low, high, ...found.levels.flatMap((level) => [level.low, level.high])];
              const [least, most] = [Math.min(...all), Math.max(...all)];
              const air = (most - least) * 0.12 || Math.abs(most) * 0.05 || 1;
              return [least - air, most + air];
            },
          },
        },
        axes: [
          axis(paint, {
            size: 32,
            label: 'started, UTC',
            space: 84,
            values: (...[, ticks, , , step]) => ticks.map((tick) => day(tick, step)),
          }),
          axis(paint, {
            size: 72,
            values: (_, ticks) =>
              ticks.map((tick) => (figure.unit === 'share' && tick > 1 ? '' : show(figure, tick))),
          }),
        ],
        hooks: levels(found, paint),
        series: [
          {},
          {
            stroke: paint('offset'),
            width: 1.25,
            spanGaps: true,
            points: { show: points.length <= 300, size: 5, fill: paint('offset') },
          },
          { stroke: paint('dim'), paths: () => null, points: { show: true, size: 5, width: 1 } },
        ],
      }),
    };
  }, [found]);
  if (data[0].length === 0) return <p class="dim pad">No run here has this figure.</p>;
  return (
    <Plot
      data={data}
      options={options}
      height={320}
      dots={dots}
      what="run"
      label={`${figure.title} by date, ${plural(data[0].length, 'run')}. ${found.sentence}`}
    />
  );
}

/**
 * Run -> the one before it, of those that are compared.
 * @param {Point[]} points
 */
function befores(points) {
  const known = points.filter((point) => point.counts);
  return new Map(known.slice(1).map((point, i) => [point.run, known[i].run]));
}

/** @param {{found: Found, run: number}} props */
function Chosen({ found, run }) {
  const { points } = found.trend;
  const point = points.find((each) => each.run === run);
  if (!point) return null;
  const earlier = befores(points).get(run);
  return (
    <p class="banner chosen" role="status">
      <Link class="strong" to={`/runs/${run}`}>
        Run {run}
      </Link>
      , {when(point.started_ns)} UTC, <span class="mono">{commitOf(point) ?? 'no commit'}</span>
      {': '}
      <strong>{show(found.figure, point.value)}</strong> of {plural(point.count, 'sample')}
      {point.arch && `, ${point.arch}`}
      {!point.counts && ' (not compared: no such figure, too few cases, or another processor)'}
      {earlier && (
        <>
          {' · '}
          <Link to={`/compare/${earlier}/${run}`}>compare with run {earlier} before it</Link>
        </>
      )}
    </p>
  );
}

/** @param {{found: Found}} props */
function Changes({ found }) {
  const { figure } = found;
  const rows = found.levels.filter((level) => level.change).reverse();
  if (rows.length === 0) return null;
  return (
    <>
      <h2 class="section">
        Changes <span class="count dim">{number(rows.length)}</span>
      </h2>
      <Table
        label="Changes"
        kind="list stacking"
        rows={rows}
        columns={[
          {
            head: 'since',
            cell: (level) => (
              <Link class="strong" to={`/runs/${level.from_run}`}>
                run {level.from_run}
              </Link>
            ),
          },
          { head: 'day', cell: (level) => when(level.from_ns).slice(0, 10) },
          { head: 'commit', cell: (level) => commitOf(level) ?? '–', kind: 'mono' },
          {
            head: 'says',
            cell: (level) => (level.change === 'worse' ? '▲ worse' : '▼ better'),
            attributes: (level) => ({ class: level.change === 'worse' ? 'wrong' : 'good' }),
            label: '',
          },
          { head: 'before', cell: (level) => show(figure, level.before), kind: 'num' },
          { head: 'now', cell: (level) => show(figure, level.median), kind: 'num' },
          {
            head: 'effect',
            cell: (level) => (level.effect === null ? '–' : percent(level.effect)),
            sort: (level) => level.effect,
            kind: 'num',
          },
          {
            head: <Term name="p" />,
            cell: (level) => level.p?.toPrecision(2),
            kind: 'num dim',
            label: 'p',
          },
          {
            head: 'look',
            cell: (level) => (
              <Link to={`/compare/${level.last_run_before}/${level.from_run}`}>
                compare with run {level.last_run_before}
              </Link>
            ),
            label: '',
          },
        ]}
      />
    </>
  );
}

/**
 * Good news is green; "not known" is neither green nor red.
 * @param {Found} found
 */
function mood(found) {
  if (found.levels.at(-1)?.change === 'worse') return 'bad';
  return found.levels.length > 1 ? 'good' : '';
}

/** @param {{found: Found}} props */
function Every({ found }) {
  const [open, setOpen] = useState(false);
  const paper = usePaper();
  const points = [...found.trend.points].reverse();
  const earlier = useMemo(() => befores(found.trend.points), [found]);
  return (
    <details class="env" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Every run, as a table</summary>
      {(open || paper) && (
        <Table
          label="Every run"
          rows={points}
          columns={[
            {
              head: 'run',
              cell: ({ run }) => <Link to={`/runs/${run}`}>{run}</Link>,
              sort: (point) => point.run,
            },
            { head: 'started', cell: (point) => when(point.started_ns), kind: 'nowrap' },
            { head: 'commit', cell: (point) => commitOf(point) ?? '–', kind: 'mono' },
            {
              head: 'branch',
              cell: (point) => <bdi>{point.branch ?? '–'}</bdi>,
              sort: (point) => point.branch,
            },
            {
              head: 'platform',
              cell: (point) => <bdi>{point.platform ?? '–'}</bdi>,
              sort: (point) => point.platform,
            },
            {
              head: found.figure.title,
              cell: (point) => show(found.figure, point.value),
              sort: (point) => point.value,
              kind: 'num',
            },
            {
              head: 'look',
              cell: ({ run }) =>
                earlier.has(run) && <Link to={`/compare/${earlier.get(run)}/${run}`}>compare</Link>,
            },
          ]}
        />
      )}
    </details>
  );
}

/**
 * @typedef {{label: string, value: string, rows: [string, string][]}} Choice
 * @param {Choice & {change: (value: string) => void}} props
 */
const Pick = ({ label, value, rows, change }) => (
  <Field label={label}>
    <select value={value} onChange={(event) => change(event.currentTarget.value)}>
      {[...(rows.some(([word]) => word === value) ? [] : [[value, value]]), ...rows].map(([word, text]) => (
        <option key={word} value={word} selected={word === value}>
          {text}
        </option>
      ))}
    </select>
  </Field>
);
/** @type {(words: string[]) => [string, string][]} */
const anyOf = (words) => [
  ['', 'any'],
  ...words.map((word) => /** @type {[string, string]} */ ([word, word])),
];

/** @param {{found: Found}} props */
function Noise({ found }) {
  const { noise, figure } = found;
  return (
    <p class="dim small">
      {figure.unit === 'share'
        ? 'A share has no noise of its own: the line is the median of a level.'
        : noise.bench === null
          ? 'No bench has measured the noise of this machine: the band is 3 % around the median of a level.'
          : `The band is ${(100 * noise.threshold).toFixed(1)} % around the median of a level: the larger ` +
            `of 3 % and the difference of equal work in the bench of run ${noise.bench} (A/A).`}{' '}
      A <Term name="level" /> changes where chance does not explain it (ranks, p under 0.01 at any run) and
      the effect is outside the band. Pale points, runs of under half of the cases or of another processor,
      are not compared.
    </p>
  );
}

/**
 * @param {{found: Found, metric: string, limit: string, query: Record<string, string | undefined>,
 *   set: ReturnType<typeof useQuery>[1]}} props
 */
function Pickers({ found, metric, limit, query, set }) {
  return (
    <div class="filters flow">
      <Pick
        label="figure"
        value={metric}
        rows={found.figures.map((each) => /** @type {[string, string]} */ ([each.name, each.title]))}
        change={(value) => set({ metric: value, run: null }, false)}
      />
      <span class="filters flow" data-carrier>
        {!offline && (
          <>
            <Pick
              label="runs"
              value={limit}
              rows={LIMITS.map(
                (count) => /** @type {[string, string]} */ ([String(count), `newest ${number(count)}`]),
              )}
              change={(value) => set({ limit: value, run: null })}
            />
            <Pick
              label="branch"
              value={query.branch ?? ''}
              rows={anyOf(found.branches)}
              change={(value) => set({ branch: value, run: null })}
            />
            <Pick
              label="platform"
              value={query.platform ?? ''}
              rows={anyOf(found.platforms)}
              change={(value) => set({ platform: value, run: null })}
            />
          </>
        )}
      </span>
      {(query.scenario || query.variant) && (
        <button onClick={() => set({ scenario: null, variant: null })}>
          of <bdi>{[query.scenario, query.variant].filter(Boolean).join('.')}</bdi> alone; show all
        </button>
      )}
    </div>
  );
}

export function Trend() {
  const [query, set] = useQuery();
  const metric = query.metric ?? DEFAULT_METRIC;
  const limit = query.limit ?? String(DEFAULT_LIMIT);
  const where = { scenario: query.scenario, variant: query.variant };
  const data = useData(
    '/api/v1/trend',
    offline
      ? { metric, limit: DEFAULT_LIMIT, until: offline.run }
      : { metric, limit, branch: query.branch, platform: query.platform, ...where },
  );
  // An address that names no figure leaves the choice of one.
  const other = useData(
    data.error && !data.data ? '/api/v1/trend' : null,
    offline
      ? { metric: DEFAULT_METRIC, limit: DEFAULT_LIMIT, until: offline.run }
      : { metric: DEFAULT_METRIC, limit: DEFAULT_LIMIT },
  );
  const held = data.data ?? other.data;
  /** @type {(run: number) => string} */
  const to = (run) => `/trend?${new URLSearchParams({ ...query, metric, run: String(run) })}`;
  return (
    <Page title="Trend" lead="One figure over runs: is it getting worse, and since when?">
      {held && <Pickers found={held} {...{ metric, limit, query, set }} />}
      <Loaded from={data}>
        {(found) => (
          <>
            <p class={`verdictline box ${mood(found)}`} role="status">
              <strong>{[found.figure.title, found.arch].filter(Boolean).join(', ')}.</strong> {found.sentence}
            </p>
            <Line found={found} to={to} />
            {query.run && <Chosen found={found} run={Number(query.run)} />}
            <Changes found={found} />
            <Every found={found} />
            <Noise found={found} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
