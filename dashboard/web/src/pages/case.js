// One case: its verdict in a sentence, and all its stacks aligned.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useData } from '../api.js';
import { useKeys } from '../keys.js';
import { go, useQuery, withQuery } from '../router.js';
import { Accept, Why } from './why.js';
import {
  Chip,
  Empty,
  Link,
  Loaded,
  Verdict,
  bytes,
  caseName,
  copy,
  duration,
  failing,
  number,
  words,
  wrongness,
} from '../ui.js';

const marks = {
  gap: ['', 'nothing here, and nothing was demanded'],
  same: ['✓', 'agrees at every level'],
  line: ['≈', 'same function, another file or line'],
  function: ['✗', 'same place, another function'],
  physical: ['≠', 'another address, module or kind'],
  missing: ['∅', 'missing: a frame is demanded here'],
  extra: ['+', 'a frame that the other side lacks'],
  unjudged: ['', 'nothing to compare it with'],
};
const differs = (cell) => ['line', 'function', 'physical', 'missing', 'extra'].includes(cell.mark);

// ---- one frame ----------------------------------------------------------------------------

function place(frame, absolute) {
  if (absolute && frame.address) return frame.address;
  return `${frame.module ?? '?'}!${frame.offset}`;
}
const source = (frame) =>
  frame.file ? `${frame.file.split(/[\\/]/).pop()}${frame.line ? `:${frame.line}` : ''}` : '';

function TruthFrame({ frame }) {
  if (frame.gap)
    return (
      <span class="dim">
        ⋯ {words(frame.gap)}
        {frame.gap_count ? ` (${frame.gap_count})` : ''}
      </span>
    );
  return (
    <span class="line">
      <span class="fn">
        {frame.function}
        {frame.tail ? (
          <>
            {' '}
            <Chip title="left by a jump: must be absent">tail</Chip>
          </>
        ) : null}
      </span>{' '}
      <span class="src" title={frame.file}>
        {source(frame)}
      </span>
    </span>
  );
}

function Frame({ frame, absolute }) {
  const inlined = frame.inline_depth > 0;
  return (
    <>
      <span class="line">
        <span class={`fn ${inlined ? 'in' : ''}`}>
          {inlined && (
            <span class="arrow" aria-hidden="true">
              ↳
            </span>
          )}
          {frame.function ?? <em class="dim">no name</em>}
          {inlined && (
            <>
              {' '}
              <span class="tag">inlined</span>
            </>
          )}
        </span>
        <span class="src" title={frame.file}>
          {source(frame)}
        </span>
      </span>
      <span class="at">
        {place(frame, absolute)} <span class={`trust trust-${frame.found_by}`}>{words(frame.found_by)}</span>
        {frame.symbols !== 'pdb' && !inlined ? (
          <>
            {' '}
            <span class="trust">{frame.symbols === 'none' ? 'no symbols' : frame.symbols}</span>
          </>
        ) : null}
      </span>
    </>
  );
}

function Cell({ cell, truth, absolute, stack, first }) {
  if (!cell.frame) {
    const stopped = !truth && stack && (stack.state !== 'ok' || stack.empty) && first;
    return (
      <td class={`cell m-${cell.mark} hatched`}>
        <span class="sr">{marks[cell.mark]?.[1]}</span>
        {stopped ? (
          <span class="nostack">
            {stack.state === 'ok' ? 'no frame' : 'no stack'}
            {stack.stop ? `: ${stack.stop}` : ''}
          </span>
        ) : cell.mark === 'missing' ? (
          <>
            <span class="glyph" aria-hidden="true">
              ∅
            </span>{' '}
            <span class="missing">missing</span>
          </>
        ) : null}
      </td>
    );
  }
  const [glyph, why] = marks[cell.mark] ?? ['', cell.mark];
  return (
    <td class={`cell m-${cell.mark}`}>
      <span class="glyph" title={why}>
        <span aria-hidden="true">{glyph}</span>
        <span class="sr">{why}</span>
      </span>
      <span class="stackframe">
        {truth ? <TruthFrame frame={cell.frame} /> : <Frame frame={cell.frame} absolute={absolute} />}
      </span>
    </td>
  );
}

const rowCauses = (row) => [...new Set(row.filter((cell) => cell.cause).map((cell) => cell.cause))];
const isInline = (row) =>
  row.slice(1).some((cell) => cell.frame?.inline_depth > 0) &&
  row.slice(1).every((cell) => !cell.frame || cell.frame.inline_depth > 0);
const isSystem = (row) =>
  !row[0].frame &&
  row
    .slice(1)
    .every((cell) => !cell.frame || ['system', 'runtime', 'none', 'capture'].includes(cell.frame.class));

function Aligned({ thread, columns, engines, scores, rows, selected, select, absolute }) {
  const lacking = (i) => ({ state: 'skipped', stop: whyNone(scores, engines[i].engine), empty: true });
  const stacks = thread.stacks.map((stack, i) =>
    stack ? { ...stack, empty: thread.rows.every((row) => !row[i + 1].frame) } : lacking(i),
  );
  return (
    <div class="scroll" tabindex="0" role="region" aria-label="Aligned stacks">
      <table class="aligned">
        <thead>
          <tr>
            <th class="num">#</th>
            <th>truth</th>
            {columns.map((i) => (
              <th key={i} class="mono">
                {engines[i].engine}
                {engines[i].subject ? (
                  ''
                ) : (
                  <>
                    {' '}
                    <span class="dim">reference</span>
                  </>
                )}
              </th>
            ))}
            <th>cause</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ row, at }, n) => {
            const shown = [row[0], ...columns.map((i) => row[i + 1])];
            const causes = rowCauses(shown);
            return (
              <tr
                key={at}
                id={`row-${at}`}
                class={`${shown.some(differs) ? 'differs' : ''} ${isSystem(row) ? 'system' : ''}`}
                aria-selected={at === selected}
                onClick={() => select(at)}
              >
                <td class="num dim">
                  <button class="rowno" aria-label={`explain row ${at}`} aria-pressed={at === selected}>
                    {at}
                  </button>
                </td>
                <Cell cell={row[0]} truth={true} />
                {columns.map((i) => (
                  <Cell key={i} cell={row[i + 1]} stack={stacks[i]} absolute={absolute} first={n === 0} />
                ))}
                <td class="cause">
                  {causes.map((cause) => (
                    <Chip key={cause} kind={cause === 'unexplained' ? 'bad' : 'cause'}>
                      {words(cause)}
                    </Chip>
                  ))}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

// Why an engine has no stack of this case.
const whyNone = (scores, engine) =>
  scores.find((score) => score.engine === engine)?.reason ?? 'it was not asked';

// ---- one case -------------------------------------------------------------------------------

function asText(thread, engines, columns, c) {
  const lines = [`${caseName(c)}  ${c.verdict}: ${c.reason ?? ''}`];
  const column = (name, cells, show) => {
    lines.push('', `> ${name}`);
    cells.forEach((cell) => cell.frame && lines.push(show(cell.frame)));
  };
  column(
    'truth',
    thread.rows.map((row) => row[0]),
    (f) => (f.gap ? `# ${f.gap}` : `# ${f.function}  ${f.file ?? '?'}:${f.line ?? '?'}`),
  );
  for (const i of columns)
    column(
      engines[i].engine,
      thread.rows.map((row) => row[i + 1]),
      (f) =>
        f.inline_depth > 0
          ? `#   inlined ${f.function}  ${source(f)}`
          : `${f.module ?? '?'}!${f.offset}  # ${f.function ?? '?'}  ${source(f)}`,
    );
  return `${lines.join('\n')}\n`;
}

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
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="mono">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

// One button an engine: shown or not, and how it did on this case.
function EngineToggles({ engines, scores, has, wanted, set }) {
  const mark = (e) => {
    const s = scores.find((score) => score.engine === e.engine);
    if (!s || s.state !== 'ok' || !s.judged) return ['', 'not judged', ''];
    return s.exact ? ['✓', 'exact', 'good'] : ['✗', wrongness(s), 'wrong'];
  };
  return (
    <span class="toggles" role="group" aria-label="Engines">
      {engines.map((e, i) => {
        const [glyph, why, kind] = mark(e);
        const on = wanted.includes(e.engine);
        return (
          (has(i) || e.subject) && (
            <button
              key={e.engine}
              class="toggle mono"
              aria-pressed={on}
              title={`${why}; ${e.shares ? `shares ${e.shares}` : 'shares nothing of ours'}`}
              onClick={() =>
                set({
                  engines:
                    (on ? wanted.filter((w) => w !== e.engine) : [...wanted, e.engine]).join(',') || null,
                })
              }
            >
              <span class={kind} aria-hidden="true">
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

function Scores({ scores, wanted }) {
  const shown = scores.filter((s) => s.state === 'ok' && s.judged && wanted.includes(s.engine) && !s.exact);
  return (
    shown.length > 0 && (
      <ul class="scores">
        {shown.map((s) => (
          <li key={s.engine}>
            <span class="mono">{s.engine}</span> <span class="wrong">✗ {wrongness(s)}</span>
          </li>
        ))}
      </ul>
    )
  );
}

export function CaseView({ data, run }) {
  const [query, set] = useQuery();
  const [said, say] = useState('');
  const [accepting, setAccepting] = useState(false);
  const c = data.case;
  const engines = c.engines;
  const at = Math.min(Number(query.thread ?? 0) || 0, Math.max(0, data.threads.length - 1));
  const thread = data.threads[at];
  const wanted = query.engines
    ? query.engines.split(',')
    : engines.filter((e) => e.subject).map((e) => e.engine);
  const has = (i) => data.threads.some((t) => t.stacks[i]);
  // An engine under test has its column even where it has no stack: the column then says why.
  const columns = engines
    .map((_, i) => i)
    .filter((i) => wanted.includes(engines[i].engine) && (has(i) || engines[i].subject));
  const lacking = engines.filter((e, i) => e.subject && !has(i)).map((e) => e.engine);
  const rows = useMemo(
    () =>
      thread
        ? thread.rows
            .map((row, n) => ({ row, at: n }))
            .filter(
              ({ row }) =>
                // A row without any of these belongs to an engine that is not shown.
                [row[0], ...columns.map((i) => row[i + 1])].some((cell) => cell.frame || differs(cell)) &&
                (query.inlines !== '0' || !isInline(row)) &&
                (query.system !== '0' || !isSystem(row)),
            )
        : [],
    [thread, columns.join(), query.inlines, query.system],
  );
  const selected = query.frame === undefined ? -1 : Number(query.frame);
  const different = rows
    .filter(({ row }) => [row[0], ...columns.map((i) => row[i + 1])].some(differs))
    .map((r) => r.at);
  const select = (n) => set({ frame: n === selected ? null : n });
  const step = (list, by) => {
    if (list.length === 0) return;
    const next =
      by > 0
        ? (list.find((n) => n > selected) ?? list[0])
        : (list.filter((n) => n < selected).pop() ?? list[list.length - 1]);
    set({ frame: next });
  };
  useEffect(() => {
    if (selected >= 0) document.getElementById(`row-${selected}`)?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  const notify = (text) => {
    say(text);
    setTimeout(() => say(''), 2500);
  };
  const copyStack = async () =>
    notify(
      (await copy(asText(thread, engines, columns, c)))
        ? 'copied as text'
        : 'the browser does not allow copying',
    );
  const toggle = (name) => set({ [name]: query[name] === '0' ? null : '0' });
  useKeys({
    n: ['next difference', () => step(different, 1)],
    p: ['previous difference', () => step(different, -1)],
    ArrowDown: [
      'next frame',
      () =>
        step(
          rows.map((r) => r.at),
          1,
        ),
    ],
    ArrowUp: [
      'previous frame',
      () =>
        step(
          rows.map((r) => r.at),
          -1,
        ),
    ],
    i: ['inline frames', () => toggle('inlines')],
    s: ['system frames', () => toggle('system')],
    o: ['offsets or addresses', () => set({ absolute: query.absolute ? null : 1 })],
    e: ['explain this frame', () => set({ frame: selected >= 0 ? null : (different[0] ?? 0) })],
    a: ['accept this difference', () => setAccepting(!accepting)],
    c: ['copy as text', copyStack],
    y: [
      'copy the link',
      async () => notify((await copy(location.href)) ? 'link copied' : 'the browser does not allow copying'),
    ],
    '[': ['previous thread', () => set({ thread: Math.max(0, at - 1) || null, frame: null })],
    ']': ['next thread', () => set({ thread: Math.min(data.threads.length - 1, at + 1), frame: null })],
  });
  return (
    <div class="case">
      <header class="casehead">
        <div>
          <h1 class="mono" tabindex="-1">
            {caseName(c)}
          </h1>
          <p class="sentence">{data.sentence}</p>
          <p>
            <Verdict word={c.verdict} long /> <bdi>{c.reason}</bdi>
            {c.right && c.right !== 'none' && data.trouble === 'none' ? (
              <>
                {' '}
                <span class="dim">Right: {c.right}.</span>
              </>
            ) : null}
            {c.known_id ? (
              <>
                {' '}
                <Chip>known {c.known_id}</Chip>
              </>
            ) : null}
          </p>
        </div>
        <div class="actions">
          <button onClick={copyStack}>Copy</button>
          <Link
            class="button"
            to={`/cases/${encodeURIComponent(c.scenario)}/${encodeURIComponent(c.variant)}`}
          >
            History
          </Link>
        </div>
      </header>
      <Facts c={c} />
      <Scores scores={c.scores} wanted={wanted} />
      <div class="tools">
        {data.threads.length > 1 && (
          <label class="field">
            <span>thread</span>
            <select onChange={(event) => set({ thread: Number(event.target.value) || null, frame: null })}>
              {data.threads.map((t, i) => (
                <option key={i} value={i} selected={i === at}>
                  {t.role ?? t.name ?? t.thread_id} ({t.thread_id})
                </option>
              ))}
            </select>
          </label>
        )}
        <EngineToggles {...{ engines, scores: c.scores, has, wanted, set }} />
        <span class="toggles" role="group" aria-label="Show">
          <button class="toggle" aria-pressed={query.inlines !== '0'} onClick={() => toggle('inlines')}>
            inlines
          </button>
          <button class="toggle" aria-pressed={query.system !== '0'} onClick={() => toggle('system')}>
            system
          </button>
          <button
            class="toggle"
            aria-pressed={!!query.absolute}
            onClick={() => set({ absolute: query.absolute ? null : 1 })}
          >
            addresses
          </button>
        </span>
        <span class="dim small">
          {lacking.length > 0
            ? `no stack of ${lacking.join(', ')} to compare`
            : different.length === 0
              ? 'no row differs'
              : different.length === 1
                ? '1 row differs'
                : `${different.length} rows differ`}
        </span>
        <span class="dim small" role="status">
          {said}
        </span>
      </div>
      {!thread || thread.rows.length === 0 ? (
        <Empty title="No stacks">
          <p>{c.reason ?? 'Neither a record nor a dump was left.'}</p>
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
          {...{
            thread,
            columns,
            engines,
            scores: c.scores,
            rows,
            selected,
            select,
            absolute: !!query.absolute,
          }}
        />
      )}
      {accepting && <Accept c={c} run={data.run} close={() => setAccepting(false)} />}
      {thread && selected >= 0 && thread.rows[selected] && (
        <Why
          row={thread.rows[selected]}
          at={selected}
          {...{ thread, columns, engines, findings: c.findings, artifacts: data.artifacts }}
          close={() => set({ frame: null })}
        />
      )}
    </div>
  );
}
