// Hooks, signatures, known differences, symbols.
import { useState } from 'preact/hooks';
import { refresh, send, token, useData } from '../api.js';
import { useQuery, withQuery } from '../router.js';
import { Signs, signsIn, hooks as hookSigns, symbols as states } from '../signs.js';
import { Table } from '../table.js';
import {
  Chip,
  Command,
  Empty,
  Link,
  Loaded,
  Page,
  SearchField,
  Verdict,
  VerdictSigns,
  caseName,
  casePath,
  number,
  plural,
  words,
  repeatOf,
} from '../ui.js';
import { Term } from '../glossary.js';
import { GroupFacts, groupPath } from './case_groups.js';
import { RunPick } from './run_pick.js';

/**
 * @typedef {import('openapi').Answers['/api/v1/hooks']} HooksFound
 * @typedef {Omit<HooksFound['rows'][number], 'got'> & {want: string[], got: string[]}} HookRow
 */

/** @type {WeakMap<HooksFound, HookRow[]>} */
const parsed = new WeakMap(); // the rows of a document, with their hooks split once
/** @param {HooksFound} found */
function hookRows(found) {
  if (!parsed.has(found))
    parsed.set(
      found,
      found.rows.map((row) => ({ ...row, want: split(row.expected), got: split(row.got) })),
    );
  return parsed.get(found) ?? [];
}

/** @type {(text: string | null) => string[]} */
const split = (text) =>
  (text ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word && word !== 'none');

const PAGE_ROWS = 50;

const nothing = ['', '', ''];
const none = ['', '', 'none promised, none saw it'];
/** @type {(row: HookRow, hook: string) => import('../signs.js').Sign} */
function met({ want, got }, hook) {
  if (want.length + got.length === 0) return none;
  const saw = got.includes(hook);
  if (!want.includes(hook)) return saw ? hookSigns.more : nothing;
  return saw ? hookSigns.met : hookSigns.missed;
}

/** @param {{sign: import('../signs.js').Sign}} props */
const Met = ({ sign: [glyph, , why] }) =>
  glyph ? [<span aria-hidden="true">{glyph}</span>, <span class="sr">{why}</span>] : why;

export function Hooks() {
  const [query, set] = useQuery();
  const after = Number(query.after ?? 0);
  const { run, differs, search } = query;
  const data = useData('/api/v1/hooks', { limit: PAGE_ROWS, run, differs, search, after: query.after });
  return (
    <Page
      title="Hooks"
      lead="Which hook saw each crash: expected, and measured in this run."
      actions={<RunPick run={data.data?.run} />}
    >
      <Loaded from={data}>
        {(found) => {
          const rows = hookRows(found);
          const hooks = [...found.hooks]
            .sort((a, b) => b.seen - a.seen || (a.hook < b.hook ? -1 : 1))
            .map((row) => row.hook);
          if (found.total === 0)
            return (
              <Empty title="No case in this run">
                <p>Hooks are known once cases have been captured.</p>
              </Empty>
            );
          const seen = new Map(found.hooks.map((row) => [row.hook, row.seen]));
          const next = after + rows.length;
          return (
            <>
              <div class="filters flow">
                <SearchField value={query.search} onInput={(text) => set({ search: text, after: null })} />
                <button
                  class="toggle low dim small"
                  aria-pressed={!!query.differs}
                  onClick={() => set({ differs: query.differs ? null : 1, after: null })}
                >
                  only where expected and measured differ ({number(found.differing)})
                </button>
              </div>
              <Signs
                of={signsIn(
                  hookSigns,
                  rows.flatMap((row) => hooks.map((hook) => met(row, hook))),
                )}
              />
              <Table
                label="Hooks"
                kind="matrix"
                rows={rows}
                columns={[
                  {
                    head: <Term name="case" />,
                    cell: (row) => (
                      <Link to={casePath(found.run, row)}>
                        {caseName(row)}
                        {repeatOf(row)}
                      </Link>
                    ),
                    kind: 'mono',
                    names: true,
                  },
                  ...hooks.map((hook, i) => ({
                    head: [words(hook), <br />, <span class="dim nowrap">saw {number(seen.get(hook))}</span>],
                    cell: (/** @type {HookRow} */ row) => <Met sign={met(row, hook)} />,
                    attributes: (/** @type {HookRow} */ row) => {
                      if (i === 0 && row.want.length + row.got.length === 0)
                        return { class: 'dim small none', colSpan: hooks.length };
                      const [, kind, why] = met(row, hook);
                      return { class: kind && `v-${kind}`, title: why };
                    },
                  })),
                ]}
              />
              {found.fitting === 0 ? (
                <p class="dim pad">No case fits.</p>
              ) : rows.length < found.fitting ? (
                <p class="pager dim flow middle">
                  {number(after + 1)}–{number(next)} of {number(found.fitting)} cases
                  {after > 0 && (
                    <button onClick={() => set({ after: after > PAGE_ROWS ? after - PAGE_ROWS : null })}>
                      previous
                    </button>
                  )}
                  {next < found.fitting && <button onClick={() => set({ after: next })}>next</button>}
                </p>
              ) : null}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

/**
 * The rank compared with that in the previous run.
 * @typedef {import('openapi').Answers['/api/v1/signatures']['signatures'][number]} SignatureRow
 * @param {{row: SignatureRow}} props
 */
function Change({ row }) {
  const by = row.rank_before === null ? null : row.rank_before - row.rank;
  if (by === null) return <Chip>new</Chip>;
  if (by === 0)
    return (
      <span class="dim" title="as in the previous run">
        =
      </span>
    );
  return (
    <span class={by > 0 ? 'wrong' : 'dim'} title={`was ${row.rank_before} in the previous run`}>
      {by > 0 ? '▲' : '▼'}
      {Math.abs(by)}
    </span>
  );
}

/** @type {(rows: SignatureRow[]) => import('../signs.js').Sign[]} */
function changesIn(rows) {
  const by = rows.map((row) => (row.rank_before === null ? NaN : row.rank_before - row.rank));
  return [
    by.includes(0) ? ['=', '', 'the same rank as in the previous run'] : [],
    by.some((ranks) => ranks > 0) ? ['▲', '', 'so many ranks higher than in the previous run'] : [],
    by.some((ranks) => ranks < 0) ? ['▼', '', 'so many ranks lower than in the previous run'] : [],
  ].filter((sign) => sign.length > 0);
}

/** @param {{row: SignatureRow, run: number}} props */
const Signature = ({ row, run }) => (
  <>
    <bdi>{row.sentence}</bdi>
    <br />
    <GroupFacts group={row} run={run} />
    {row.signatures.map(({ signature, cases }) => (
      <Link
        key={signature}
        class="block small"
        to={withQuery(`/runs/${run}/mismatches`, { problem: row.key, signature })}
      >
        {plural(cases, 'case')}: <bdi class="mono wrap">{signature}</bdi>
      </Link>
    ))}
    {row.signatures_left > 0 && (
      <Link class="block small" to={groupPath(run, row)}>
        and {plural(row.signatures_left, 'more combination')}
      </Link>
    )}
  </>
);

export function Signatures() {
  const [query] = useQuery();
  const data = useData('/api/v1/signatures', { run: query.run });
  return (
    <Page
      title="Differences"
      lead="Differences that belong together, by what is broken and where; most cases first."
      actions={<RunPick run={data.data?.run} />}
    >
      <Loaded from={data}>
        {(found) =>
          found.signatures.length === 0 ? (
            <Empty title="No difference in this run">
              <p>Every engine under test agrees with the truth.</p>
            </Empty>
          ) : (
            <>
              <Signs of={changesIn(found.signatures)} />
              <Table
                label="Differences"
                kind="list stacking"
                rows={found.signatures}
                columns={[
                  {
                    head: 'rank',
                    cell: (row) => [`${row.rank} `, <Change row={row} />],
                    kind: 'num nowrap',
                  },
                  {
                    head: 'cases',
                    cell: (row) => <Link to={groupPath(found.run, row)}>{number(row.cases)}</Link>,
                    sort: (row) => row.cases,
                    kind: 'num strong',
                  },
                  {
                    head: 'verdict',
                    cell: (row) => [
                      <Verdict word={row.verdict} long />,
                      row.known_id && [' ', <Chip>{row.known_id}</Chip>],
                    ],
                    sort: (row) => row.verdict,
                    label: '',
                  },
                  {
                    head: <Term name="difference" />,
                    cell: (row) => <Signature row={row} run={found.run} />,
                  },
                  {
                    head: 'for example',
                    cell: (row) => (
                      <>
                        {row.examples.slice(0, 3).map((c) => (
                          <Link key={caseName(c)} class="mono block" to={casePath(found.run, c)}>
                            {caseName(c)}
                          </Link>
                        ))}
                        {row.cases > row.examples.slice(0, 3).length && (
                          <Link to={groupPath(found.run, row)}>
                            and {number(row.cases - row.examples.slice(0, 3).length)} more
                          </Link>
                        )}
                      </>
                    ),
                    label: '',
                  },
                ]}
              />
              {found.total > found.signatures.length && (
                <p class="dim">
                  The {number(found.signatures.length)} largest of {number(found.total)}.
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

/** @param {{item: import('openapi').KnownItem}} props */
function Expiry({ item }) {
  const days = Math.ceil((Date.parse(`${item.expires}T23:59:59Z`) - Date.now()) / 864e5);
  return (
    <>
      <span class="nowrap">{item.expires}</span>
      <br />
      <span class={`small ${item.expired ? 'wrong' : days < 30 ? 'warned' : 'dim'}`}>
        {item.expired ? '✗ expired: it fails the run' : `${plural(days, 'day')} left`}
      </span>
    </>
  );
}

/** @param {{id: string}} props */
function Remove({ id }) {
  const [said, say] = useState('');
  if (!token()) return null;
  return said ? (
    <span class="wrong small" role="alert">
      {said}
    </span>
  ) : (
    <button
      aria-label={`remove ${id}`}
      onClick={() =>
        send('DELETE', '/api/v1/known/{id}', { values: { id } }).then(refresh, (error) => say(error.message))
      }
    >
      Remove
    </button>
  );
}

export function Known() {
  const data = useData('/api/v1/known');
  return (
    <Page
      title="Known"
      lead={
        'Differences that were accepted, each with a reason and an end. ' +
        'The list is a file, reviewed like code.'
      }
    >
      <Loaded from={data}>
        {(found) =>
          !found.text && !found.used ? (
            <Empty title="Nothing is accepted">
              <p>
                Every difference counts. <Command>twinstack accept</Command> accepts one, with reason, scope
                and end; the list is a file that is reviewed like code.
              </p>
            </Empty>
          ) : (
            <>
              {found.damage && (
                <p class="banner bad" role="alert">
                  The file cannot be read: {found.damage}
                </p>
              )}
              {found.text && found.used && found.text !== found.used && (
                <p class="banner warn">Run {found.run} used another version of this list.</p>
              )}
              {found.items.length > 0 && (
                <Table
                  label="Known"
                  kind="list stacking"
                  rows={found.items}
                  id={(k) => k.id}
                  columns={[
                    { head: 'id', cell: (k) => k.id, sort: (k) => k.id, kind: 'mono wrap strong' },
                    {
                      head: 'scope and cause',
                      cell: (k) => [k.scope, <br />, <span class="dim">{k.cause}</span>],
                      kind: 'mono wrap scope',
                      label: '',
                    },
                    {
                      head: 'reason',
                      cell: (k) => (
                        <>
                          {k.reason}
                          {k.issue && (
                            <>
                              <br />
                              {/^https?:\/\//.test(k.issue) ? (
                                <a href={k.issue} target="_blank" rel="noreferrer noopener">
                                  {k.issue}
                                </a>
                              ) : (
                                <span class="dim">{k.issue}</span>
                              )}
                            </>
                          )}
                        </>
                      ),
                      label: '',
                    },
                    {
                      head: `cases in run ${found.run}`,
                      cell: (k) => (k.hits === 0 ? <span class="dim">none</span> : number(k.hits)),
                      sort: (k) => k.hits,
                      kind: 'num',
                    },
                    { head: 'holds until', cell: (k) => <Expiry item={k} />, sort: (k) => k.expires },
                    !!token() && { head: <span class="sr">remove</span>, cell: (k) => <Remove id={k.id} /> },
                  ]}
                />
              )}
              <h2 class="section">Used in run {found.run}</h2>
              {found.hits.length === 0 ? (
                <p class="dim">No case of this run needed any of them.</p>
              ) : (
                <>
                  <VerdictSigns of={found.hits.map((c) => c.verdict)} />
                  <ul class="lines">
                    {found.hits.map((c) => (
                      <li key={c.id}>
                        <Verdict word={c.verdict} />{' '}
                        <Link class="mono" to={casePath(c.run, c)}>
                          {caseName(c)}
                        </Link>{' '}
                        <Chip>{c.known_id}</Chip>
                      </li>
                    ))}
                    {found.hits_total > found.hits.length && (
                      <li class="dim">
                        the first {number(found.hits.length)} of {number(found.hits_total)} cases
                      </li>
                    )}
                  </ul>
                </>
              )}
              <details class="env">
                <summary>The file itself</summary>
                <pre class="sheetlike box" tabindex={0}>
                  {found.text ?? found.used}
                </pre>
              </details>
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

/**
 * @typedef {import('openapi').Answers['/api/v1/symbols']['modules'][number]} Module
 * @param {{rows: Module['sources']}} props
 */
const Sources = ({ rows }) => (
  <div class="answers flow">
    {rows.map((row) => {
      const [glyph, kind, why] = states[row.symbols] ?? ['·', 'other', row.symbols];
      return (
        <span key={row.symbols} title={why}>
          <span class={`verdict v-${kind}`}>
            <span aria-hidden="true">{glyph}</span> {row.symbols}
          </span>{' '}
          <span class="small">{number(row.frames)}</span>
        </span>
      );
    })}
  </div>
);

/** @type {(rows: Module[]) => import('../signs.js').Sign[]} */
function symbolsIn(rows) {
  const used = new Set(rows.flatMap((row) => row.sources.map((source) => source.symbols)));
  return Object.entries(states)
    .filter(([name]) => used.has(name))
    .map(([name, [sign, kind, meaning]]) => [`${sign} ${name}`, kind, meaning]);
}

/** @param {{rows: Module[]}} props */
const ModuleTable = ({ rows }) => (
  <Table
    label="Symbols"
    kind="list stacking"
    rows={rows}
    columns={[
      {
        head: 'module',
        cell: (row) => row.module,
        sort: (row) => row.module,
        kind: 'mono strong',
      },
      {
        head: 'symbols used, for how many frames',
        cell: (row) => <Sources rows={row.sources} />,
        label: '',
      },
      { head: 'frames', cell: (row) => number(row.frames), sort: (row) => row.frames, kind: 'num' },
      {
        head: 'inlined',
        cell: (row) => (row.inlined ? number(row.inlined) : <span class="dim">none</span>),
        sort: (row) => row.inlined,
        kind: 'num',
      },
      {
        head: 'debug id, code id',
        cell: (row) => [
          row.debug_id || <span class="dim">no debug id</span>,
          <br />,
          <span class="dim">{row.code_id || 'no code id'}</span>,
        ],
        kind: 'mono wrap ids',
        label: '',
      },
    ]}
  />
);

export function Symbols() {
  const [query] = useQuery();
  const data = useData('/api/v1/symbols', { run: query.run });
  return (
    <Page
      title="Symbols"
      lead={
        'The modules that the frames of our engines are in, by identity, ' +
        'and which symbols named their frames.'
      }
      actions={<RunPick run={data.data?.run} />}
    >
      <Loaded from={data}>
        {(found) =>
          found.modules.length === 0 ? (
            <Empty title="No module">
              <p>No frame of this run lies in a known module.</p>
            </Empty>
          ) : (
            <>
              <Signs of={symbolsIn(found.modules)} />
              <ModuleTable rows={found.modules} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
