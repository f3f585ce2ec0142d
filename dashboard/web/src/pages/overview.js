// The first page: whether stacks are right, how fast, and since when.
import { useData, useLive } from '../api.js';
import { Term } from '../glossary.js';
import { Later } from '../painted.js';
import {
  CountsBar,
  CountsLegend,
  Empty,
  Link,
  Name,
  Loaded,
  Page,
  RunKind,
  Verdict,
  Wrong,
  ago,
  commitOf,
  caseName,
  casePath,
  Command,
  number,
  percent,
  plural,
  times,
  when,
  words,
} from '../ui.js';
import { Accuracy } from './accuracy.js';
import { CaseGroups, inBoth } from './case_groups.js';
import { Headline } from './headline.js';
import { Speed } from './speed.js';

/** @type {(share: number) => string} */
const percentOf = (share) => percent(share, 1);
/**
 * @typedef {{name: string, title: string, show: (v: number) => string, note: string, unit: string}} TileRow
 */

/** @type {TileRow[]} */
const tiles = [
  {
    name: 'capture_rate',
    title: 'Captured either way',
    show: percentOf,
    note: 'of all cases that should leave a record or a dump; the line leaves out those not judged',
    unit: 'case',
  },
  {
    name: 'exact',
    title: 'Exact stacks',
    show: percentOf,
    note: 'function, file and line of every own frame',
    unit: 'stack',
  },
  {
    name: 'f1',
    title: 'Frame F1',
    show: percentOf,
    note: 'precision and recall against the truth',
    unit: 'frame',
  },
  {
    name: 'speed_ratio',
    title: 'Plain dump : offsets',
    show: times,
    note: 'back end: ',
    unit: 'case',
  },
];

/** Why there is no line: of RUNS runs, so many COUNT.
 * @type {(count: number, runs: number) => string} */
function noLine(count, runs) {
  if (count === 0) return 'not measured';
  return runs > 1 ? 'no other run of about as many cases' : 'one run so far';
}

/** SAID: what the tile says above it.
 * @param {{trend: import('openapi').Trend, show: (v: number) => string, said?: string}} props */
export function Sparkline({ trend, show, said }) {
  const points = trend.points.filter((point) => point.counts !== false); // as Trend: no run of a few cases
  const measured = trend.points.filter((point) => point.value !== null);
  const mixed = measured.some((point) => (point.bench === null) !== (measured[0].bench === null));
  if (points.length < 2) {
    const why = mixed ? 'no other run was measured like it' : noLine(points.length, trend.points.length);
    return why === said ? null : <p class="spark none dim small">{why}</p>;
  }
  const values = points.map((point) => point.value ?? 0);
  const { low, high } = trend.band;
  const spread = Math.max(...values) - Math.min(...values) || Math.abs(values[0]) * 0.02 || 1;
  const bottom = Math.min(...values) - spread * 0.6;
  const top = Math.max(...values) + spread * 0.6;
  /** @type {(v: number) => number} */
  const clip = (v) => Math.min(top, Math.max(bottom, v));
  /** @type {(i: number) => number} */
  const x = (i) => 2 + (i / (points.length - 1)) * 196;
  /** @type {(v: number) => number} */
  const y = (v) => 42 - ((v - bottom) / (top - bottom)) * 38;
  const last = values[values.length - 1];
  /** @type {(point: import('openapi').Trend['points'][number]) => string} */
  const day = (point) => when(point.started_ns).slice(0, 10);
  const ends = [points[0], points[points.length - 1]];
  return (
    <figure class="sparkline">
      <svg
        class="spark"
        viewBox="0 0 200 44"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${points.length} runs, from ${show(values[0])} to ${show(last)}`}
      >
        {low !== null && high !== null && (
          <rect
            class="band"
            x="0"
            width="200"
            y={y(clip(high))}
            height={Math.max(1.5, y(clip(low)) - y(clip(high)))}
          />
        )}
        <polyline
          points={values.map((v, i) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`).join(' ')}
          vector-effect="non-scaling-stroke"
        />
        <path
          class="end"
          d={`M${x(values.length - 1).toFixed(1)} ${y(last).toFixed(1)}h.01`}
          vector-effect="non-scaling-stroke"
        />
      </svg>
      <figcaption class="dim small">
        {ends.map((point) => (
          <span key={point.run}>
            {show(point.value ?? 0)} <time>{day(point)}</time>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** The ratio in large, and how sure it is. @param {{ratio: import('openapi').SpeedRatio}} props */
function Ratio({ ratio }) {
  const [value, ...sure] = ratio.text.split(/(?=,? [[n])/);
  return (
    <>
      {value}
      <span class="dim small">{sure.join('')}</span>
    </>
  );
}

/**
 * @param {TileRow & {trend: import('openapi').Trend, figure: import('openapi').RunFigure | null,
 *   ratio: import('openapi').SpeedRatio | null}} props FIGURE: of this run
 */
function Tile({ name, title, show, note, unit, trend, figure, ratio }) {
  return (
    <section class="tile box" key={name}>
      <h2>
        <Link to={`/trend?metric=${name}`} title={`${title} over all runs`}>
          {title}
        </Link>
      </h2>
      <p class="figure">{ratio ? <Ratio ratio={ratio} /> : figure ? show(figure.value) : 'not known'}</p>
      <Sparkline trend={trend} show={show} said={ratio?.text} />
      <p class="dim small">
        {note}
        {ratio?.about}
        {figure && (
          <>
            {' '}
            · <span class="nowrap">{plural(figure.count, unit)}</span>
          </>
        )}
      </p>
    </section>
  );
}

/** @type {Record<string, import('preact').JSX.Element>} */
const shareTitles = { captured: <>Captured both ways</> };

/**
 * Each figure with what it counts and what it leaves out; green only when nothing is missing, red only when
 * a case fails: what is missing may be accepted.
 * @param {{shares: import('openapi').Share[], fails: boolean}} props
 */
function Shares({ shares, fails }) {
  const part = fails ? 'part' : 'accepted';
  return (
    <dl class="shares-list">
      {shares.map((s) => (
        <div
          key={s.name}
          class={s.right === s.total && s.left_out === 0 ? 'whole' : s.right === s.total ? '' : part}
        >
          <dt>
            {shareTitles[s.name] ?? (
              <>
                <Term name="exact">Exact</Term>, <span class="mono">{s.name}</span>
              </>
            )}
          </dt>
          <dd>
            <strong>{percent(s.right, s.total)}</strong>{' '}
            <span class="dim">
              {number(s.right)} of {number(s.total)}{' '}
              {s.total === 1 ? s.of.replace(/^(case|stack)s/, '$1') : s.of}
              {s.left_out > 0 ? (
                <>
                  ;{' '}
                  <span class={s.name === 'captured' ? '' : 'warned'}>
                    {plural(s.left_out, 'case')} left out: {s.left_out_why}
                  </span>
                </>
              ) : null}
            </span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** @type {['new' | 'fixed' | 'changed' | 'still', string, string][]} */
const groups = [
  ['new', 'New failures', 'bad'],
  ['fixed', 'Fixed', 'good'],
  ['changed', 'Other reason', 'warn'],
  ['still', 'Still failing', ''],
];

/** @param {{changes: import('openapi').Changes, baseline: number | null, run: number}} props */
function Changes({ changes, baseline, run }) {
  return (
    <div class="columns">
      {groups.map(([key, title, kind]) => (
        <section class={`panel box ${kind}`} key={key}>
          <h2>
            {title} <span class="count dim">{number(changes.counts[key])}</span>
          </h2>
          {changes[key].length === 0 ? (
            <p class="dim">none</p>
          ) : (
            <ul class="lines">
              {changes[key].slice(0, 8).map((row) => (
                <li key={caseName(row)}>
                  <Verdict word={row.is ?? row.was ?? ''} />{' '}
                  <Link to={casePath(run, row)}>{caseName(row)}</Link>
                  <span class="dim small cut block">{row.reason}</span>
                </li>
              ))}
              {changes.counts[key] > 8 && (
                <li>
                  <Link to={`/compare/${baseline}/${run}`}>and {number(changes.counts[key] - 8)} more</Link>
                </li>
              )}
            </ul>
          )}
        </section>
      ))}
    </div>
  );
}

// Before the first finished run: the run in progress, else what starts one.
function Waiting() {
  const [run] = useLive().running;
  if (run)
    return (
      <Empty title="The first run is in progress">
        <p role="status">
          <Link to={`/runs/${run.id}`}>Run {run.id}</Link>: {plural(run.case_count, 'case')} judged so far.
          The summary appears here when it ends.
        </p>
      </Empty>
    );
  return (
    <Empty title="No run yet: waiting for the first">
      <p role="status">
        This page shows it as soon as it starts. If none is starting, capture every crash both ways:
      </p>
      <p>
        <Command>twinstack run</Command>
      </p>
    </Empty>
  );
}

/**
 * The answer with a run.
 * @typedef {{run: import('openapi').Run | null, not_run: string | null, wrong: import('openapi').Wrong,
 *   shares: import('openapi').Share[], accuracy: import('openapi').Accuracy,
 *   headline: import('openapi').Headline, speed: import('openapi').Speed,
 *   speed_ratio: import('openapi').SpeedRatio,
 *   failing: {total: number, cases: import('openapi').CaseLine[]},
 *   figures: Record<string, import('openapi').RunFigure>,
 *   trends: Record<string, import('openapi').Trend>, baseline: number | null,
 *   changes: import('openapi').Changes | null, causes: import('openapi').Cause[]}} Summary
 */

/** @param {{data: Summary}} props */
function Figures({ data }) {
  return (
    <>
      <Shares shares={data.shares} fails={data.wrong.total > 0} />
      <div class="tiles">
        {tiles.map((tile) => (
          <Tile
            key={tile.name}
            {...tile}
            trend={data.trends[tile.name]}
            figure={data.figures[tile.name] ?? null}
            ratio={tile.name === 'speed_ratio' ? data.speed_ratio : null}
          />
        ))}
      </div>
      <Accuracy accuracy={data.accuracy} />
      <Headline headline={data.headline} />
      <Speed speed={data.speed} ratio={data.speed_ratio} />
      <p class="headline">
        <Link to="/timing">Every sample, warm and cold</Link>
      </p>
    </>
  );
}

/** @param {{data: Summary}} props */
function Shown({ data }) {
  const { run } = data;
  if (!run) return <Waiting />;
  return (
    <>
      <section class="strip box">
        <div>
          <Link to={`/runs/${run.id}`} class="strong">
            Run {run.id}
          </Link>
          <span class="dim">
            {' '}
            <RunKind run={run} />
            {ago(run.started_ns)} · {run.platform} · {commitOf(run) ?? 'no commit'}
            {run.branch ? (
              <>
                {' '}
                on <Name text={run.branch} />
              </>
            ) : (
              ''
            )}
          </span>
        </div>
        <CountsBar verdicts={run.verdicts} total={run.case_count} />
        <CountsLegend of={[run.verdicts]} />
      </section>
      {data.not_run ? (
        <p class="banner bad" role="status">
          Not run: {data.not_run}
        </p>
      ) : null}
      <p class={`verdictline box ${data.wrong.total > 0 ? 'bad' : 'good'}`} role="status">
        <Wrong wrong={data.wrong} run={run.id} notRun={data.not_run} />
      </p>
      {data.wrong.total > 0 ? (
        <>
          <h2 class="section">
            {plural(data.wrong.problems.length + data.wrong.problems_left, 'problem')}{' '}
            <span class="count dim">
              in {plural(data.wrong.total, 'case')}
              {inBoth(data.wrong)}
            </span>
          </h2>
          <CaseGroups groups={data.wrong.problems} left={data.wrong.problems_left} run={run.id} />
        </>
      ) : null}
      {run.label?.startsWith('reporter ') ? null : <Figures data={data} />}
      <Later>{() => <Details data={data} run={run} />}</Later>
    </>
  );
}

/**
 * What is below the first view.
 * @param {{data: Summary, run: import('openapi').Run}} props
 */
function Details({ data, run }) {
  return (
    <>
      <h2 class="section">
        {data.baseline ? (
          <>
            Since the baseline, <Link to={`/compare/${data.baseline}/${run.id}`}>run {data.baseline}</Link>
            <span class="dim">: each case once, however often it ran</span>
          </>
        ) : (
          'Since the baseline'
        )}
      </h2>
      {data.changes ? (
        <Changes changes={data.changes} baseline={data.baseline} run={run.id} />
      ) : (
        <p class="dim">
          No baseline is set: <Command>twinstack baseline set {run.id}</Command> makes this run the one to
          compare with.
        </p>
      )}
      <h2 class="section">Causes of differences</h2>
      <Causes rows={data.causes} run={run.id} />
    </>
  );
}

/** @param {{rows: import('openapi').Cause[], run: number | string}} props */
export function Causes({ rows, run }) {
  if (rows.length === 0) return <p class="dim">No engine differs from the truth or from another.</p>;
  const most = Math.max(...rows.map((row) => row.findings));
  return (
    <ul class="bars">
      {rows.map((row) => (
        <li key={row.cause}>
          <Link to={`/runs/${run}/mismatches?cause=${row.cause}`}>{words(row.cause)}</Link>
          <span class="track">
            <span
              class={`fill ${row.cause === 'unexplained' ? 'bad' : ''}`}
              style={{ width: `${Math.max(1, (100 * row.findings) / most)}%` }}
            ></span>
          </span>
          <span class="num">{number(row.findings)}</span>
          <span class="dim nowrap">
            {plural(row.cases, 'case')}
            {row.subject_findings ? ` · ${number(row.subject_findings)} of engines under test` : ''}
          </span>
        </li>
      ))}
    </ul>
  );
}

export function Overview() {
  const data = useData('/api/v1/overview');
  return (
    <Page title="Overview" lead="The same crashes, by dump and by offsets, compared with what really ran.">
      <Loaded from={data}>
        {(found) => <Shown data={/** @type {Summary} */ (/** @type {unknown} */ (found))} />}
      </Loaded>
    </Page>
  );
}
