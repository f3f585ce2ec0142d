// Head problems: the signatures of all reports of programs in the field, most frequent first.
import { useData } from '../api.js';
import { useQuery } from '../router.js';
import { Table } from '../table.js';
import {
  Chip,
  duration,
  Empty,
  Field,
  Frames,
  Name,
  Loaded,
  number,
  Page,
  percent,
  plural,
  words,
} from '../ui.js';

const AGAIN_MS = 3000;

/** @typedef {import('openapi').Answers['/api/v1/problems']['problems'][number]} Row */

/** @typedef {import('openapi').Answers['/api/v1/problems']['shadow']} Shadow */

/**
 * 2026-11-22T08:15:00Z as 2026-11-22 08:15; of an hour, 2026-11-22T08, as 2026-11-22 08 h.
 * @param {string | null} time
 */
const minute = (time) =>
  (time ?? '').replace(
    /^(\d{4}-\d\d-\d\d)T(\d\d)(:\d\d)?.*$/,
    (_, day, hour, rest) => `${day} ${hour}${rest ?? ' h'}`,
  );

/**
 * A bar for each hour, as high as its SHARE of 1; LABEL says it in words.
 * @param {{bars: {hour: string, share: number, title: string}[], label: string}} props
 */
function Bars({ bars, label }) {
  const width = 4;
  return (
    <svg class="sparkline" role="img" width={width * Math.max(1, bars.length)} height={20} aria-label={label}>
      {bars.map((bar, i) => {
        const height = Math.max(1, Math.round(20 * bar.share));
        return (
          <rect
            key={bar.hour}
            x={i * width}
            y={20 - height}
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
 * @param {{hours: Row['hours']}} props
 */
function Trend({ hours }) {
  const most = Math.max(1, ...hours.map((h) => h.count));
  const last = hours[hours.length - 1];
  const bars = hours.map((h) => ({ hour: h.hour, share: h.count / most, title: number(h.count) }));
  return <Bars bars={bars} label={last ? `${number(last.count)} in the hour ${last.hour} UTC` : 'no hour'} />;
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
function ShadowTables({ shadow }) {
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

/** @param {{found: import('openapi').Answers['/api/v1/problems']}} props */
const Ranking = ({ found }) => (
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
        head: 'signature',
        cell: (row) => (
          <>
            <span class="mono wrap">
              <Frames text={row.signature} />
            </span>{' '}
            {row.new && <Chip>new</Chip>}
            {row.example && (
              <details>
                <summary>one of its stacks</summary>
                <pre class="mono wrap">
                  {row.example.split('\n').map((line) => [
                    <bdi>
                      <Name text={line} />
                    </bdi>,
                    '\n',
                  ])}
                </pre>
              </details>
            )}
          </>
        ),
        label: '',
      },
      {
        head: 'versions',
        cell: (row) => (row.versions ? <Name text={row.versions} /> : <span class="dim">not stated</span>),
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
  const { version, baseline, limit, after } = query;
  const data = useData('/api/v1/problems', { version, baseline, limit, after }, AGAIN_MS);
  return (
    <Page title="Head problems" lead="What programs in the field report, most frequent first.">
      <div class="filters flow">
        <Field label="new since">
          <input
            type="date"
            value={query.baseline ?? ''}
            onChange={(event) => setQuery({ baseline: event.currentTarget.value || undefined })}
          />
        </Field>
        <Field label="version">
          <input
            type="search"
            value={query.version ?? ''}
            placeholder="any"
            onChange={(event) => setQuery({ version: event.currentTarget.value || undefined, after: null })}
          />
        </Field>
      </div>
      <Loaded from={data}>
        {(found) =>
          found.problems.length === 0 && !after ? (
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
                {plural(found.total, 'signature')}
                {found.problems.length < found.total && `, ${listed(found.problems)} of which are listed`};
                times in UTC.
              </p>
              <Ranking found={found} />
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
