// Head problems: the stacks of all reports of programs in the field, most frequent first.
import { useState } from 'preact/hooks';
import { useData } from '../api.js';
import { useQuery, withQuery } from '../router.js';
import { Table } from '../table.js';
import {
  Chip,
  duration,
  Empty,
  Field,
  Frames,
  Link,
  Name,
  Loaded,
  number,
  Page,
  percent,
  plural,
  words,
} from '../ui.js';
import { NamedStacks } from './resolve.js';

export const AGAIN_MS = 3000;
export const LONG = 4000; // characters of a stack that a link carries
const VERSIONS_SHOWN = 3;

/** @typedef {import('openapi').Answers['/api/v1/problems']['problems'][number]} Row one problem */

/** @typedef {import('openapi').Answers['/api/v1/problems']['shadow']} Shadow */

/**
 * 2026-11-22T08:15:00Z as 2026-11-22 08:15; of an hour, 2026-11-22T08, as 2026-11-22 08 h.
 * @param {string | null} time
 */
export const minute = (time) =>
  (time ?? '').replace(
    /^(\d{4}-\d\d-\d\d)T(\d\d)(:\d\d)?.*$/,
    (_, day, hour, rest) => `${day} ${hour}${rest ?? ' h'}`,
  );

/**
 * The page of one problem.
 * @type {(key: string, query: import('../router.js').Changes) => string}
 */
export const problemPath = (key, query) => withQuery(`/problems/${key}`, query);

/** @param {{text: string | null}} props */
export const Version = ({ text }) => (text ? <Name text={text} /> : <span class="dim">not stated</span>);

/**
 * The frames of a stack: named where this server has symbols, else as they were reported.
 * @param {{text: string}} props
 */
export const Example = ({ text }) => (
  <NamedStacks
    text={text}
    otherwise={<pre class="mono wrap">{text.split('\n').map((line) => [<Name text={line} />, '\n'])}</pre>}
  />
);

/**
 * The same, asked for when it is opened.
 * @param {{text: string}} props
 */
function FoldedExample({ text }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>one of its stacks</summary>
      {open && <Example text={text} />}
    </details>
  );
}

/**
 * A bar for each hour, as high as its SHARE of 1; LABEL says it in words.
 * @param {{bars: {hour: string, share: number, title: string}[], label: string, high?: number}} props
 */
function Bars({ bars, label, high = 20 }) {
  const width = high / 5;
  return (
    <svg
      class="sparkline"
      role="img"
      width={width * Math.max(1, bars.length)}
      height={high}
      aria-label={label}
    >
      {bars.map((bar, i) => {
        const height = Math.max(1, Math.round(high * bar.share));
        return (
          <rect
            key={bar.hour}
            x={i * width}
            y={high - height}
            width={width - 1}
            height={height}
            fill="currentColor"
          >
            <title>{`${bar.hour}: ${bar.title}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

/**
 * The counts of the last hours.
 * @param {{hours: Row['hours'], high?: number}} props high: in pixels
 */
export function Trend({ hours, high }) {
  const most = Math.max(1, ...hours.map((h) => h.count));
  const last = hours[hours.length - 1];
  const bars = hours.map((h) => ({ hour: h.hour, share: h.count / most, title: number(h.count) }));
  const label = last ? `${number(last.count)} in the hour ${last.hour} UTC` : 'no hour';
  return <Bars bars={bars} label={label} high={high} />;
}

/**
 * The share of sampled reports in which an engine agrees, by hour.
 * @param {{engine: Shadow['engines'][number]}} props
 */
function Agreement({ engine }) {
  const last = engine.hours[engine.hours.length - 1];
  /** @param {Shadow['engines'][number]['hours'][number]} h */
  const title = (h) => `${number(h.agreed)} of ${number(h.judged)}`;
  const bars = engine.hours.map((h) => ({
    hour: h.hour,
    share: h.agreed / Math.max(1, h.judged),
    title: title(h),
  }));
  return <Bars bars={bars} label={last ? `${title(last)} in the hour ${last.hour} UTC` : 'no hour'} />;
}

/** @param {{first: string | null, last: string | null}} props */
const Seen = ({ first, last }) => [minute(first), <br />, <span>to {minute(last)}</span>];

/** @param {{shadow: Shadow}} props */
export function ShadowTables({ shadow }) {
  if (shadow.reports === 0) return null;
  return (
    <section>
      <h2 class="section">Dump and offsets of sampled reports</h2>
      <p class="legend flow dim small">
        Judged without a truth, of reports that have a record and a dump: {plural(shadow.reports, 'report')},
        of which {shadow.verdicts.map((v) => `${number(v.count)} ${words(v.verdict)}`).join(', ')}.
      </p>
      <Table
        label="Agreement of engines"
        kind="list stacking"
        rows={shadow.engines}
        columns={[
          { head: 'engine', cell: (e) => e.engine, kind: 'mono' },
          {
            head: 'compared with',
            cell: (e) => e.against ?? <span class="dim">the others are compared with it</span>,
          },
          {
            head: 'agrees',
            cell: (e) => (e.against ? percent(e.same, e.same + e.differs + e.failed) : '–'),
            kind: 'num strong',
          },
          { head: 'differs', cell: (e) => number(e.differs), kind: 'num' },
          { head: 'failed', cell: (e) => number(e.failed), kind: 'num' },
          { head: 'median time', cell: (e) => (e.median_ns > 0 ? duration(e.median_ns) : '–'), kind: 'num' },
          { head: 'last hours', cell: (e) => <Agreement engine={e} /> },
        ]}
      />
      {shadow.causes.length > 0 && (
        <>
          <h2 class="section">Why they differ</h2>
          <Table
            label="Causes of differences"
            kind="list stacking"
            rows={shadow.causes}
            columns={[
              { head: 'reports', cell: (c) => number(c.count), sort: (c) => c.count, kind: 'num strong' },
              { head: 'engine', cell: (c) => c.engine, sort: (c) => c.engine, kind: 'mono' },
              {
                head: 'cause',
                cell: (c) => (c.result === 'failed' ? `failed: ${c.cause}` : words(c.cause)),
                kind: 'wrap',
              },
              {
                head: 'module',
                cell: (c) => (c.module ? <Name text={c.module} /> : <span class="dim">unknown</span>),
                sort: (c) => c.module,
                kind: 'mono wrap',
              },
              {
                head: 'first and last seen',
                cell: (c) => <Seen first={c.first_hour} last={c.last_hour} />,
                kind: 'nowrap',
                label: 'seen',
              },
              { head: 'newest report', cell: (c) => <Name text={c.report ?? ''} />, kind: 'mono wrap' },
            ]}
          />
        </>
      )}
    </section>
  );
}

/** @type {(rows: Row[]) => string} */
const listed = (rows) =>
  (rows[0]?.rank ?? 1) > 1
    ? `the ${number(rows[0].rank)}th to ${number(rows[rows.length - 1].rank)}th`
    : `the ${number(rows.length)} most frequent`;

/**
 * The newest versions with their counts.
 * @param {{row: Row}} props
 */
const VersionCounts = ({ row }) =>
  row.by_version
    .slice(0, VERSIONS_SHOWN)
    .map((v) => [
      <span class="version">
        <Version text={v.version} /> <span class="dim small">{number(v.stacks)}</span>
      </span>,
    ])
    .concat(
      row.by_version.length > VERSIONS_SHOWN
        ? [
            [
              <span class="version dim small">
                and {number(row.by_version.length - VERSIONS_SHOWN)} older
              </span>,
            ],
          ]
        : [],
    );

/**
 * @typedef {import('openapi').Answers['/api/v1/problems']} Found
 * @param {{found: Found, query: import('../router.js').Changes}} props
 */
const Ranking = ({ found, query: { version, since, baseline } }) => (
  <Table
    label="Head problems"
    kind="list stacking"
    rows={found.problems}
    id={(row) => row.signature}
    columns={[
      { head: 'rank', cell: (row) => row.rank, kind: 'num' },
      {
        head: 'stacks',
        cell: (row) => [
          number(row.count),
          <br />,
          <span class="dim small">{percent(row.count, found.stacks)}</span>,
        ],
        sort: (row) => row.count,
        kind: 'num strong',
      },
      {
        head: 'problem',
        cell: (row) => (
          <>
            <Link class="mono wrap block" to={problemPath(row.key, { version, since, baseline })}>
              <Frames text={row.signature} />
            </Link>{' '}
            {row.new && <Chip>new</Chip>}
            {row.example && <FoldedExample text={row.example} />}
          </>
        ),
        label: '',
      },
      {
        head: 'versions',
        cell: (row) => <VersionCounts row={row} />,
      },
      {
        head: 'first and last seen',
        cell: (row) => <Seen first={row.first_seen} last={row.last_seen} />,
        sort: (row) => row.last_seen,
        kind: 'nowrap',
        label: 'seen',
      },
      { head: 'last hours', cell: (row) => <Trend hours={row.hours} /> },
      {
        head: 'dump agrees',
        cell: (row) =>
          row.judged > 0 ? (
            `${number(row.agreed)} of ${number(row.judged)}`
          ) : (
            <span class="dim">not sampled</span>
          ),
        kind: 'nowrap',
      },
    ]}
  />
);

export function Problems() {
  const [query, setQuery] = useQuery();
  const { version, baseline, since, new: fresh, limit, after } = query;
  const data = useData('/api/v1/problems', { version, baseline, since, new: fresh, limit, after }, AGAIN_MS);
  const marks = Boolean(baseline || since);
  return (
    <Page title="Head problems" lead="What programs in the field report, most frequent first.">
      <div class="filters flow">
        <Field label="new since day">
          <input
            type="date"
            value={query.baseline ?? ''}
            onChange={(event) => setQuery({ baseline: event.currentTarget.value || undefined, after: null })}
          />
        </Field>
        <Field label="new since version">
          <input
            type="search"
            value={since ?? ''}
            list="versions"
            placeholder="none"
            onChange={(event) => setQuery({ since: event.currentTarget.value || undefined, after: null })}
          />
        </Field>
        {marks && (
          <button
            aria-pressed={Boolean(fresh)}
            onClick={() => setQuery({ new: fresh ? null : '1', after: null })}
          >
            only new ones
          </button>
        )}
        <Field label="version">
          <input
            type="search"
            value={query.version ?? ''}
            list="versions"
            placeholder="any"
            onChange={(event) => setQuery({ version: event.currentTarget.value || undefined, after: null })}
          />
        </Field>
        <datalist id="versions">
          {data.data?.versions.map((v) => (
            <option key={v.version} value={v.version} />
          ))}
        </datalist>
      </div>
      <Loaded from={data}>
        {(found) =>
          found.total > 0 && found.problems.length === 0 && fresh && !after ? (
            <Empty title="No new problem">
              <p>
                {since && !found.versions.some((v) => v.version === since)
                  ? `No report of version ${since} was counted.`
                  : 'Every problem was seen before.'}
              </p>
            </Empty>
          ) : found.problems.length === 0 && !after ? (
            <Empty
              title={query.version ? `No report of version ${query.version}` : 'No report was counted yet'}
            >
              <p>
                Reports come in with <code>twinstack serve --collect</code>; they are counted by{' '}
                <code>twinstack worker</code> and <code>twinstack reduce</code>.
              </p>
            </Empty>
          ) : (
            <>
              <p class="legend flow dim small">
                {plural(found.stacks, 'stack')} in {plural(found.reports, 'report')},{' '}
                {plural(found.total, 'problem')}
                {found.new !== null && `, ${number(found.new)} of them new`}
                {found.problems.length < ((fresh ? found.new : found.total) ?? 0) &&
                  `, ${listed(found.problems)} of which are listed`}
                ; times in UTC.
              </p>
              <Ranking found={found} query={query} />
              <p class="pager dim flow middle">
                {after && <button onClick={() => setQuery({ after: null })}>most frequent</button>}
                {found.next && (
                  <button onClick={() => setQuery({ after: found.next }, false)}>less frequent</button>
                )}
              </p>
              <ShadowTables shadow={found.shadow} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
