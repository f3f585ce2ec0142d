// Below the table: how a row came about, its source, and accepting a difference.
import { useEffect, useRef, useState } from 'preact/hooks';
import { readText, send, token } from '../api.js';
import { EditorSetting, editorLink, useEditor } from '../editor.js';
import { Signs, signsIn, lines as letters } from '../signs.js';
import { Chip, Command, Link, caseName, plural, words } from '../ui.js';
import { codePlace } from './aligned.js';
import { Instructions } from './instructions.js';
import { Ruler, evidenceOf, lastOf, otherSlots } from './stack_ruler.js';

/** @type {Record<string, string>} */
const found = {
  context: 'the thread’s saved registers',
  unwind: 'the unwind data of the frame below',
  leaf: 'the function below has no unwind data: a leaf, its return address is on top of the stack',
  frame_pointer: 'the chain of frame pointers',
  frame_size: 'the frame size that the PDB states',
  cfi: 'the unwind data of the Breakpad file of the function below',
  scan: 'a scan of the stack: not certain',
  given: 'given in the record',
  inlined: 'inlined here: it has no return address of its own',
};

/**
 * @typedef {import('preact').ComponentChildren} Children
 * @param {{rows: [string, Children, boolean?][]}} props the third: plain text, not a name
 */
function Rows({ rows }) {
  return (
    <dl>
      {rows
        .filter(([, value]) => value)
        .map(([name, value, plain]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={plain ? '' : 'mono'}>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** @param {import('openapi').Frame} frame */
function lookup(frame) {
  if (frame.kind !== 'return') return 'looked up at its own address';
  if (frame.method) return 'a return address: stepped back one byte in the compiled code, then mapped to IL';
  return `a return address: looked up one byte earlier, at 0x${(BigInt(frame.offset) - 1n).toString(16)}`;
}

/**
 * What was undone in a frame, which is how its caller was reached. PARTING: what is said of walks that part
 * here; it names the code to look at first.  Of a walk in the dead process there is the slot alone.
 * @param {{evidence: import('openapi').Evidence | undefined, title: string, leads: string,
 *   parting: string, others?: import('./stack_ruler.js').Other[]}} props
 */
function Steps({ evidence, title, leads, parting, others = [] }) {
  if (!evidence) return null;
  if (!evidence.sp)
    return (
      <>
        <h4>Its return slot</h4>
        <Rows
          rows={[
            ['return slot', evidence.return_slot],
            ['rule', 'the one word of the dump’s stack that has this return address', true],
          ]}
        />
        <Ruler evidence={evidence} leads={leads} others={others} />
      </>
    );
  const range = evidence.function_end ? `${evidence.function_begin} – ${evidence.function_end}` : null;
  const code = / leaves by (UWOP_\w+)/.exec(parting)?.[1] ?? 'none';
  return (
    <>
      <h4>{title}</h4>
      <Rows
        rows={[
          [
            'function',
            range && (
              <>
                {range}
                {evidence.where && [' ', <span class="trust">pc in the {evidence.where}</span>]}
              </>
            ),
          ],
          ['unwind data', evidence.unwind_data],
          ['stack', `${evidence.sp}${evidence.caller_sp ? ` → ${evidence.caller_sp}` : ''}`],
          ['return slot', evidence.return_slot ?? 'in a register'],
        ]}
      />
      {evidence.steps.length > 0 && (
        <ol class="steps" aria-label="Unwind codes">
          {evidence.steps.map((step, i) => {
            const parts = step.had_run && step.text.includes(code);
            return (
              <li key={i} class={step.had_run ? (parts ? 'strong' : '') : 'idle dim'}>
                <span aria-hidden="true">{step.had_run ? '↶' : '·'}</span>{' '}
                <code>{step.text.replace('UWOP_', '')}</code>
                <span class="sr">{step.had_run ? 'undone' : 'had not run'}</span>
                {parts && <span class="trust">the walks part</span>}
              </li>
            );
          })}
        </ol>
      )}
      <Ruler evidence={evidence} leads={leads} others={others} />
    </>
  );
}

/**
 * GOESON: the stack has frames in later rows, so that its end is no reason for what is missing here.  LAST:
 * its last frame before this row.  PARTING: what is said of the step by which it was left.
 * @param {{row: import('openapi').Cell[], column: number, engine: string, goesOn: boolean, stack:
 *   import('openapi').ClaimedStack | null, last?: import('openapi').Frame, parting: string,
 *   others: import('./stack_ruler.js').Other[]}} props
 */
function Engine({ row, column, engine, goesOn, stack, last, parting, others }) {
  const cell = row[column];
  const frame = /** @type {(import('openapi').Frame & {compiland?: string | null}) | null} */ (cell.frame);
  /** @type {(index: number) => import('openapi').Evidence | undefined} */
  const evidence = (index) => evidenceOf(stack, index);
  if (!frame)
    return (
      <div class="why">
        <h3 class="mono">{engine}</h3>
        <p class="dim">
          {cell.mark === 'missing' ? 'A frame is expected here, and this engine has none.' : 'Nothing here.'}
          {goesOn
            ? ' Its walk went on to the next row.'
            : stack?.stop
              ? ` Its walk ended: ${stack.stop}.`
              : ''}
        </p>
        {last && (
          <Steps
            evidence={evidence(last.index)}
            title="Undone in its last frame before"
            leads="that it found"
            parting={parting}
            others={others}
          />
        )}
        {last && <Instructions evidence={evidence(last.index)} />}
      </div>
    );
  const here = evidence(frame.index);
  return (
    <div class="why">
      <h3 class="mono">{engine}</h3>
      <Rows
        rows={[
          ['found by', found[frame.found_by] ?? frame.found_by, true],
          [
            'address',
            <>
              {codePlace(frame)}
              {frame.address ? [' ', <span class="dim">= {frame.address}</span>] : null}
            </>,
          ],
          ['rule', lookup(frame), true],
          [
            'names from',
            <>
              {frame.symbols}
              {frame.compiland ? (
                <>
                  {' '}
                  · <span class="mono">{frame.compiland.split(/[\\/]/).pop()}</span>
                </>
              ) : null}{' '}
              <span class="dim">class {frame.class}</span>
            </>,
            true,
          ],
          ['module id', frame.module_id],
          ['MVID', frame.mvid],
          ['note', frame.note, true],
        ]}
      />
      {frame.inline_depth === 0 && (
        <>
          <Steps
            evidence={evidence(frame.index - 1)}
            title="Undone below, to get here"
            leads="to this frame"
            parting={parting}
            others={others}
          />
          {here?.sp && (
            <>
              <h4>The stack of this frame</h4>
              <Ruler evidence={here} leads="to its caller" />
            </>
          )}
        </>
      )}
      <Instructions evidence={here} />
    </div>
  );
}

// ---- source --------------------------------------------------------------------------------

/** @type {(file: string | null | undefined) => string | undefined} */
const plainName = (file) => file?.replaceAll('\\', '/');
/**
 * @param {string | null | undefined} file
 * @param {import('openapi').Artifact[]} artifacts
 */
export const sourceOf = (file, artifacts) => {
  const name = plainName(file);
  return (
    (name &&
      artifacts.find((a) => a.role === 'source' && (a.name === name || name.endsWith(`/${a.name}`)))) ||
    undefined
  );
};

/**
 * Where a source is on the web, by SourceLink.  The database is not trusted: only a web address counts.
 * @param {string | null | undefined} file
 * @param {import('openapi').Artifact[]} artifacts
 */
export function webAddressOf(file, artifacts) {
  const url = artifacts.find((a) => a.role === 'source_link' && a.name === plainName(file))?.url;
  return url && /^https?:\/\//.test(url) ? url : null;
}

/** @param {{url: string | null}} props */
const WebAddress = ({ url }) =>
  url ? (
    <a href={url} rel="noreferrer" title={`SourceLink of the PDB: ${url}`}>
      source on the web
    </a>
  ) : null;

/**
 * Which engines name which line of the file, for every row of the thread: line -> row -> names.
 * @param {import('openapi').Artifact} source
 * @param {import('openapi').Thread} thread
 * @param {number[]} columns
 * @param {import('openapi').Asked[]} names
 * @param {import('openapi').Artifact[]} artifacts
 */
function marksOf(source, thread, columns, names, artifacts) {
  /** @type {Map<number, Map<number, string[]>>} */
  const marks = new Map();
  thread.rows.forEach((row, at) => {
    [0, ...columns.map((i) => i + 1)].forEach((column) => {
      const frame = row[column].frame;
      if (!frame?.line || sourceOf(frame.file, artifacts) !== source) return;
      const line = marks.get(frame.line) ?? new Map();
      marks.set(frame.line, line);
      line.set(at, [...(line.get(at) ?? []), column === 0 ? 'truth' : names[column - 1].engine]);
    });
  });
  return marks;
}

// One letter per kind of engine, so that the gutter is narrow; screen readers get the words.
/** @type {(names: string[]) => string[]} */
const kindsOf = (names) =>
  Object.keys(letters).filter((start) => names.some((name) => name.startsWith(start)));

/** @param {{names: string[]}} props */
function Who({ names }) {
  return (
    <>
      <span class="sr">{names.join(', ')}</span>
      {kindsOf(names).map((kind) => (
        <b
          key={kind}
          class={`by by-${kind}`}
          aria-hidden="true"
          title={names.filter((name) => name.startsWith(kind)).join(', ')}
        >
          {letters[kind][0]}
        </b>
      ))}
    </>
  );
}

/**
 * @typedef {object} WhatIsShown a row of the aligned stacks
 * @property {import('openapi').Thread} thread
 * @property {number[]} columns which engines are shown
 * @property {import('openapi').Case['engines']} engines
 * @property {import('openapi').Artifact[]} artifacts
 * @property {number} at the row
 */

/** @param {{file?: string | null, line: number | null, text?: string | null}} props */
function EditorName({ file, line, text }) {
  const to = editorLink(file, line);
  return to ? (
    <a class="mono" href={to} title="open it in the editor">
      {text}
    </a>
  ) : (
    <span class="mono">{text}</span>
  );
}

/** @param {WhatIsShown} props */
export function Source({ artifacts, thread, columns, engines, at }) {
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const [whole, setWhole] = useState(false);
  const place = useRef(/** @type {HTMLOListElement | null} */ (null));
  useEditor();
  const frame = [0, ...columns.map((i) => i + 1)]
    .map((column) => thread.rows[at][column].frame)
    .find((f) => f?.line && sourceOf(f.file, artifacts));
  const source = frame && sourceOf(frame.file, artifacts);
  useEffect(() => {
    let wanted = true;
    setText(null);
    if (source)
      readText(`/api/v1/artifacts/${source.sha256}`).then(
        (got) => wanted && setText(got),
        () => wanted && setText(''),
      );
    return () => {
      wanted = false;
    };
  }, [source?.sha256]);
  useEffect(() => {
    if (whole) place.current?.querySelector('.marked')?.scrollIntoView({ block: 'center' });
  }, [whole, text]);
  if (!source) {
    const named = thread.rows[at].map((cell) => cell.frame?.file).find(Boolean);
    return (
      <div class="source">
        <h3>Source</h3>
        <p class="dim">
          {named ? (
            <>
              <EditorName file={named} line={null} text={plainName(named)} /> was not available when this case
              was judged. <WebAddress url={webAddressOf(named, artifacts)} />
            </>
          ) : (
            'No engine names a source line here.'
          )}
        </p>
        {named && <EditorSetting />}
      </div>
    );
  }
  const lines = text?.split('\n') ?? [];
  if (lines.length && lines[lines.length - 1] === '') lines.pop();
  const marks = marksOf(source, thread, columns, engines, artifacts);
  // HERE states the truth on its own line: if the line has none, the file is not the one that was built.
  const stated = [...marks].filter(
    ([n, rows]) => n <= lines.length && [...rows.values()].some((who) => who.includes('truth')),
  );
  const moved = stated.length > 0 && stated.every(([n]) => !/HERE|LEAF|TRUTH|Truth\./.test(lines[n - 1]));
  const line = frame?.line ?? 0;
  const from = whole ? 0 : Math.max(0, line - 6);
  const to = whole ? lines.length : Math.min(lines.length, line + 5);
  const marked = [...marks].filter(([n]) => n > from && n <= to).map(([, rows]) => rows);
  const other = marked.find((rows) => !rows.has(at));
  return (
    <div class="source">
      <h3>
        <EditorName file={frame?.file} line={line} text={`${source.name}:${line}`} />{' '}
        <WebAddress url={webAddressOf(frame?.file, artifacts)} />{' '}
        {lines.length > to - from || whole ? (
          <button class="toggle dim small nowrap" aria-pressed={whole} onClick={() => setWhole(!whole)}>
            whole file
          </button>
        ) : null}
      </h3>
      {moved && (
        <p class="warned small" role="status">
          ≈ No line that the truth names has a HERE: this source is not the one that was built.
        </p>
      )}
      {text === null ? (
        <p class="dim">…</p>
      ) : line > lines.length ? (
        <p class="dim">The kept file has {plural(lines.length, 'line')}: it is another version.</p>
      ) : (
        <ol class="code" ref={place} tabindex={0} aria-label={`lines ${from + 1} to ${to}`}>
          {lines.slice(from, to).map((code, i) => {
            const n = from + i + 1;
            const mine = marks.get(n)?.get(at);
            const others = [...(marks.get(n)?.keys() ?? [])].filter((row) => row !== at);
            return (
              <li key={n} class={mine ? 'marked' : others.length ? 'near' : ''}>
                <span class="lineno dim">{n}</span>
                <span class="who">
                  {mine ? (
                    <Who names={mine} />
                  ) : others.length > 0 ? (
                    <span class="dim" title={`row ${others.join(', ')} of this stack`}>
                      ·{others[0]}
                    </span>
                  ) : null}
                </span>
                <code>{code || ' '}</code>
              </li>
            );
          })}
        </ol>
      )}
      {text !== null && (
        <Signs
          of={[
            ...signsIn(
              letters,
              marked.flatMap((rows) => kindsOf(rows.get(at) ?? []).map((kind) => letters[kind])),
            ),
            ...[...(other?.keys() ?? [])]
              .slice(0, 1)
              .map((row) => [`·${row}`, '', `row ${row} of this stack does`]),
          ]}
        />
      )}
      <EditorSetting />
    </div>
  );
}

// ---- the drawers -----------------------------------------------------------------------------

/**
 * @typedef {{row: import('openapi').Cell[], findings: import('openapi').Finding[],
 *   withEngines: (names: string[]) => string, close: () => void}} Rest
 * @param {WhatIsShown & Rest} props
 */
export function Why({ row, at, thread, columns, engines, findings, artifacts, withEngines, close }) {
  const all = findings.filter((f) => f.thread_id === thread.thread_id && f.row === at);
  const here = all.filter((f) => columns.some((i) => engines[i].engine === f.engine));
  const others = new Set(all.filter((f) => !here.includes(f)).flatMap((f) => f.engine ?? []));
  return (
    <section class="drawer box" aria-label="Why this frame">
      <header>
        <h2>Why row {at}</h2>
        <button onClick={close} aria-label="close">
          ✕
        </button>
      </header>
      {here.length > 0 && (
        <ul class="lines">
          {here.map((f, i) => (
            <li key={i}>
              <Chip kind={f.fails ? 'bad' : 'cause'}>{words(f.cause)}</Chip>{' '}
              <span class="mono">{f.engine}</span> against <span class="mono">{f.against}</span>
              {`, ${f.level}: ${f.evidence}`}
            </li>
          ))}
        </ul>
      )}
      {all.length > here.length && (
        <p class="dim small">
          <Link to={withEngines([...columns.map((i) => engines[i].engine), ...others])}>
            and {plural(all.length - here.length, 'more difference')}
          </Link>{' '}
          of engines that are not shown
        </p>
      )}
      <div class="whys">
        <Source {...{ artifacts, thread, columns, engines, at }} />
        {columns.map((i) => (
          <Engine
            key={i}
            row={row}
            column={i + 1}
            engine={engines[i].engine}
            stack={thread.stacks[i]}
            goesOn={thread.rows.some((later, n) => n > at && later[i + 1].frame)}
            last={lastOf(thread, at, i + 1)}
            parting={all.find((f) => f.cause === 'wrong_step')?.evidence ?? ''}
            others={otherSlots(thread, at, i, columns, engines)}
          />
        ))}
      </div>
    </section>
  );
}

/** @type {(days: number) => string} */
export const inDays = (days) => new Date(Date.now() + days * 864e5).toISOString().slice(0, 10);

/** @param {{what: Record<string, string | number>}} props members of the body that name what is accepted */
export function AcceptForm({ what }) {
  const [said, say] = useState(/** @type {string[] | null} */ (null));
  /** @type {(event: SubmitEvent) => void} */
  const put = (event) => {
    event.preventDefault();
    const form = Object.fromEntries(new FormData(/** @type {HTMLFormElement} */ (event.target)));
    const body = JSON.stringify({ ...what, ...form, issue: form.issue || null });
    send('POST', '/api/v1/known', { body }).then(
      ({ added }) => {
        say(['good', added]);
      },
      (error) => say(['wrong', `${error.message}${error.hint ? `: ${error.hint}` : ''}`]),
    );
  };
  if (said?.[0] === 'good')
    return (
      <>
        <p class="good" role="status">
          Added to the file of known mismatches; commit it. It applies from the next run on.
        </p>
        <pre class="sheetlike box" tabindex={0}>
          {said[1].trim()}
        </pre>
      </>
    );
  return (
    <>
      <form class="filters flow" onSubmit={put}>
        <label class="field grow dim small">
          <span>reason</span>
          <input name="reason" required maxLength={300} />
        </label>
        <label class="field dim small">
          <span>issue (a link, may be empty)</span>
          <input name="issue" maxLength={300} />
        </label>
        <label class="field dim small">
          <span>holds until</span>
          <input name="expires" type="date" required min={inDays(0)} value={inDays(90)} />
        </label>
        <button class="primary">Accept</button>
      </form>
      {said && (
        <p class="wrong" role="alert">
          {said[1]}
        </p>
      )}
    </>
  );
}

/** @type {(c: import('openapi').Case) => boolean} */
export const acceptable = (c) => ['FAIL', 'FLAKY'].includes(c.verdict);

/** @param {{c: import('openapi').Case, run: number | string, close: () => void}} props */
export function Accept({ c, run, close }) {
  const drawer = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => drawer.current?.scrollIntoView({ block: 'nearest' }), []);
  return (
    <section class="drawer box" aria-label="Accept" ref={drawer}>
      <header>
        <h2>Accept this difference</h2>
        <button onClick={close} aria-label="close">
          ✕
        </button>
      </header>
      {!acceptable(c) ? (
        <p class="dim">This case does not fail: there is nothing to accept.</p>
      ) : (
        <>
          <p>
            An accepted difference has a reason, a scope and an end; one that is unused or has expired fails
            the run.
          </p>
          {token() ? (
            <AcceptForm what={{ run, case: caseName(c), repeat: c.repeat }} />
          ) : (
            <p>
              In the project’s folder:{' '}
              <Command>
                twinstack accept {caseName(c)} --run {run} --reason "…" --expires {inDays(90)}
              </Command>
            </p>
          )}
          <p class="dim mono wrap">{c.signature}</p>
        </>
      )}
    </section>
  );
}
