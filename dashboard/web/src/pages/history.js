// One case through all runs.
import { useMemo } from 'preact/hooks';
import { useData } from '../api.js';
import { Later } from '../painted.js';
import { withQuery } from '../router.js';
import { Plot, axis, bands, logAxis, runAxis } from '../uplot.js';
import { Source, sourceOf } from './why.js';
import {
  Command,
  Pairs,
  Link,
  Loaded,
  Page,
  Verdict,
  VerdictSigns,
  caseName,
  casePath,
  duration,
  percent,
  plural,
  words,
} from '../ui.js';

/** @param {{cases: import('openapi').CaseLine[]}} props */
function Strip({ cases }) {
  return (
    <>
      <ol class="verdictstrip flow" aria-label="Verdicts, oldest first">
        {[...cases].reverse().map((c) => (
          <li key={c.id}>
            <Link to={casePath(c.run, c)} title={`run ${c.run}: ${words(c.verdict)}. ${c.reason ?? ''}`}>
              <Verdict word={c.verdict} />
            </Link>
          </li>
        ))}
      </ol>
      <VerdictSigns of={cases.map((c) => c.verdict)} />
    </>
  );
}

/** @param {{trends: Record<string, import('openapi').Trend>}} props */
function Times({ trends }) {
  const { data, options } = useMemo(() => {
    const runs = [...new Set([...trends.offset_ns.points, ...trends.dump_ns.points].map((p) => p.run))].sort(
      (a, b) => a - b,
    );
    /** @type {(trend: import('openapi').Trend) => (number | null)[]} */
    const of = (trend) =>
      runs.map((run) => {
        const v = trend.points.find((p) => p.run === run)?.value;
        return v ? v : null;
      });
    return {
      data: [runs, of(trends.offset_ns), of(trends.dump_ns)],
      /** @type {(paint: import('../uplot.js').Paint) => import('../uplot.js').PlotOptions} */
      options: (paint) => ({
        scales: { x: { time: false }, y: { distr: 3 } },
        legend: { live: false },
        padding: [10, 16, 0, 0],
        axes: [runAxis(paint, runs), logAxis(paint, duration)],
        hooks: bands(paint, [
          [trends.offset_ns.band, 'offset'],
          [trends.dump_ns.band, 'dump'],
        ]),
        series: [
          {},
          { label: 'offset', stroke: paint('offset'), width: 1.5, points: { show: true, size: 4 } },
          { label: 'dump', stroke: paint('dump'), width: 1.5, points: { show: true, size: 4 } },
        ],
      }),
    };
  }, [trends]);
  if (data[0].length === 0) return <p class="dim">No timed run yet.</p>;
  return (
    <Plot data={data} options={options} label="Time of the offset and the dump way, by run, on a log scale" />
  );
}

/**
 * A figure of one case, with whether and since when it changed.
 * @typedef {{scenario: string, variant: string}} Named
 * @type {(props: {metric: string, of: Named, children: string}) => import('preact').VNode}
 */
const OverRuns = ({ metric, of: { scenario, variant }, children }) => (
  <h2 class="section">
    <Link to={withQuery('/trend', { metric, scenario, variant })}>{children}</Link>
  </h2>
);

/** @param {{trend: import('openapi').Trend, of: Named}} props */
function Accuracy({ trend, of }) {
  const { data, options } = useMemo(() => {
    const points = trend.points.filter((p) => p.value !== null);
    const runs = points.map((p) => p.run);
    return {
      data: [runs, points.map((p) => 100 * (p.value ?? 0))],
      /** @type {(paint: import('../uplot.js').Paint) => import('../uplot.js').PlotOptions} */
      options: (paint) => ({
        scales: {
          x: { time: false },
          y: { range: (_, low) => [Math.min(Math.floor(low ?? 100) - 1, 99), 100.5] },
        },
        legend: { show: false },
        padding: [10, 16, 0, 0],
        axes: [
          runAxis(paint, runs),
          axis(paint, { size: 62, values: (_, ticks) => ticks.map((t) => (t <= 100 ? `${t} %` : '')) }),
        ],
        hooks: bands(paint, [[trend.band, 'pass', 100]]),
        series: [{}, { stroke: paint('pass'), width: 1.5, points: { show: true, size: 4 } }],
      }),
    };
  }, [trend]);
  return (
    data[0].length > 0 && (
      <>
        <OverRuns metric="f1" of={of}>
          Frames right (F1 of the engines under test)
        </OverRuns>
        <Plot
          data={data}
          options={options}
          height={170}
          label="F1 of the engines under test in this case, by run"
        />
      </>
    )
  );
}

/**
 * The scenario's own file, with the lines that the newest case's stacks name.
 * @param {{c: import('openapi').CaseLine}} props
 */
function Sample({ c }) {
  const { data } = useData('/api/v1/runs/{run}/cases/{case}', {
    run: c.run,
    case: caseName(c),
    repeat: c.repeat || null,
  });
  const subjects = data ? data.case.engines.map((e, i) => (e.subject ? i : -1)).filter((i) => i >= 0) : [];
  const thread = data?.threads.find((t) =>
    t.rows.some((row) => sourceOf(row[0].frame?.file, data.artifacts)),
  );
  if (!data || !thread) return null;
  const at = thread.rows.findIndex((row) => sourceOf(row[0].frame?.file, data.artifacts));
  return (
    <>
      <h2 class="section">The scenario, with the lines that its stack names</h2>
      <div class="panel box">
        <Source
          artifacts={data.artifacts}
          thread={thread}
          columns={subjects}
          engines={data.case.engines}
          at={at}
        />
      </div>
    </>
  );
}

/** @param {{scenario: string, variant: string}} props */
export function CaseHistory({ scenario, variant }) {
  const data = useData('/api/v1/cases/{scenario}/{variant}', { scenario, variant });
  return (
    <Page title={`${scenario}.${variant}`} lead="This case through all runs">
      <Loaded from={data}>
        {(found) => (
          <>
            <Strip cases={found.cases} />
            <p class="dim gap">
              {plural(found.total, 'time')} taken · now <Verdict word={found.newest.verdict} long />
              {found.newest.reason ? `: ${found.newest.reason}` : ''}
            </p>
            <div class="columns">
              <section class="panel box">
                <h2>Expected</h2>
                <Pairs
                  rows={[
                    ['hook', found.newest.expected_doors ?? 'none'],
                    ['exception', found.newest.expected_code],
                    ['exit code', found.newest.expected_exit_code],
                  ]}
                  mono
                />
              </section>
              <section class="panel box">
                <h2>Newest scores</h2>
                <ul class="lines">
                  {found.newest.scores
                    .filter((s) => s.judged)
                    .map((s) => (
                      <li key={s.engine}>
                        <span class="mono">{s.engine}</span> {percent(s.right_frames, s.truth_frames)} of
                        frames, {percent(s.lines_right, s.lines_judged)} of lines
                      </li>
                    ))}
                </ul>
              </section>
              <section class="panel box">
                <h2>Again</h2>
                <p>
                  <Command>
                    twinstack run -k {scenario} --variant {variant}
                  </Command>
                </p>
              </section>
            </div>
            <Accuracy trend={found.trends.f1} of={found} />
            <OverRuns metric="dump_ns" of={found}>
              Time on the back end
            </OverRuns>
            <Times trends={found.trends} />
            <Later>{() => <Sample c={found.cases[0]} />}</Later>
          </>
        )}
      </Loaded>
    </Page>
  );
}
