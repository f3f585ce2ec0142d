// What each way costs.  Every sample is a dot, on a log scale; stages below.
import { useMemo } from 'preact/hooks';
import { useData } from '../api.js';
import { Later, usePainted } from '../painted.js';
import { useQuery } from '../router.js';
import { Plot, axis, logAxis } from '../uplot.js';
import { Term } from '../glossary.js';
import { Table } from '../table.js';
import { BenchSays } from './benched.js';
import { CostOfMillion, Steps } from './cost.js';
import { RunPick } from './run_pick.js';
import { Speed } from './speed.js';
import {
  bytes,
  caseName,
  casePath,
  duration,
  Empty,
  Field,
  Link,
  Loaded,
  number,
  Page,
  plural,
} from '../ui.js';

/**
 * @typedef {import('openapi').Answers['/api/v1/timing']} Found
 * @typedef {Found['costs'][number]} Cost
 * @typedef {Found['engines'][number]} Engine
 * @typedef {Found['capture'][number]} Row
 * @typedef {Exclude<keyof Cost, 'scenario' | 'variant' | 'engine' | 'crowded'>} NumberOf a number of a cost
 * @typedef {{name: string, of?: NumberOf, ways?: [string, string, NumberOf][], show?: (value: number) =>
 *   string}} Measure
 * @typedef {{label: string, hue: string, of: NumberOf, costs: Cost[]}} Series
 * @typedef {import('../uplot.js').Paint} Paint
 * @typedef {import('../uplot.js').PlotOptions} PlotOptions
 */

/**
 * The colour of an engine.
 * @type {(engine: Engine) => string}
 */
const hue = ({ kind, subject }) => (kind === 'offset' && !subject ? 'other' : kind);

// The parts that add up to a bar; the server names them.
const stages = ['open_ns', 'load_ns', 'unwind_ns', 'resolve_ns'];
/** @type {(engine: Engine) => Row[]} */
const partsOf = ({ parts }) => stages.flatMap((key) => parts.find((part) => part.key === key) ?? []);

// What the dots may show: of each engine, also its parts, or of each case by both ways.
/** @type {(engine: Engine) => Record<string, Measure>} */
const measuresOf = (engine) => ({
  total: { name: 'back end, symbols loaded', of: 'total_ns' },
  cold: { name: 'back end, cold', of: 'cold_ns' },
  ...Object.fromEntries(
    partsOf(engine).map(({ key, name }) => [
      key.slice(0, -3),
      { name: `back end: ${name}`, of: /** @type {NumberOf} */ (key) },
    ]),
  ),
  write: {
    name: 'in the dying process: walk, record, dump',
    ways: [
      ['walk', 'judge', 'walk_ns'],
      ['record written', 'offset', 'record_write_ns'],
      ['dump written', 'dump', 'dump_write_ns'],
    ],
  },
  stop: {
    name: 'how long the thread was stopped',
    ways: [
      ['to the last frame', 'offset', 'stop_walk_ns'],
      ['to the end of the dump', 'dump', 'stop_dump_ns'],
    ],
  },
  bytes: {
    name: 'bytes per report',
    show: bytes,
    ways: [
      ['record', 'offset', 'record_bytes'],
      ['dump', 'dump', 'dump_bytes'],
      ['tuned dump', 'judge', 'dump_tuned_bytes'],
    ],
  },
});

/** @type {(v: number) => string} */
const decimal = (v) => (v >= 1e6 ? `${v / 1e6} MB` : v >= 1e3 ? `${v / 1e3} kB` : `${v} B`);
/** @type {(costs: Cost[]) => Cost[]} */
const onePerCase = (costs) => [...new Map(costs.map((c) => [c.case, c])).values()];

/**
 * Each in its own colour.
 * @param {Measure} measure
 * @param {Cost[]} costs
 * @param {Engine[]} engines
 * @returns {Series[]}
 */
function seriesOf(measure, costs, engines) {
  if (measure.ways)
    return measure.ways.map(([label, paint, of]) => ({ label, hue: paint, of, costs: onePerCase(costs) }));
  return engines.map((engine) => ({
    label: engine.engine,
    hue: hue(engine),
    of: measure.of ?? 'total_ns',
    costs: costs.filter((c) => c.engine === engine.engine),
  }));
}

/**
 * @param {{costs: Cost[], x: 'cases' | 'frames', measure: Measure, engines: Engine[], run: number}} props
 */
function Dots({ costs, x, measure, engines, run }) {
  const show = measure.show ?? duration;
  const { data, options, dots, series } = useMemo(() => {
    const drawn = seriesOf(measure, costs, engines).map((s) => ({
      ...s,
      costs: s.costs.filter((c) => (c[s.of] ?? 0) > 0),
    }));
    const at = new Map(
      [...new Set(drawn.flatMap((s) => s.costs.map(caseName)))].sort().map((name, i) => [name, i + 1]),
    );
    /** @type {(c: Cost) => number} */
    const place = (c) => (x === 'frames' ? c.frames : (at.get(caseName(c)) ?? 0));
    const all = drawn
      .flatMap((s, i) =>
        s.costs.map((c) => ({
          x: place(c),
          y: c[s.of] ?? 0,
          i,
          to: casePath(run, c),
          text:
            `${caseName(c)}: ${s.label} ${show(c[s.of] ?? 0)}` +
            (x === 'frames' ? `, ${plural(c.frames, 'frame')}` : ''),
        })),
      )
      .sort((a, b) => a.x - b.x);
    /** @type {(paint: Paint) => import('uplot').Axis} */
    const across =
      x === 'frames'
        ? (paint) => logAxis(paint, number, { label: 'logical frames in the stack', size: 32 })
        : (paint) =>
            axis(paint, {
              label: `${plural(at.size, 'case')}, by name`,
              size: 12,
              values: () => [],
              grid: { show: false },
              ticks: { show: false },
            });
    return {
      dots: all,
      series: drawn,
      data: [all.map((dot) => dot.x), ...drawn.map((_, i) => all.map((dot) => (dot.i === i ? dot.y : null)))],
      /** @type {(paint: Paint) => PlotOptions} */
      options: (paint) => ({
        scales: { x: { time: false, ...(x === 'frames' ? { distr: 3 } : {}) }, y: { distr: 3 } },
        legend: { live: false },
        cursor: { points: { show: false }, x: false, y: false },
        padding: [10, 26, 0, 0],
        axes: [across(paint), logAxis(paint, show === bytes ? decimal : duration)],
        series: [
          {},
          ...drawn.map((s) => ({
            label: s.label,
            stroke: paint(s.hue),
            fill: paint(s.hue),
            paths: () => null,
            points: { show: true, size: 5, fill: paint(s.hue), width: 0 },
          })),
        ],
      }),
    };
  }, [costs, x, measure, engines.map((e) => e.engine).join(), run]);
  if (dots.length === 0) return <p class="dim pad">Not measured in this run.</p>;
  return (
    <Plot
      data={data}
      options={options}
      height={280}
      dots={dots}
      label={`${series.map((s) => s.label).join(' and ')}, ${measure.name}: one dot per sample, log scale`}
    />
  );
}

/**
 * NAME, which leads to the trend of that row.
 * @type {(row: {metric: string | null, count: number}, name: string) => import('preact').ComponentChildren}
 */
const named = ({ metric, count }, name) =>
  metric && count > 0 ? (
    <Link to={`/trend?metric=${metric}`} title="over all runs">
      {name}
    </Link>
  ) : (
    name
  );

/** @param {{engines: Engine[]}} props */
function Stages({ engines }) {
  const rows = engines
    .filter((engine) => engine.median !== null)
    .map((engine) => ({ ...engine, parts: partsOf(engine) }));
  // The widths are those of the drawing: parts of different cases may add up to more than the whole.
  const width = (/** @type {typeof rows[number]} */ row) =>
    row.parts.reduce((sum, part) => sum + (part.median ?? 0), 0);
  const most = Math.max(...rows.map((row) => Math.max(row.median ?? 0, width(row))));
  if (rows.length === 0) return <p class="dim">not measured</p>;
  return (
    <>
      <div class="stagelist">
        {rows.map((row) => (
          <div class="stage" key={row.engine}>
            <span class="mono">{named(row, row.engine)}</span>
            <span
              class="stack"
              role="img"
              aria-label={row.parts.map((part) => `${part.name} ${duration(part.median)}`).join(', ')}
            >
              {row.parts.map(
                ({ key, median }, i) =>
                  median !== null && (
                    <span
                      key={key}
                      class={`seg seg-${i}`}
                      style={{ width: `${(100 * median) / most}%` }}
                    ></span>
                  ),
              )}
            </span>
            <span class="num strong">{duration(row.median)}</span>
            <span class="dim num">{plural(row.count, 'stack')}</span>
            <span class="parts dim small flow">
              {row.parts.map(({ key, name, median }) => (
                <span key={key}>
                  {name} {median !== null ? duration(median) : '–'}
                </span>
              ))}
            </span>
          </div>
        ))}
      </div>
      <p class="legend flow dim small">
        {rows[0]?.parts.map(({ key, name }, i) => (
          <span key={key}>
            <i class={`seg-${i}`}></i>
            {name}
          </span>
        ))}
        <span class="dim">medians; bar lengths are linear</span>
      </p>
    </>
  );
}

/** @type {(row: Row, value: number | null) => string} */
const amount = (row, value) => (row.unit === 'bytes' ? bytes(value) : duration(value));

const counts = /** @type {const} */ ([
  { head: 'smallest', key: 'least' },
  { head: 'median', key: 'median' },
  { head: 'largest', key: 'most' },
]);

/** @param {{rows: Row[]}} props */
function InProcess({ rows }) {
  return (
    <Table
      label="In the dying process"
      kind="list stacking"
      rows={rows}
      columns={[
        {
          head: 'in the dying process',
          cell: (row) => named(row, row.name),
        },
        ...counts.map(({ head, key }) => ({
          head,
          cell: (/** @type {Row} */ row) =>
            row.count > 0 ? amount(row, row[key]) : key === 'median' ? 'not measured' : '–',
          attributes: (/** @type {Row} */ row) => ({
            class: row.count === 0 ? 'dim' : key === 'median' ? 'strong' : '',
          }),
          kind: 'num',
        })),
        { head: 'cases', cell: (row) => number(row.count), kind: 'num dim' },
      ]}
    />
  );
}

/** @param {{samples: Found['samples'], groups: Found['groups']}} props */
function Samples({ samples, groups }) {
  const low = Math.log10(Math.min(...groups.map((group) => group.least)));
  const high = Math.log10(Math.max(...groups.map((group) => group.most))) + 0.01;
  return (
    <Table
      label="Bench"
      rows={groups}
      columns={[
        {
          head: 'bench',
          cell: (group) => `${group.subject} · ${group.stage} · ${group.cold ? 'cold' : 'warm'}`,
          kind: 'mono',
        },
        { head: 'median', cell: (group) => duration(group.median), kind: 'num strong' },
        {
          head: `every sample, log scale from ${duration(10 ** low)} to ${duration(10 ** high)}`,
          cell: (group) => (
            <svg
              class="strip-dots"
              viewBox="0 0 300 14"
              preserveAspectRatio="none"
              role="img"
              aria-label={`from ${duration(group.least)} to ${duration(group.most)}`}
            >
              {samples
                .filter(
                  (s) => s.subject === group.subject && s.stage === group.stage && s.cold === group.cold,
                )
                .map(({ ns }, i) => (
                  <circle
                    key={i}
                    cx={4 + (292 * (Math.log10(ns) - low)) / (high - low)}
                    cy="7"
                    r="2.6"
                    class={group.kind}
                  />
                ))}
            </svg>
          ),
          kind: 'wide',
        },
        { head: 'samples', cell: (group) => number(group.count), kind: 'num dim' },
      ]}
    />
  );
}

const DOTS_HEIGHT = 346; // with the words around them
/** @type {[string, 'cases' | 'frames'][]} */
const sections = [
  ['Every sample', 'cases'],
  ['By number of frames', 'frames'],
];

/**
 * The page comes with some samples of a large run; for its drawings it asks for more, once it is seen.
 * @param {Found} few
 * @param {string | undefined} run
 */
function useWhole(few, run) {
  const isWhole = few.cases_shown === few.cases_total && few.samples.length === few.samples_total;
  const more = useData(usePainted() && !isWhole ? '/api/v1/timing' : null, { run });
  return isWhole ? { path: null, data: few, error: null } : more;
}

/**
 * A bench: the two ways in turn on the same cases, with a control; what it says, and every sample.
 * @param {{data: Found, whole: import('../api.js').Data<Found>}} props
 */
const Benched = ({ data, whole }) => (
  <>
    <BenchSays bench={data.bench} />
    <h2 class="section">
      <Term name="cold">Cold</Term> and <Term name="warm" />
    </h2>
    <Later>
      {() => (
        <Loaded from={whole}>{({ samples, groups }) => <Samples samples={samples} groups={groups} />}</Loaded>
      )}
    </Later>
  </>
);

/**
 * @param {{data: Found, query: Record<string, string | undefined>,
 *   set: (changes: Record<string, string | null>) => void}} props
 */
function Shown({ data, query, set }) {
  const whole = useWhole(data, query.run);
  const processors = [data, ...data.others];
  const all = data.engines.filter((_, i) => processors.some((of) => of.engines[i].count > 0));
  const asked = query.engines?.split(',') ?? [];
  const wanted = all.filter((e) => (query.engines ? asked.includes(e.engine) : e.subject));
  const engines = wanted.length ? wanted : all.slice(0, 2);
  const names = engines.map((e) => e.engine);
  if (data.costs.length === 0 && data.samples.length === 0)
    return (
      <Empty title="Nothing was timed">
        <p>No engine was timed in this run.</p>
      </Empty>
    );
  if (data.costs.length === 0) return <Benched data={data} whole={whole} />;
  const measures = measuresOf(data.engines[0]);
  const measure = measures[query.measure ?? ''] ?? measures.total;
  return (
    <>
      <Speed
        speed={data.speed}
        ratio={data.speed_ratio}
        picture={
          <Steps cost={data.cost_per_million} steps={data.cost_words.steps} speed={data.speed} set={set} />
        }
      />
      <CostOfMillion cost={data.cost_per_million} words={data.cost_words} set={set} />
      <div class="tools flow middle">
        <Field label="dots show">
          <select
            onChange={(event) =>
              set({ measure: event.currentTarget.value === 'total' ? null : event.currentTarget.value })
            }
          >
            {Object.entries(measures).map(([key, each]) => (
              <option key={key} value={key} selected={each === measure}>
                {each.name}
              </option>
            ))}
          </select>
        </Field>
        <span class="toggles" role="group" aria-label="Engines">
          {all.map(({ engine }) => (
            <button
              key={engine}
              class="toggle mono dim small"
              aria-pressed={names.includes(engine)}
              onClick={() =>
                set({
                  engines: (names.includes(engine)
                    ? names.filter((name) => name !== engine)
                    : [...names, engine]
                  ).join(','),
                })
              }
            >
              {engine}
            </button>
          ))}
        </span>
      </div>
      <div class="plots">
        {sections.map(([title, x]) => (
          <section key={x}>
            <h2 class="section">{title}</h2>
            <Later height={DOTS_HEIGHT}>
              {() => (
                <Loaded from={whole}>
                  {({ costs }) => <Dots {...{ costs, run: data.run, measure, x, engines }} />}
                </Loaded>
              )}
            </Later>
          </section>
        ))}
      </div>
      {whole.data && whole.data.total > whole.data.costs.length && (
        <p class="dim small">
          Dots: {number(whole.data.costs.length)} of {plural(data.total, 'stack')}, of evenly chosen cases.
        </p>
      )}
      {processors.map((of) => (
        <section key={of.arch}>
          <h2 class="section">Stages on the back end, {of.arch}</h2>
          <Stages engines={of.engines.filter((e) => names.includes(e.engine))} />
          <h2 class="section">What a capture costs the program, {of.arch}</h2>
          <InProcess rows={of.capture} />
        </section>
      ))}
      {data.samples.length > 0 && <Benched data={data} whole={whole} />}
    </>
  );
}

export function Timing() {
  const [query, set] = useQuery();
  const data = useData('/api/v1/timing', {
    limit: 125,
    run: query.run,
    full: query.full,
    mbit_s: query.mbit_s,
    hours_kept: query.hours_kept,
    gb_month: query.gb_month,
    core_hour: query.core_hour,
  });
  return (
    <Page
      title="Timing"
      lead={data.data ? `run ${data.data.run}: dump against offsets, stage by stage` : 'dump against offsets'}
      actions={<RunPick run={data.data?.run} />}
    >
      <Loaded from={data}>{(found) => <Shown data={found} query={query} set={set} />}</Loaded>
    </Page>
  );
}
