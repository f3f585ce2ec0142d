// One head problem: what makes stacks this problem, how often and in which versions it was seen, one of its
// stacks, and where dump and offsets of its reports differ.
import { useData } from '../api.js';
import { useQuery, withQuery } from '../router.js';
import { CopyLink } from '../share.js';
import { Table } from '../table.js';
import { Chip, Empty, Pairs, Frames, Link, Loaded, Name, number, Page, percent, plural } from '../ui.js';
import { AGAIN_MS, Example, LONG, minute, problemPath, ShadowTables, Trend, Version } from './problems.js';

/** @typedef {import('./problems.js').Row} Row */

const KINDS = [
  ['hang: ', 'hangs'],
  ['on demand: ', 'captures on demand'],
];

/**
 * What a signature consists of.
 * @param {string} signature
 * @returns {{of: string, functions: string[], place: string | null}} place: where no frame has a name
 */
export function partsOf(signature) {
  const kind = KINDS.find(([start]) => signature.startsWith(start));
  const text = kind ? signature.slice(kind[0].length) : signature;
  const of = kind?.[1] ?? 'crashes';
  if (/^[^|]*!0x[0-9a-f]+$/.test(text) || text === '(no frames)') return { of, functions: [], place: text };
  return { of, functions: text.split(' | '), place: null };
}

/** @param {{signature: string}} props */
function Rule({ signature }) {
  const { of, functions, place } = partsOf(signature);
  return (
    <section aria-label="What makes it one problem">
      <h2 class="section">What makes it one problem</h2>
      {place === '(no frames)' ? (
        <p>These are {of} whose stack has no frame at all.</p>
      ) : place ? (
        <p>
          These are {of} of which no frame has a name, with this place innermost:{' '}
          <span class="mono">
            <Name text={place} />
          </span>
          . Another build is another problem. Give <code>twinstack worker --symbols</code> the module’s
          symbols: later reports count under the names of functions.
        </p>
      ) : (
        <>
          <p>
            {of[0].toUpperCase() + of.slice(1)} count here if{' '}
            {functions.length === 1
              ? 'this is the innermost function'
              : `these are the innermost ${functions.length} functions`}
            {functions.length === 1 ? '' : ', in this order'}; functions that the rules skip do not count:
          </p>
          <ol class="mono wrap">
            {functions.map((name) => (
              <li>
                <Name text={name} />
              </li>
            ))}
          </ol>
          <p class="dim">
            Callers further out, lines, offsets, builds and versions make no difference. To merge problems
            that differ only in a helper, add <code>skip function NAME</code>; to split one, raise{' '}
            <code>depth</code> or add <code>join function NAME</code>.{' '}
            <code>twinstack signatures --show-rules</code> prints the rules to edit, and{' '}
            <code>twinstack worker --rules FILE</code> uses them for what it counts from then on.
          </p>
        </>
      )}
    </section>
  );
}

/** @param {{row: Row}} props */
const Versions = ({ row }) => (
  <>
    <h2 class="section">Versions</h2>
    <Table
      label="Versions"
      kind="list stacking"
      rows={row.by_version}
      id={(v) => v.version ?? ''}
      columns={[
        {
          head: 'version',
          cell: (v) => <Version text={v.version} />,
          sort: (v) => v.version,
          kind: 'mono wrap',
        },
        { head: 'stacks', cell: (v) => number(v.stacks), sort: (v) => v.stacks, kind: 'num strong' },
        { head: 'first seen', cell: (v) => minute(v.first_hour), sort: (v) => v.first_hour, kind: 'nowrap' },
        { head: 'last seen', cell: (v) => minute(v.last_hour), sort: (v) => v.last_hour, kind: 'nowrap' },
      ]}
    />
  </>
);

/** @param {{row: Row, found: import('openapi').Answers['/api/v1/problems'], version?: string}} props */
function Facts({ row, found, version }) {
  /** @type {[string, import('preact').ComponentChildren][]} */
  const facts = [
    ['rank', `${number(row.rank)} of ${plural(found.total, 'problem')}`],
    [
      version ? `stacks of ${version}` : 'stacks',
      `${number(row.count)}, ${percent(row.count, found.stacks)}`,
    ],
    ['first seen', minute(row.first_seen)],
    ['last seen', minute(row.last_seen)],
    [
      'dump agrees',
      row.judged > 0 ? `${number(row.agreed)} of ${plural(row.judged, 'sampled report')}` : 'not sampled',
    ],
  ];
  return <Pairs rows={facts} />;
}

/** @param {{row: Row, found: import('openapi').Answers['/api/v1/problems'], version?: string}} props */
const Body = ({ row, found, version }) => (
  <>
    <Facts row={row} found={found} version={version} />
    <Rule signature={row.signature} />
    {row.hours.length > 0 && (
      <>
        <h2 class="section">Stacks over time</h2>
        <Trend hours={row.hours} high={60} />
        <p class="dim small">
          {minute(row.hours[0].hour)} to {minute(row.hours[row.hours.length - 1].hour)} UTC, at most{' '}
          {number(Math.max(...row.hours.map((h) => h.count)))} at a time; hours without one are left out
        </p>
      </>
    )}
    <Versions row={row} />
    {row.example && (
      <>
        <h2 class="section">One of its stacks</h2>
        <Example text={row.example} />
        {row.example.length <= LONG && (
          <p>
            <Link to={`/resolve#${new URLSearchParams({ stack: row.example })}`}>Name its frames</Link>
            <span class="dim small"> with the symbols of this server, or with yours</span>
          </p>
        )}
      </>
    )}
    <ShadowTables shadow={found.shadow} />
  </>
);

/** @param {{problem: string}} props problem: its key */
export function Problem({ problem }) {
  const [{ version, since, baseline }] = useQuery();
  const data = useData('/api/v1/problems', { key: problem, version, since, baseline }, AGAIN_MS);
  const row = data.data?.problems[0];
  const back = <Link to={withQuery('/problems', { version, since, baseline })}>All problems</Link>;
  return (
    <Page
      title={
        row ? (
          <span class="wrap">
            <Frames text={row.signature} />
          </span>
        ) : (
          'Problem'
        )
      }
      lead={row?.new && <Chip>new{since && since.length < 40 ? ` since ${since}` : ''}</Chip>}
      actions={[back, <CopyLink to={problemPath(problem, {})} />]}
    >
      <Loaded from={data}>
        {(found) =>
          found.problems.length === 0 ? (
            <Empty
              title={
                version ? `No report of version ${version} has this problem` : 'No report has this problem'
              }
            >
              <p>The address may be of other totals. {back}</p>
            </Empty>
          ) : (
            found.problems.map((one) => (
              <Body key={one.signature} row={one} found={found} version={version} />
            ))
          )
        }
      </Loaded>
    </Page>
  );
}
