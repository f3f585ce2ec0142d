// Two runs: first how their environments differ, then verdicts, then times.
import { useState } from 'preact/hooks';
import { offline, useData } from '../api.js';
import { Term } from '../glossary.js';
import { usePainted } from '../painted.js';
import { usePaper } from '../paper.js';
import { go, useQuery, withQuery } from '../router.js';
import { CopyLink } from '../share.js';
import { CaseGroups } from './case_groups.js';
import { Table } from '../table.js';
import {
  caseName,
  commitOf,
  casePath,
  copy,
  duration,
  Empty,
  Field,
  Link,
  Loaded,
  number,
  Page,
  plural,
  Verdict,
  when,
  words,
} from '../ui.js';

/** @typedef {import('openapi').Answers['/api/v1/compare']} Compared */

const PICK_RUNS = 200; // as an offline file carries them

/** @type {['new' | 'fixed' | 'changed' | 'accepted' | 'gone' | 'added' | 'still', string][]} */
const groups = [
  ['new', 'New failures'],
  ['fixed', 'Fixed'],
  ['changed', 'Another verdict or reason'],
  ['accepted', 'Failed, and are accepted now'],
  ['gone', 'Gone'],
  ['added', 'Added'],
  ['still', 'Still failing'],
];

/** @param {Pick<Compared, 'a' | 'b' | 'environment' | 'changes'>} found */
function markdown(found) {
  const lines = [`## Run ${found.a.id} → run ${found.b.id}`, ''];
  for (const row of found.environment) lines.push(`- ${row.name}: ${row.a ?? '–'} → ${row.b ?? '–'}`);
  for (const [key, title] of groups) {
    lines.push('', `### ${title}: ${found.changes.counts[key]}`);
    for (const row of found.changes[key])
      lines.push(
        `- \`${caseName(row)}\` ${row.was ?? '–'} → ${row.is ?? '–'}${row.reason ? `: ${row.reason}` : ''}`,
      );
  }
  return `${lines.join('\n')}\n`;
}

const ROWS = 200; // of a group that the server gives at one time

/** @type {(runs: [number, number], group: string, after: number) => string} */
const changesAt = (runs, group, after) =>
  withQuery(`/compare/${runs[0]}/${runs[1]}`, after ? { group, after } : {});

/**
 * Cases that only one run has are counted, and listed on request.
 * @param {{title: string, name: string, rows: import('openapi').Change[], total: number, before: number,
 *   runs: [number, number], run: number, folded: boolean}} props BEFORE: so many come before the rows
 */
function Group({ title, name, rows, total, before, runs, run, folded }) {
  const [open, setOpen] = useState(!folded);
  const paper = usePaper();
  return (
    <section>
      <h2 class="section">
        {title} <span class="count dim">{number(total)}</span>
        {folded && [
          ' ',
          <button class="toggle dim small" aria-pressed={open} onClick={() => setOpen(!open)}>
            {open ? 'hide' : 'show'}
          </button>,
        ]}
      </h2>
      {(open || paper) && rows.length > 0 && (
        <>
          <Table
            label={title}
            kind="list stacking"
            rows={rows}
            columns={[
              {
                head: 'case',
                cell: (row) => <Link to={casePath(run, row)}>{caseName(row)}</Link>,
                sort: caseName,
                kind: 'mono',
              },
              {
                head: 'was',
                cell: (row) => (row.was ? <Verdict word={row.was} long /> : '–'),
                sort: (row) => row.was,
              },
              {
                head: 'is',
                cell: (row) => (row.is ? <Verdict word={row.is} long /> : '–'),
                sort: (row) => row.is,
              },
              {
                head: 'reason',
                cell: (row) => row.reason,
                sort: (row) => row.reason,
                kind: 'dim',
                label: '',
              },
            ]}
          />
          {total > rows.length && (
            <p class="pager dim flow middle" data-carrier>
              {number(before + 1)}–{number(before + rows.length)} of {number(total)} cases
              {before > 0 && (
                <Link to={changesAt(runs, name, Math.max(0, before - ROWS))}>
                  the {number(before)} before
                </Link>
              )}
              {before + rows.length < total && (
                <Link to={changesAt(runs, name, before + rows.length)}>
                  and {number(total - before - rows.length)} more
                </Link>
              )}
            </p>
          )}
        </>
      )}
    </section>
  );
}

/** @param {{rows: Compared['timing']}} props */
function Timing({ rows }) {
  if (rows.length === 0) return <p class="dim">No engine was timed in both runs.</p>;
  const said = {
    slower: ['▲', 'wrong'],
    faster: ['▼', 'good'],
    same: ['=', 'dim'],
    too_few: ['?', 'dim'],
    too_noisy: ['?', 'dim'],
  };
  return (
    <Table
      label="Timing"
      rows={rows}
      columns={[
        { head: 'engine', cell: (row) => row.engine, kind: 'mono' },
        { head: 'before', cell: (row) => duration(row.a_ns), kind: 'num' },
        { head: 'now', cell: (row) => duration(row.b_ns), kind: 'num' },
        {
          head: 'effect',
          cell: ({ effect }) =>
            effect === null ? '–' : `${effect >= 0 ? '+' : ''}${(100 * effect).toFixed(1)} %`,
          sort: (row) => row.effect,
          kind: 'num',
        },
        {
          head: <Term name="threshold" />,
          cell: (row) => (row.threshold === null ? '–' : `${(100 * row.threshold).toFixed(1)} %`),
          kind: 'num dim',
        },
        {
          head: <Term name="p" />,
          cell: (row) => (row.p === null ? '–' : row.p.toPrecision(2)),
          kind: 'num dim',
        },
        {
          head: 'says',
          cell: (row) =>
            [
              said[row.change]?.[0],
              row.change === 'too_few' ? `not enough samples (${row.samples})` : words(row.change),
            ].join(' '),
          attributes: (row) => ({ class: said[row.change]?.[1] }),
        },
      ]}
    />
  );
}

/**
 * The one ratio of a run, as the pages of that run have it.
 * @param {{run: number, ratio: import('openapi').SpeedRatio | null}} props
 */
const RatioOf = ({ run, ratio }) =>
  ratio && (
    <p>
      <Link to={`/runs/${run}`}>run {run}</Link>: dump : offsets <strong>{ratio.text}</strong>{' '}
      <span class="dim">({ratio.about})</span>
    </p>
  );

/**
 * Which two runs: any of the newest, and whatever the address names.
 * @param {{words: string[], found: import('openapi').Answers['/api/v1/compare'] | null}} props
 */
function Pickers({ words: chosen, found }) {
  const data = useData(usePainted() ? '/api/v1/runs' : null, { limit: PICK_RUNS });
  const ids = [found?.a.id, found?.b.id].map((id, i) => String(id ?? chosen[i]));
  /** @type {(run: import('openapi').Run) => boolean} */
  const held = (run) => !offline || run.id === offline.run || offline.compared.includes(run.id);
  const runs = (data.data?.runs ?? []).filter((run) => run.state !== 'running' && held(run));
  const rows = runs.map((run) => [
    String(run.id),
    [`run ${run.id}`, when(run.started_ns), run.branch, commitOf(run)].filter(Boolean).join(' · '),
  ]);
  return (
    <div class="filters flow" data-carrier>
      {['before', 'now'].map((label, i) => (
        <Field key={label} label={label}>
          <select
            class="runpick"
            value={ids[i]}
            onChange={(event) => {
              const picked = ids.map((id, k) => (k === i ? event.currentTarget.value : id));
              go(`/compare/${picked[0]}/${picked[1]}`);
            }}
          >
            {[...(rows.some(([id]) => id === ids[i]) ? [] : [[ids[i], `run ${ids[i]}`]]), ...rows].map(
              ([id, text]) => (
                <option key={id} value={id} selected={id === ids[i]}>
                  {text}
                </option>
              ),
            )}
          </select>
        </Field>
      ))}
    </div>
  );
}

/** @param {{a?: string, b?: string}} props */
export function Compare({ a, b }) {
  const [query] = useQuery();
  const first = a ?? query.a ?? 'latest~1';
  const second = b ?? query.b ?? 'latest';
  const { group, after } = query;
  const data = useData('/api/v1/compare', { a: first, b: second, group, after });
  return (
    <Page
      title="Compare"
      lead={
        data.data
          ? [data.data.a, data.data.b].map((run) => `run ${run.id} (${when(run.started_ns)})`).join(' with ')
          : 'two runs'
      }
      actions={
        <>
          <button onClick={() => go(`/compare/${second}/${first}`)}>Swap</button>{' '}
          <button disabled={!data.data} onClick={() => data.data && copy(markdown(data.data))}>
            Copy as Markdown
          </button>{' '}
          <CopyLink to={data.data && `/compare/${data.data.a.id}/${data.data.b.id}`} />
        </>
      }
    >
      <Pickers words={[first, second]} found={data.data} />
      <Loaded from={data}>
        {(found) => (
          <>
            <p class={`verdictline box ${found.totals.new > 0 ? 'bad' : 'good'}`} role="status">
              {found.sentence}
            </p>
            {found.environment.some((row) => ['compiler', 'flags', 'platform', 'cpu'].includes(row.name)) && (
              <p class="banner warn" role="status">
                The environments differ: {found.environment.map((row) => row.name).join(', ')} changed.
              </p>
            )}
            {found.environment.length > 0 && (
              <Table
                label="Environment"
                kind="list stacking"
                rows={found.environment}
                columns={[
                  { head: 'around the run', cell: (row) => row.name },
                  { head: `run ${found.a.id}`, cell: (row) => row.a ?? '–', kind: 'mono wrap' },
                  { head: `run ${found.b.id}`, cell: (row) => row.b ?? '–', kind: 'mono wrap' },
                ]}
              />
            )}
            {found.clusters.length > 0 && (
              <>
                <h2 class="section">
                  What broke{' '}
                  <span class="count dim">
                    {plural(found.clusters.length, 'problem')} in {plural(found.broke, 'case')}, each once
                  </span>
                </h2>
                <CaseGroups groups={found.clusters} run={found.b.id} />
              </>
            )}
            {groups.every(([key]) => found.changes[key].length === 0) ? (
              <Empty title="No case changed">
                <p>Every case of both runs has the same verdict.</p>
              </Empty>
            ) : (
              groups.map(
                ([key, title]) =>
                  (found.changes[key].length > 0 || key === 'new' || key === 'fixed') && (
                    <Group
                      key={key}
                      title={title}
                      name={key}
                      before={key === group ? Number(after ?? 0) : 0}
                      runs={[found.a.id, found.b.id]}
                      folded={found.changes[key].length > 12 && key !== group}
                      rows={found.changes[key]}
                      total={found.changes.counts[key]}
                      run={key === 'gone' ? found.a.id : found.b.id}
                    />
                  ),
              )
            )}
            <h2 class="section">Time on the back end</h2>
            <RatioOf run={found.a.id} ratio={found.speed_ratio.a} />
            <RatioOf run={found.b.id} ratio={found.speed_ratio.b} />
            <Timing rows={found.timing} />
            {found.timing.length > 0 && (
              <p class="dim small">
                Before and now: medians of the cases that both runs have. Effect: the median of what each case
                itself lost or gained, which need not be the quotient of these two.
              </p>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}
