// One case: its verdict in a sentence, and all its stacks aligned.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useKeys } from '../keys.js';
import { address, offline, readFile, token } from '../api.js';
import { useNarrow } from '../paper.js';
import { href, useQuery, withQuery } from '../router.js';
import { link, save, useCopy } from '../share.js';
import { Signs, frames, signsIn, stacks } from '../signs.js';
import { Chip, Empty, Pairs, Link, Verdict, bytes, caseName, duration, wrongness } from '../ui.js';
import { Aligned, codePlace, differs, isInline, isSystem, source } from './aligned.js';
import { ModuleTimes } from './module_times.js';
import { Accept, Why, acceptable, sourceOf, webAddressOf } from './why.js';

/**
 * @typedef {import('openapi').Cell} Cell
 * @typedef {import('../router.js').Changes} Changes
 * @typedef {Record<string, string | undefined>} Query
 */

/**
 * @param {import('openapi').Thread} thread
 * @param {import('openapi').Asked[]} engines
 * @param {number[]} columns
 * @param {import('openapi').Case} c
 */
function asText(thread, engines, columns, c) {
  const lines = [`${caseName(c)}  ${c.verdict}: ${c.reason ?? ''}`];
  /**
   * @template F
   * @param {string} name
   * @param {Cell[]} cells
   * @param {(frame: F) => string} show
   */
  const column = (name, cells, show) => {
    lines.push('', `> ${name}`);
    cells.forEach((cell) => cell.frame && lines.push(show(/** @type {F} */ (cell.frame))));
  };
  column(
    'truth',
    thread.rows.map((row) => row[0]),
    (/** @type {import('openapi').TruthFrame} */ f) =>
      f.gap ? `# ${f.gap}` : `# ${f.function}  ${f.file ?? '?'}:${f.line ?? '?'}`,
  );
  for (const i of columns)
    column(
      engines[i].engine,
      thread.rows.map((row) => row[i + 1]),
      (/** @type {import('openapi').Frame} */ f) =>
        f.inline_depth > 0
          ? `#   inlined ${f.function}  ${source(f)}`
          : `${codePlace(f)}  # ${f.function ?? '?'}  ${source(f)}`,
    );
  return `${lines.join('\n')}\n`;
}

/** @param {{c: import('openapi').Case}} props */
function Facts({ c }) {
  const other = c.expected_doors && c.expected_doors !== c.got_doors;
  const rows = [
    ['hooks', `${c.got_doors ?? 'none'}${other ? ` (expected ${c.expected_doors})` : ''}`],
    ['exception', c.got_code],
    ['exit code', c.got_exit_code],
    ['record', bytes(c.timing.record_bytes)],
    ['dump', bytes(c.timing.dump_bytes)],
    ['walk', duration(c.timing.walk_ns || null)],
    ['dump write', duration(c.timing.dump_write_ns || null)],
    ['thread stopped', c.timing.stop_dump_ns ? duration(c.timing.stop_dump_ns) : null],
  ].filter(([, value]) => value && value !== '–' && value !== '0x0');
  return <Pairs rows={rows} mono />;
}

/**
 * How an engine did; nothing where it has no judged stack.
 * @type {(score: import('openapi').Score | undefined, apart: string[]) => string[] | undefined}
 */
function signOf(score, apart) {
  if (!score || score.state !== 'ok' || !score.judged) return undefined;
  if (!score.exact) return stacks.w;
  return apart.includes(score.engine) ? stacks.a : stacks.x;
}

/**
 * One button per engine: whether it is shown, and how it did on this case.
 * @param {{engines: import('openapi').Asked[], scores: import('openapi').Score[], apart: string[],
 *   has: (i: number) => boolean, wanted: string[],
 *   set: (changes: Changes) => void}} props
 */
function EngineToggles({ engines, scores, apart, has, wanted, set }) {
  if (engines.length === 0) return null;
  return (
    <span class="toggles" role="group" aria-label="Engines">
      {engines.map((e, i) => {
        const score = scores.find(({ engine }) => engine === e.engine);
        const sign = signOf(score, apart);
        const [glyph, kind, text] = sign ?? ['', '', 'not judged'];
        const why = score && sign === stacks.w ? wrongness(score) : text;
        const on = wanted.includes(e.engine);
        return (
          (has(i) || e.subject) && (
            <button
              key={e.engine}
              class="toggle mono dim small"
              aria-pressed={on}
              title={`${why}; ${e.shares ? `shares ${e.shares}` : 'shares nothing of ours'}`}
              onClick={() =>
                set({
                  engines:
                    (on ? wanted.filter((w) => w !== e.engine) : [...wanted, e.engine]).join(',') || null,
                })
              }
            >
              <span class={kind === 'pass' ? 'good' : 'wrong'} aria-hidden="true">
                {glyph}
              </span>{' '}
              {e.engine}
              <span class="sr">, {why}</span>
            </button>
          )
        );
      })}
    </span>
  );
}

/** @param {{scores: import('openapi').Score[], wanted: string[]}} props */
function Scores({ scores, wanted }) {
  const shown = scores.filter((s) => s.state === 'ok' && s.judged && wanted.includes(s.engine) && !s.exact);
  return (
    shown.length > 0 && (
      <ul class="scores flow">
        {shown.map((s) => (
          <li key={s.engine}>
            <span class="mono">{s.engine}</span> <span class="wrong">✗ {wrongness(s)}</span>
          </li>
        ))}
      </ul>
    )
  );
}

/**
 * What the address says about the case: which thread, engines, rows.
 * @typedef {import('openapi').Answers['/api/v1/runs/{run}/cases/{case}']} CaseData
 * @param {CaseData} data
 * @param {Record<string, string | undefined>} query
 */
function useShown(data, query) {
  const { engines } = data.case;
  const at = Math.min(Number(query.thread ?? 0) || 0, Math.max(0, data.threads.length - 1));
  const thread = /** @type {import('openapi').Thread | undefined} */ (data.threads[at]);
  const wanted = query.engines
    ? query.engines.split(',')
    : engines.filter((e) => e.subject).map((e) => e.engine);
  /** @type {(i: number) => boolean} */
  const has = (i) => data.threads.some((t) => t.stacks[i]);
  // An engine under test has its column even where it has no stack: the column then says why.
  const columns = engines
    .map((_, i) => i)
    .filter((i) => wanted.includes(engines[i].engine) && (has(i) || engines[i].subject));
  const lacking = engines.filter((e, i) => e.subject && !has(i)).map((e) => e.engine);
  /** @type {(row: Cell[]) => Cell[]} */
  const shown = (row) => [row[0], ...columns.map((i) => row[i + 1])];
  const rows = useMemo(
    () =>
      (thread?.rows ?? [])
        .map((row, n) => ({ row, at: n }))
        .filter(
          ({ row }) =>
            // A row without any of these belongs to an engine that is not shown.
            shown(row).some((cell) => cell.frame || differs(cell)) &&
            (query.inlines !== '0' || !isInline(row)) &&
            (query.system !== '0' || !isSystem(row)),
        ),
    [thread, columns.join(), query.inlines, query.system],
  );
  const selected = query.frame === undefined ? -1 : Number(query.frame);
  const different = rows.filter(({ row }) => shown(row).some(differs)).map((r) => r.at);
  // Earlier rows may differ in ways that do not fail the case, or only from a reference engine.
  const failed = data.case.findings
    .filter((f) => f.fails && f.thread_id === thread?.thread_id)
    .map((f) => f.row);
  const wrongFirst = rows.find((r) => failed.includes(r.at))?.at ?? different[0] ?? rows[0]?.at ?? 0;
  return { at, thread, wanted, has, columns, lacking, rows, selected, different, wrongFirst };
}

/**
 * LIST is in ascending order; after its end comes the first again.
 * @param {number[]} list
 * @param {number} selected
 * @param {number} by
 */
function neighbour(list, selected, by) {
  if (list.length === 0) return null;
  return by > 0
    ? (list.find((n) => n > selected) ?? list[0])
    : (list.filter((n) => n < selected).pop() ?? list[list.length - 1]);
}

const viewWords = ['engines', 'inlines', 'system', 'absolute', 'thread', 'frame'];

// The permanent link: by the run's number, and without the filters of the queue.
/** @type {(run: number, c: import('openapi').Case, query: Query) => string} */
const permanent = (run, c, query) =>
  link(
    withQuery(`/runs/${run}/mismatches/${encodeURIComponent(caseName(c))}`, {
      repeat: c.repeat || null,
      ...Object.fromEntries(viewWords.map((word) => [word, query[word]])),
    }),
  );

// The kept files of a case, and everything that this page shows.  A file of `report --html` has only
// the latter.
/** @param {{data: CaseData, say: (text: string) => void}} props */
function Downloads({ data, say }) {
  const name = `run-${data.run}-${caseName(data.case)}${data.case.repeat ? `-${data.case.repeat}` : ''}`;
  const kept = offline ? [] : data.artifacts.filter((a) => ['record', 'truth', 'case'].includes(a.role));
  const whole = () => save(`${name}.json`, new Blob([JSON.stringify(data, null, 1)]));
  /** @type {(a: import('openapi').Artifact) => Promise<void>} */
  const file = (a) =>
    readFile(`/api/v1/artifacts/${a.sha256}`).then(
      (blob) => save(`${name}-${a.name.split('/').pop()}`, blob),
      (error) => say(error.message),
    );
  const dump = address('/api/v1/runs/{run}/cases/{case}/dump', {
    run: data.run,
    case: caseName(data.case),
    repeat: data.case.repeat || null,
  });
  const wholeDump = () =>
    readFile(dump).then(
      (blob) => save(`${name}-dump.dmp`, blob),
      (error) => say(error.message),
    );
  return (
    <p class="downloads flow middle small" role="group" aria-label="Download">
      <span class="dim">download</span>
      <button class="toggle dim small" onClick={whole} title="verdict, stacks and findings, as JSON">
        stacks
      </button>
      {kept.map((a) => (
        <button
          class="toggle dim small"
          key={a.sha256}
          data-carrier
          onClick={() => file(a)}
          title={`${a.name}, ${bytes(a.bytes)}`}
        >
          {a.role}
        </button>
      ))}
      {data.dump_file && !offline ? (
        token() ? ( // which a link cannot carry
          <button
            class="toggle dim small"
            data-carrier
            onClick={wholeDump}
            title={bytes(data.dump_file.bytes)}
          >
            dump
          </button>
        ) : (
          <a
            class="button toggle dim small"
            data-carrier
            href={href(dump)}
            download={`${name}-dump.dmp`.replace(/[^\w.-]/g, '_')}
            title={bytes(data.dump_file.bytes)}
          >
            dump
          </a>
        )
      ) : null}
    </p>
  );
}

/** @param {{data: CaseData, actions: import('preact').ComponentChildren}} props */
function CaseHead({ data, actions }) {
  const c = data.case;
  return (
    <header class="casehead">
      <div>
        <h1 class="mono" tabindex={-1}>
          {caseName(c)}
        </h1>
        <p class="sentence">{data.sentence}</p>
        <p>
          <Verdict word={c.verdict} long /> <bdi>{c.reason}</bdi>
          {c.right && c.right !== 'none' && data.trouble === 'none' ? (
            <span class="dim"> Right: {c.right}.</span>
          ) : null}{' '}
          {c.known_id ? <Chip>known {c.known_id}</Chip> : null}
        </p>
      </div>
      {actions && <div class="actions flow middle">{actions}</div>}
    </header>
  );
}

/** @param {Pick<ReturnType<typeof useShown>, 'thread' | 'lacking' | 'different'>} shown */
function differences({ thread, lacking, different }) {
  if (!thread || thread.rows.length === 0) return '';
  if (lacking.length > 0) return `no stack of ${lacking.join(', ')} to compare`;
  if (different.length === 0) return 'no row differs';
  return different.length === 1 ? '1 row differs' : `${different.length} rows differ`;
}

/**
 * @param {{data: CaseData, shown: ReturnType<typeof useShown>, query: Query, set: (changes: Changes) => void,
 *   toggle: (name: string) => void, said: string}} props
 */
function CaseTools({ data, shown, query, set, toggle, said }) {
  const { engines, scores } = data.case;
  return (
    <div class="tools flow middle">
      {data.threads.length > 1 && (
        <label class="field dim small">
          <span>thread</span>
          <select
            onChange={(event) => set({ thread: Number(event.currentTarget.value) || null, frame: null })}
          >
            {data.threads.map((t, i) => (
              <option key={i} value={i} selected={i === shown.at}>
                {t.role ?? t.name ?? t.thread_id} ({t.thread_id})
              </option>
            ))}
          </select>
        </label>
      )}
      <EngineToggles {...{ engines, scores, apart: data.apart, has: shown.has, wanted: shown.wanted, set }} />
      {shown.thread && (
        <span class="toggles" role="group" aria-label="Show">
          <button
            class="toggle dim small"
            aria-pressed={query.inlines !== '0'}
            onClick={() => toggle('inlines')}
          >
            inlines
          </button>
          <button
            class="toggle dim small"
            aria-pressed={query.system !== '0'}
            onClick={() => toggle('system')}
          >
            system
          </button>
          <button
            class="toggle dim small"
            aria-pressed={!!query.absolute}
            onClick={() => set({ absolute: query.absolute ? null : 1 })}
          >
            addresses
          </button>
        </span>
      )}
      <span class="dim small">{differences(shown)}</span>
      <span class="dim small" role="status">
        {said}
      </span>
    </div>
  );
}

/** @param {{data: CaseData, shown: ReturnType<typeof useShown>}} props */
function CaseSigns({ data, shown }) {
  const { engines, scores } = data.case;
  const buttons = engines.flatMap((e, i) =>
    shown.has(i) || e.subject ? scores.filter(({ engine }) => engine === e.engine) : [],
  );
  const cells = shown.rows.flatMap(({ row }) => [row[0], ...shown.columns.map((i) => row[i + 1])]);
  return (
    <>
      <Signs
        about="Engines:"
        of={signsIn(
          stacks,
          buttons.map((score) => signOf(score, data.apart)),
        )}
      />
      <Signs
        about="Frames:"
        of={signsIn(
          frames,
          cells.filter(({ frame, mark }) => frame || mark === 'missing').map(({ mark }) => frames[mark]),
        )}
      />
    </>
  );
}

/**
 * STEPS: to other cases.  OPENS: the row that went wrong first is explained unless the address names another.
 * @param {{data: CaseData, steps?: import('preact').ComponentChildren, opens?: boolean}} props
 */
export function CaseView({ data, steps, opens = false }) {
  const [query, set, path] = useQuery();
  const [said, copyAs] = useCopy();
  const [failed, setFailed] = useState('');
  const [accepting, setAccepting] = useState(false);
  const narrow = useNarrow();
  const c = data.case;
  const engines = c.engines;
  const shown = useShown(data, query);
  const { at, thread, columns, rows, different, wrongFirst } = shown;
  const opened = opens && query.frame === undefined;
  const selected = opened ? wrongFirst : shown.selected;
  const NO_ROW = opens ? -1 : null; // in the address
  /** @type {(n: number) => void} */
  const select = (n) => set({ frame: n === selected ? NO_ROW : n });
  /** @type {import('./aligned.js').AlignedProps['sourceAt']} */
  const sourceAt = (frame, row) => ({
    page:
      frame.line && sourceOf(frame.file, data.artifacts) ? withQuery(path, { ...query, frame: row }) : null,
    web: webAddressOf(frame.file, data.artifacts),
  });
  /** @type {(list: number[], by: number) => void} */
  const step = (list, by) => {
    const next = neighbour(list, selected, by);
    if (next !== null) set({ frame: next });
  };
  useEffect(() => {
    if (selected < 0 || opened) return;
    document.getElementById(`row-${selected}`)?.scrollIntoView({ block: 'nearest' });
    const drawer = document.querySelector('.drawer');
    if (drawer && drawer.getBoundingClientRect().top > innerHeight - 160)
      drawer.parentElement?.scrollIntoView({ block: 'start' });
  }, [selected]);
  const explained = selected >= 0 && thread?.rows[selected];
  const copyStack = () => thread && copyAs(asText(thread, engines, columns, c), 'copied as text');
  const copyLink = () => copyAs(permanent(data.run, c, query), 'link copied');
  /** @type {(name: string) => void} */
  const toggle = (name) => set({ [name]: query[name] === '0' ? null : '0' });
  const all = rows.map((r) => r.at);
  useKeys({
    n: ['next difference', () => step(different, 1)],
    p: ['previous difference', () => step(different, -1)],
    ArrowDown: ['next frame', () => step(all, 1)],
    ArrowUp: ['previous frame', () => step(all, -1)],
    i: ['inline frames', () => toggle('inlines')],
    s: ['system frames', () => toggle('system')],
    o: ['offsets or addresses', () => set({ absolute: query.absolute ? null : 1 })],
    e: ['explain this frame', () => set({ frame: selected >= 0 ? NO_ROW : wrongFirst })],
    a: ['accept this difference', () => setAccepting(!accepting)],
    c: ['copy as text', copyStack],
    y: ['copy the link', copyLink],
    '[': ['previous thread', () => set({ thread: Math.max(0, at - 1) || null, frame: null })],
    ']': ['next thread', () => set({ thread: Math.min(data.threads.length - 1, at + 1), frame: null })],
  });
  const actions = (
    <>
      {steps}
      {thread && <button onClick={copyStack}>Copy</button>}
      <button onClick={copyLink}>Copy link</button>
      {acceptable(c) && (
        <button aria-expanded={accepting} onClick={() => setAccepting(!accepting)}>
          Accept…
        </button>
      )}
      <Link class="button" to={`/cases/${encodeURIComponent(c.scenario)}/${encodeURIComponent(c.variant)}`}>
        History
      </Link>
    </>
  );
  // On a phone the stack comes before them, also for those who go by the key Tab.
  const about = (
    <>
      <Facts c={c} />
      <Downloads data={data} say={setFailed} />
    </>
  );
  const signs = <CaseSigns data={data} shown={shown} />;
  return (
    <div class="case">
      <CaseHead data={data} actions={!narrow && actions} />
      {!narrow && about}
      <Scores scores={c.scores} wanted={shown.wanted} />
      <CaseTools {...{ data, shown, query, set, toggle, said: said || failed }} />
      {!narrow && signs}
      <div class={accepting || explained ? 'besides' : ''}>
        {!thread || thread.rows.length === 0 ? (
          <Empty title="No stacks">
            <p>{c.reason ?? 'There is neither a record nor a dump.'}</p>
          </Empty>
        ) : rows.length === 0 ? (
          <Empty title="Nothing to show">
            <p>
              The engines and frames that are switched on have no row here: the buttons above bring in the
              others.
            </p>
          </Empty>
        ) : (
          <Aligned
            {...{ thread, columns, engines, scores: c.scores, rows, selected, select, sourceAt }}
            absolute={!!query.absolute}
          />
        )}
        {accepting && <Accept c={c} run={data.run} close={() => setAccepting(false)} />}
        {explained && (
          <Why
            row={explained}
            at={selected}
            {...{ thread, columns, engines, findings: c.findings, artifacts: data.artifacts }}
            withEngines={(names) => withQuery(path, { ...query, engines: names.join(',') })}
            close={() => set({ frame: NO_ROW })}
          />
        )}
      </div>
      <ModuleTimes loads={data.loads} />
      {narrow && [<div class="actions flow middle">{actions}</div>, about, signs]}
    </div>
  );
}
