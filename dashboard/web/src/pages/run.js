// One run: what ran where, how each engine did, and the grid of cases.
import { useState } from 'preact/hooks';
import { send, token, useData } from '../api.js';
import { Later } from '../painted.js';
import { useQuery, withQuery } from '../router.js';
import { CopyLink } from '../share.js';
import { Table } from '../table.js';
import {
  Chip,
  commitOf,
  CountsBar,
  CountsLegend,
  Pairs,
  Link,
  Loaded,
  Page,
  RunKind,
  Verdict,
  duration,
  number,
  percent,
  plural,
  when,
} from '../ui.js';
import { Since } from './case_groups.js';
import { Grid } from './grid.js';
import { Accuracy } from './accuracy.js';
import { Headline } from './headline.js';
import { Speed } from './speed.js';
import { Causes } from './overview.js';
import { Term } from '../glossary.js';
import { Progress } from './progress.js';

/** @typedef {import('openapi').Answers['/api/v1/runs/{run}']} RunData */

/** @param {{rows: RunData['engines']}} props */
function Engines({ rows: all }) {
  const rows = all.filter((e) => e.stacks > 0 || e.subject);
  const silent = all.filter((e) => !rows.includes(e));
  return (
    <>
      <Table
        label="Engines"
        kind="list engines"
        rows={rows}
        columns={[
          {
            head: 'engine',
            cell: (e) => [
              `${e.engine} `,
              e.subject && (
                <Chip kind="subject" title="decides verdict and exit code">
                  {' '}
                  under test{' '}
                </Chip>
              ),
            ],
            kind: 'mono',
          },
          {
            head: <Term name="exact" />,
            cell: (e) => [
              <strong>{percent(e.exact, e.judged)}</strong>,
              ' ',
              <span class="dim small">{`${number(e.exact)} of ${number(e.judged)}`}</span>,
            ],
            sort: (e) => e.exact / e.judged,
            kind: 'num',
          },
          {
            head: <Term name="precision" />,
            cell: (e) => percent(e.right_frames, e.own_frames),
            kind: 'num',
          },
          { head: <Term name="recall" />, cell: (e) => percent(e.right_frames, e.truth_frames), kind: 'num' },
          {
            head: <Term name="inline frame">inline</Term>,
            cell: (e) => percent(e.inline_right, e.inline_demanded),
            kind: 'num',
          },
          { head: 'lines', cell: (e) => percent(e.lines_right, e.lines_judged), kind: 'num' },
          {
            head: <Term name="physical" />,
            cell: (e) => percent(e.physical_same, e.physical_judged),
            kind: 'num',
          },
          {
            head: <Term name="shares" />,
            cell: (e) => e.shares ?? 'nothing of ours',
            kind: 'dim small shares',
          },
        ]}
      />
      {silent.length > 0 && (
        <p class="dim small silent">
          Not asked:{' '}
          {silent.map((e, i) => (
            <>
              {i ? '; ' : ''}
              <span class="mono">{e.engine}</span>
              {e.skip_reason ? ` (${e.skip_reason})` : ''}
            </>
          ))}
          .
        </p>
      )}
    </>
  );
}

/** @param {{run: RunData['run']}} props */
function Environment({ run }) {
  const rows = [
    ['platform', run.platform],
    ['compiler', run.compiler],
    ['flags', run.flags],
    ['processor', run.cpu],
    ['command', run.command],
    ...run.tools.map((t) => [t.name, t.version]),
    ...run.environment.map((t) => [t.name, t.version]),
  ].filter(([, value]) => value);
  return (
    <details class="env">
      <summary>Where it ran</summary>
      <Pairs rows={rows} kind="" mono />
    </details>
  );
}

/** @typedef {import('openapi').Run['managed_stacks'][number]} ManagedPhase */

/** @param {{count: ManagedPhase['plain']}} props */
function ManagedCount({ count }) {
  if (!count) return <span class="dim">not measured</span>;
  const ends = /** @type {const} */ (['refused', 'hijacked', 'ended', 'wrong', 'blocked']);
  const rest = ends.filter((end) => count[end] > 0).map((end) => `${number(count[end])} ${end}`);
  return (
    <>
      {number(count.right)} of {number(count.samples)}
      {rest.length > 0 && <div class="dim small">{rest.join(', ')}</div>}
    </>
  );
}

const snapshots = /** @type {const} */ ([
  { head: 'plain snapshot', count: 'plain' },
  { head: 'seeded snapshot', count: 'seeded' },
  { head: 'walk of a copy', count: 'copy' },
  { head: 'walk in place', count: 'in_place' },
]);

/**
 * How many stacks of managed code each way got right, by what the stopped thread was doing.
 * @param {{phases: ManagedPhase[]}} props
 */
function ManagedStacks({ phases }) {
  if (phases.length === 0) return null;
  return (
    <>
      <h2 class="section">Right stacks of managed code</h2>
      <Table
        label="Right stacks of managed code"
        kind="list stacking"
        rows={phases}
        attributes={(phase) => ({ title: phase.measured ? `measured ${phase.measured}` : undefined })}
        columns={[
          { head: 'while the stopped thread', cell: (phase) => phase.phase },
          ...snapshots.map(({ head, count }) => ({
            head,
            cell: (/** @type {ManagedPhase} */ phase) => <ManagedCount count={phase[count]} />,
            kind: 'num',
          })),
        ]}
      />
    </>
  );
}

/**
 * The first cases by name; the others are in the list of the problem.
 * @param {{group: import('openapi').FailingGroup, run: number}} props
 */
function Names({ group, run }) {
  const [names, rest] = group.names.split(/ (?=and [\d,]+ more cases?$)/);
  return (
    <>
      {names}
      {rest && [' ', <Link to={withQuery(`/runs/${run}/mismatches`, { problem: group.key })}>{rest}</Link>]}
    </>
  );
}

/**
 * What fails and why: cases that fail alike share an entry.
 * @param {{groups: import('openapi').FailingGroup[], left: number, run: number}} props
 */
function Failing({ groups, left, run }) {
  if (groups.length === 0) return null;
  return (
    <>
      <h2 class="section">What fails, and why</h2>
      <ul class="panel lines failing box">
        {groups.map((group) => (
          <li key={group.key}>
            <Verdict word={group.verdict} />{' '}
            <Link class="strong" to={withQuery(`/runs/${run}/mismatches`, { problem: group.key })}>
              {plural(group.cases, 'case')}
            </Link>
            : <bdi>{group.sentence}</bdi>
            <p class="dim small">
              {group.blame ? `blame: ${group.blame} · ` : ''}
              {group.file ? `file: ${group.file} · ` : ''}
              {group.right_text ? `${group.right_text} · ` : ''}
              <Since since={group.since} before={group.before} />
              <span class="mono">
                <Names group={group} run={run} />
              </span>
            </p>
            <p class="dim small">e.g. {group.reason}</p>
            {group.command ? (
              <p class="dim small">
                more: <code>{group.command}</code>
              </p>
            ) : null}
          </li>
        ))}
        {left > 0 ? (
          <li>
            <Link to={withQuery('/signatures', { run })}>and {plural(left, 'more case')}</Link>
          </li>
        ) : null}
      </ul>
    </>
  );
}

/** @param {{groups: import('openapi').ReasonGroup[]}} props */
function NotShown({ groups }) {
  if (groups.length === 0) return null;
  return (
    <>
      <h2 class="section">Not shown here</h2>
      <ul class="panel lines box">
        {groups.map((group) => (
          <li key={group.reason} title={group.names}>
            <Verdict word="UNSUPPORTED" /> {number(group.cases)} {group.cases === 1 ? 'case' : 'cases'}{' '}
            <span class="dim">{group.reason}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** @param {{data: RunData}} props */
const Figures = ({ data }) => (
  <>
    <Failing groups={data.failing} left={data.failing_left} run={data.run.id} />
    <Accuracy accuracy={data.accuracy} />
    {data.engines.length > 0 && (
      <>
        <h2 class="section">
          Engines against the <Term name="truth" />
        </h2>
        <Engines rows={data.engines} />
      </>
    )}
    <Headline headline={data.headline} />
    <Speed speed={data.speed} ratio={data.speed_ratio} />
    <NotShown groups={data.not_shown} />
  </>
);

/**
 * Who watches a run sees its cases, and then below them what they add up to: nothing moves.
 * @param {{data: RunData}} props
 */
function Shown({ data }) {
  const { run } = data;
  const running = run.state === 'running';
  const [watched] = useState(running);
  return (
    <>
      <section class="strip box">
        <div class="dim">
          <RunKind run={run} />
          {when(run.started_ns)} UTC · {run.state}
          {run.state === 'interrupted' && !run.finished_ns ? ': its process is gone' : ''}
          {run.finished_ns ? ` · took ${duration(run.finished_ns - run.started_ns)}` : ''}
          {run.commit ? ` · ${commitOf(run)}` : ''}
        </div>
        {(watched || run.case_count > 0) && <CountsBar verdicts={run.verdicts} total={run.case_count} />}
        {watched ? null : <CountsLegend of={[run.verdicts]} />}
        {data.lanes_counts?.includes(',') ? <div class="dim">cases run: {data.lanes_counts}</div> : null}
      </section>
      {data.not_run ? (
        <p class="banner bad" role="status">
          Not run: {data.not_run}
        </p>
      ) : null}
      <Progress run={run} />
      {watched && run.state === 'complete' ? (
        <p class="ended" role="status">
          The run has ended: its figures are below its cases.
        </p>
      ) : null}
      {watched ? null : <Figures data={data} />}
      <h2 class="section">Cases</h2>
      <Later>
        {() => (
          <>
            <Grid run={run.id} running={running} />
            {watched && !running ? <Figures data={data} /> : null}
            {running ? null : (
              <>
                <h2 class="section">
                  <Term name="cause">Causes</Term> of differences
                </h2>
                <Causes rows={data.causes} run={run.id} />
                <ManagedStacks phases={run.managed_stacks} />
              </>
            )}
            <Environment run={run} />
          </>
        )}
      </Later>
    </>
  );
}

/**
 * Only where the server writes: its start address then carried a token.
 * @param {{run: number}} props
 */
function SetBaseline({ run }) {
  const [said, say] = useState('');
  if (!token()) return null;
  const put = () =>
    send('PUT', '/api/v1/baseline', { body: JSON.stringify({ run }) }).then(
      () => say('is now the baseline'),
      (error) => say(error.message),
    );
  return said ? (
    <span class="dim" role="status">
      {said}
    </span>
  ) : (
    <button onClick={put}>Make this the baseline</button>
  );
}

/** @param {{run: string}} props */
export function Run({ run }) {
  const [query] = useQuery();
  const data = useData('/api/v1/runs/{run}', { run });
  return (
    <Page
      title={`Run ${data.data?.run.id ?? run}`}
      lead={data.data?.run.platform}
      actions={
        <>
          {data.data && <SetBaseline run={data.data.run.id} />}{' '}
          <CopyLink to={data.data && withQuery(`/runs/${data.data.run.id}`, query)} />{' '}
          <Link class="button" to={`/runs/${run}/mismatches`}>
            Mismatches
          </Link>
        </>
      }
    >
      <Loaded from={data}>{(found) => <Shown key={found.run.id} data={found} />}</Loaded>
    </Page>
  );
}
