// What each way costs.  Every sample is a dot, on a log scale; stages below.
import { useMemo } from 'preact/hooks';
import { useData } from '../api.js';
import { useQuery } from '../router.js';
import { Plot, axis, logAxis } from '../uplot.js';
import { Term } from '../glossary.js';
import { Empty, Loaded, Page, Table, bytes, caseName, casePath, duration, number, plural } from '../ui.js';

/**
 * @typedef {import('openapi').Answers['/api/v1/timing']} Found
 * @typedef {Found['costs'][number]} Cost
 * @typedef {Exclude<keyof Cost, 'scenario' | 'variant' | 'engine' | 'crowded'>} NumberOf a number of a cost
 * @typedef {{name: string, of?: NumberOf, ways?: [string, string, NumberOf][], show?: (value: number) =>
 *   string}} Measure
 * @typedef {{label: string, hue: string, of: NumberOf, costs: Cost[]}} Series
 * @typedef {import('../uplot.js').Paint} Paint
 * @typedef {import('../uplot.js').PlotOptions} PlotOptions
 */

/** @type {(values: number[]) => number | null} */
const median = (values) => {
  const s = values.filter((v) => v > 0).sort((a, b) => a - b);
  return s.length ? s[Math.floor((s.length - 1) / 2)] : null;
};
/** @type {(engine: string) => string} */
const hue = (engine) =>
  engine === 'dump'
    ? 'dump'
    : engine === 'offset:rtl'
      ? 'offset'
      : engine.startsWith('judge')
        ? 'judge'
        : 'other';

/** @type {(name: string, ns: number) => [string, number]} */
const part = (name, ns) => [name, ns];

/** @type {[NumberOf, string][]} */
const stages = [
  ['open_ns', 'open and parse'],
  ['load_ns', 'load symbols'],
  ['unwind_ns', 'unwind'],
  ['resolve_ns', 'resolve'],
];

// What the dots may show: of each engine, or of each case by both ways.
/** @type {Record<string, Measure>} */
const measures = {
  total: { name: 'back end, symbols loaded', of: 'total_ns' },
  cold: { name: 'back end, cold', of: 'cold_ns' },
  open: { name: 'back end: open and parse', of: 'open_ns' },
  load: { name: 'back end: load symbols', of: 'load_ns' },
  unwind: { name: 'back end: unwind', of: 'unwind_ns' },
  resolve: { name: 'back end: resolve', of: 'resolve_ns' },
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
};

/** @type {(v: number) => string} */
const decimal = (v) => (v >= 1e6 ? `${v / 1e6} MB` : v >= 1e3 ? `${v / 1e3} kB` : `${v} B`);
/** @type {(costs: Cost[]) => Cost[]} */
const onePerCase = (costs) => [...new Map(costs.map((c) => [c.case, c])).values()];

/**
 * Each in its own colour.
 * @param {Measure} measure
 * @param {Cost[]} costs
 * @param {string[]} engines
 * @returns {Series[]}
 */
function seriesOf(measure, costs, engines) {
  if (measure.ways)
    return measure.ways.map(([label, paint, of]) => ({ label, hue: paint, of, costs: onePerCase(costs) }));
  return engines.map((engine) => ({
    label: engine,
    hue: hue(engine),
    of: measure.of ?? 'total_ns',
    costs: costs.filter((c) => c.engine === engine),
  }));
}

/**
 * @param {{costs: Cost[], x?: 'cases' | 'frames', measure: Measure, engines: string[], run: number}} props
 */
function Dots({ costs, x = 'cases', measure, engines, run }) {
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
  }, [costs, x, measure, engines.join(), run]);
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

// Every engine starts cold here, as a tool that was just started: foreign engines never have symbols loaded.
// A judge that keeps running between cases is cold in only a few of them; 0: not measured.
/** @type {(c: Cost) => number} */
const nothingLoaded = (c) => c.cold_ns;

/** @param {{costs: Cost[]}} props */
function FromNothing({ costs }) {
  const rows = ['judge:dbghelp', 'dump', 'offset:rtl']
    .map((engine) => ({
      engine,
      ns: median(costs.filter((c) => c.engine === engine && c.cold_ns > 0).map(nothingLoaded)),
    }))
    .filter(({ ns }) => ns);
  return (
    rows.length > 1 && (
      <p class="lead">
        Cold, with images and PDBs opened for one stack:{' '}
        {rows.map(({ engine, ns }, i) => (
          <>
            {i ? ', ' : ''}
            <span class="mono">{engine}</span> <strong>{duration(ns)}</strong>
          </>
        ))}
        .
      </p>
    )
  );
}

/** @param {{costs: Cost[], engines: string[]}} props */
function Stages({ costs, engines }) {
  const rows = engines
    .map((engine) => {
      const mine = costs.filter((c) => c.engine === engine);
      return {
        engine,
        parts: stages.map(([key, name]) => part(name, median(mine.map((c) => c[key] ?? 0)) ?? 0)),
        total: median(mine.map((c) => c.total_ns)) ?? 0,
        count: mine.length,
      };
    })
    .filter((row) => row.total > 0);
  const most = Math.max(
    ...rows.map((row) =>
      Math.max(
        row.total,
        row.parts.reduce((sum, [, v]) => sum + v, 0),
      ),
    ),
  );
  return (
    <>
      <div class="stagelist">
        {rows.map((row) => (
          <div class="stage" key={row.engine}>
            <span class="mono">{row.engine}</span>
            <span
              class="stack"
              role="img"
              aria-label={row.parts.map(([name, v]) => `${name} ${duration(v)}`).join(', ')}
            >
              {row.parts.map(
                ([name, v], i) =>
                  v > 0 && (
                    <span key={name} class={`seg seg-${i}`} style={{ width: `${(100 * v) / most}%` }}></span>
                  ),
              )}
            </span>
            <span class="num strong">{duration(row.total)}</span>
            <span class="dim num">{plural(row.count, 'stack')}</span>
            <span class="parts dim small">
              {row.parts.map(([name, v]) => (
                <span key={name}>
                  {name} {v > 0 ? duration(v) : '–'}
                </span>
              ))}
            </span>
          </div>
        ))}
      </div>
      <p class="legend">
        {stages.map(([, name], i) => (
          <span key={name}>
            <i class={`seg-${i}`}></i>
            {name}
          </span>
        ))}
        <span class="dim">medians; bar lengths are linear</span>
      </p>
    </>
  );
}

/** @param {{costs: Cost[]}} props */
function InProcess({ costs }) {
  const seen = onePerCase(costs);
  const rows = [
    ['Walk (rtl)', 'walk_ns', duration],
    ['Record on disk', 'record_write_ns', duration],
    ['Dump written', 'dump_write_ns', duration],
    ['Stopped until its stack was copied', 'stop_copy_ns', duration],
    ['Stopped until the last frame', 'stop_walk_ns', duration],
    ['Stopped until the end of the dump', 'stop_dump_ns', duration],
    ['Tuned dump written', 'dump_tuned_ns', duration],
    ['One capture on demand', 'capture_now_ns', duration],
    ['Hang found, past its time', 'hang_late_ns', duration],
    ['Record', 'record_bytes', bytes],
    ['Dump', 'dump_bytes', bytes],
    ['Tuned dump', 'dump_tuned_bytes', bytes],
  ].map((row) => {
    const [name, key, show] = /** @type {[string, NumberOf, (value: number) => string]} */ (row);
    const values = seen
      .map((c) => c[key] ?? 0)
      .filter((v) => v > 0)
      .sort((a, b) => a - b);
    return { name, show, values };
  });
  return (
    <Table label="In the dying process" kind="list named">
      <thead>
        <tr>
          <th>in the dying process</th>
          <th class="num">smallest</th>
          <th class="num">median</th>
          <th class="num">largest</th>
          <th class="num">cases</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <td>{row.name}</td>
            {row.values.length === 0 ? (
              <>
                <td class="dim num">–</td>
                <td class="dim num">not measured</td>
                <td class="dim num">–</td>
                <td class="num dim">0</td>
              </>
            ) : (
              <>
                <td class="num">{row.show(row.values[0])}</td>
                <td class="num strong">{row.show(median(row.values) ?? 0)}</td>
                <td class="num">{row.show(row.values[row.values.length - 1])}</td>
                <td class="num dim">{number(row.values.length)}</td>
              </>
            )}
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

/** @param {{samples: Found['samples']}} props */
function Samples({ samples }) {
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (const s of samples) {
    const key = `${s.subject} · ${s.stage} · ${s.cold ? 'cold' : 'warm'}`;
    groups.set(key, [...(groups.get(key) ?? []), s.ns]);
  }
  const low = Math.log10(samples.reduce((least, s) => Math.min(least, s.ns), Infinity));
  const high = Math.log10(samples.reduce((most, s) => Math.max(most, s.ns), 0)) + 0.01;
  return (
    <Table label="Bench">
      <thead>
        <tr>
          <th>bench</th>
          <th class="num">median</th>
          <th>
            every sample, log scale from {duration(10 ** low)} to {duration(10 ** high)}
          </th>
          <th class="num">samples</th>
        </tr>
      </thead>
      <tbody>
        {[...groups].map(([name, values]) => (
          <tr key={name}>
            <td class="mono">{name}</td>
            <td class="num strong">{duration(median(values))}</td>
            <td class="wide">
              <svg
                class="strip-dots"
                viewBox="0 0 300 14"
                preserveAspectRatio="none"
                role="img"
                aria-label={`from ${duration(Math.min(...values))} to ${duration(Math.max(...values))}`}
              >
                {values.map((v, i) => (
                  <circle
                    key={i}
                    cx={4 + (292 * (Math.log10(v) - low)) / (high - low)}
                    cy="7"
                    r="2.6"
                    class={name.startsWith('dump') ? 'dump' : 'offset'}
                  />
                ))}
              </svg>
            </td>
            <td class="num dim">{values.length}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

/**
 * @param {{data: Found, query: Record<string, string | undefined>,
 *   set: (changes: Record<string, string | null>) => void}} props
 */
function Shown({ data, query, set }) {
  const all = [...new Set(data.costs.map((c) => c.engine))];
  const wanted = query.engines
    ? query.engines.split(',').filter((e) => all.includes(e))
    : all.filter((e) => e === 'dump' || e === 'offset:rtl');
  const engines = wanted.length ? wanted : all.slice(0, 2);
  const measure = measures[query.measure ?? ''] ?? measures.total;
  if (data.costs.length === 0)
    return (
      <Empty title="Nothing was timed">
        <p>No engine was timed in this run.</p>
      </Empty>
    );
  const dump = median(data.costs.filter((c) => c.engine === 'dump').map((c) => c.total_ns));
  const offset = median(data.costs.filter((c) => c.engine === 'offset:rtl').map((c) => c.total_ns));
  return (
    <>
      {dump && offset ? (
        <p class="headline">
          From a dump <strong>{duration(dump)}</strong>, from offsets <strong>{duration(offset)}</strong>: the
          offset way is <strong>{(dump / offset).toFixed(1)}×</strong>
          {dump > offset ? ' faster ' : ' as slow '}
          <span class="dim">
            (medians of{' '}
            {data.cases_shown && data.cases_total && data.cases_shown < data.cases_total
              ? `${number(data.cases_shown)} of ${number(data.cases_total)} cases, evenly chosen`
              : 'all cases'}
            , symbols loaded)
          </span>
          .
        </p>
      ) : null}
      <FromNothing costs={data.costs} />
      <div class="tools">
        <label class="field">
          <span>dots show</span>
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
        </label>
        <span class="toggles" role="group" aria-label="Engines">
          {all.map((e) => (
            <button
              key={e}
              class="toggle mono"
              aria-pressed={engines.includes(e)}
              onClick={() =>
                set({
                  engines: (engines.includes(e) ? engines.filter((w) => w !== e) : [...engines, e]).join(','),
                })
              }
            >
              {e}
            </button>
          ))}
        </span>
      </div>
      <div class="plots">
        <section>
          <h2 class="section">Every sample</h2>
          <Dots costs={data.costs} run={data.run} measure={measure} engines={engines} />
        </section>
        <section>
          <h2 class="section">By number of frames</h2>
          <Dots costs={data.costs} run={data.run} measure={measure} x="frames" engines={engines} />
        </section>
      </div>
      <h2 class="section">Stages on the back end</h2>
      <Stages costs={data.costs} engines={engines} />
      <h2 class="section">What a capture costs the program</h2>
      <InProcess costs={data.costs} />
      {data.samples.length > 0 && (
        <>
          <h2 class="section">
            <Term name="cold">Cold</Term> and <Term name="warm" />
          </h2>
          <Samples samples={data.samples} />
        </>
      )}
      {data.total > data.costs.length && (
        <p class="dim">
          Shown: {number(data.costs.length)} of {plural(data.total, 'stack')}, of evenly chosen cases.
        </p>
      )}
    </>
  );
}

export function Timing() {
  const [query, set] = useQuery();
  const data = useData('/api/v1/timing', { run: query.run });
  return (
    <Page
      title="Timing"
      lead={data.data ? `run ${data.data.run}: dump against offsets, stage by stage` : 'dump against offsets'}
    >
      <Loaded from={data}>{(found) => <Shown data={found} query={query} set={set} />}</Loaded>
    </Page>
  );
}
