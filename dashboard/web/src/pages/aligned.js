// The stacks of one thread, aligned: a row per frame, a column per engine, the truth first.
import { editorLink, useEditor } from '../editor.js';
import { Term } from '../glossary.js';
import { frames as marks } from '../signs.js';
import { Table } from '../table.js';
import { Chip, Link, Name, words } from '../ui.js';

/** @type {(cell: import('openapi').Cell) => boolean} */
export const differs = (cell) => ['line', 'function', 'physical', 'missing', 'extra'].includes(cell.mark);

/**
 * @typedef {{file: string | null, line: number | null}} Placed
 * @typedef {{page: string | null, web: string | null}} Sources where a page shows a source, and the web
 * @typedef {(frame: Placed) => Sources} SourceOf
 */

/**
 * @param {import('openapi').Frame} frame
 * @param {boolean} absolute
 */
function place(frame, absolute) {
  if (absolute && frame.address) return frame.address;
  return codePlace(frame);
}
/**
 * module!0xoffset, or of managed code module!0xTOKEN+0xIL.
 * @type {(frame: {module?: string | null, method?: string, offset: string}) => string}
 */
export const codePlace = (frame) => {
  const method = frame.method ? `0x${frame.method.slice(2).padStart(8, '0')}+` : '';
  return `${frame.module ?? '?'}!${method}${frame.offset}`;
};
/** @type {(frame: {file: string | null, line: number | null}) => string} */
export const source = (frame) =>
  frame.file ? `${frame.file.split(/[\\/]/).pop()}${frame.line ? `:${frame.line}` : ''}` : '';

/**
 * A name that leads to its source where that was kept, else to the reader's editor, else to where
 * SourceLink says it is; other names are plain text.
 * @param {{frame: Placed, sourceAt: SourceOf}} props
 */
function Place({ frame, sourceAt }) {
  const { page, web } = sourceAt(frame);
  const name = <Name text={source(frame)} />;
  const outside = page ? null : (editorLink(frame.file, frame.line) ?? web);
  if (outside)
    return (
      <a class="src small wrap" href={outside} rel="noreferrer" title={frame.file ?? undefined}>
        {name}
      </a>
    );
  return page ? (
    <Link class="src small wrap" to={page} title={frame.file ?? undefined}>
      {name}
    </Link>
  ) : (
    <span class="src dim small wrap" title={frame.file ?? undefined}>
      {name}
    </span>
  );
}

const noStackHas = 'no stack can have it: left by a jump, inlined by the JIT, or hidden by a collection';

/** @param {{frame: import('openapi').TruthFrame, sourceAt: SourceOf}} props */
function TruthFrame({ frame, sourceAt }) {
  if (frame.gap)
    return (
      <span class="dim">
        ⋯ {words(frame.gap)}
        {frame.gap_count ? ` (${frame.gap_count})` : ''}
      </span>
    );
  return (
    <span class="line flow">
      <span class="fn">
        <Name text={frame.function ?? ''} />
        {frame.tail && [' ', <Chip title={noStackHas}>absent</Chip>]}
      </span>{' '}
      <Place frame={frame} sourceAt={sourceAt} />
    </span>
  );
}

/** @param {{frame: import('openapi').Frame, absolute: boolean, sourceAt: SourceOf}} props */
function Frame({ frame, absolute, sourceAt }) {
  const inlined = frame.inline_depth > 0;
  // A state machine has the name of the method that the user wrote; only the note says so.
  const mark = inlined ? 'inlined' : /^(async|iterator):/.exec(frame.note ?? '')?.[1];
  return (
    <>
      <span class="line flow">
        <span class={`fn ${inlined ? 'in' : ''}`}>
          {inlined && (
            <span class="arrow dim" aria-hidden="true">
              ↳
            </span>
          )}
          {frame.function ? <Name text={frame.function} /> : <em class="dim">no name</em>}
          {mark && [' ', <span class="tag">{mark}</span>]}
        </span>
        <Place frame={frame} sourceAt={sourceAt} />
      </span>
      <span class="at dim wrap">
        <Name text={place(frame, absolute)} />{' '}
        <span class={`trust trust-${frame.found_by}`}>{words(frame.found_by)}</span>
        {frame.symbols !== 'pdb' && !inlined
          ? [' ', <span class="trust">{frame.symbols === 'none' ? 'no symbols' : frame.symbols}</span>]
          : null}
      </span>
    </>
  );
}

/** @type {{state: string, stop: string | null, empty: boolean}} */
const noStack = { state: 'ok', stop: null, empty: false };

/**
 * @param {{cell: import('openapi').Cell, sourceAt: SourceOf, truth?: boolean, absolute?: boolean,
 *   stack?: typeof noStack, first?: boolean}} props
 */
function Cell({ cell, sourceAt, truth = false, absolute = false, stack = noStack, first = false }) {
  const [glyph, , why] = marks[cell.mark] ?? ['', '', cell.mark];
  if (!cell.frame) {
    const stopped = !truth && (stack.state !== 'ok' || stack.empty) && first;
    return (
      <>
        <span class="sr">{marks[cell.mark]?.[2]}</span>
        {stopped ? (
          <span class="nostack wrong">
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
      </>
    );
  }
  return (
    <>
      <span class="glyph" title={why}>
        <span aria-hidden="true">{glyph}</span>
        <span class="sr">{why}</span>
      </span>
      <span class="stackframe">
        {truth ? (
          <TruthFrame frame={/** @type {import('openapi').TruthFrame} */ (cell.frame)} sourceAt={sourceAt} />
        ) : (
          <Frame
            frame={/** @type {import('openapi').Frame} */ (cell.frame)}
            absolute={absolute}
            sourceAt={sourceAt}
          />
        )}
      </span>
    </>
  );
}

/** @type {(cell: import('openapi').Cell) => {class: string}} */
const colours = (cell) => ({ class: `m-${cell.mark} ${cell.frame ? '' : 'hatched'}` });

/** @type {(row: Row) => string[]} */
const rowCauses = (row) => [...new Set(row.map((cell) => cell.cause ?? '').filter(Boolean))];
/**
 * @typedef {import('openapi').Cell[]} Row the truth, then one cell per engine
 * @typedef {import('openapi').Frame | null} FrameOf the frame of a cell that is not the truth's
 */

/** @type {(row: Row) => FrameOf[]} */
const framesOf = (row) => row.slice(1).map((cell) => /** @type {FrameOf} */ (cell.frame));

/** @type {(row: Row) => boolean} */
export const isInline = (row) =>
  framesOf(row).some((frame) => frame && frame.inline_depth > 0) &&
  framesOf(row).every((frame) => !frame || frame.inline_depth > 0);
/** @type {(row: Row) => boolean} */
export const isSystem = (row) =>
  !row[0].frame &&
  framesOf(row).every((frame) => !frame || ['system', 'runtime', 'none', 'capture'].includes(frame.class));

/**
 * @typedef {{row: Row, at: number}} ShownRow AT: its place in the thread
 * @typedef {object} AlignedProps
 * @property {import('openapi').Thread} thread
 * @property {number[]} columns which engines are shown
 * @property {import('openapi').Case['engines']} engines
 * @property {import('openapi').Score[]} scores
 * @property {ShownRow[]} rows those that are shown
 * @property {number} selected -1: none
 * @property {(at: number) => void} select
 * @property {(frame: Placed, at: number) => Sources} sourceAt of a frame of row AT
 * @property {boolean} absolute addresses instead of offsets
 *
 * @param {AlignedProps} props
 */
export function Aligned({ thread, columns, engines, scores, rows, selected, select, sourceAt, absolute }) {
  useEditor();
  /** @type {(i: number) => typeof noStack} */
  const lacking = (i) => ({ state: 'skipped', stop: whyNone(scores, engines[i].engine), empty: true });
  const stacks = thread.stacks.map((stack, i) =>
    stack ? { ...stack, empty: thread.rows.every((row) => !row[i + 1].frame) } : lacking(i),
  );
  /** @type {(row: Row) => Row} */
  const visible = (row) => [row[0], ...columns.map((i) => row[i + 1])];
  /** @type {import('../table.js').Column<ShownRow>} */
  const truth = {
    head: <Term name="truth" />,
    cell: ({ row, at }) => <Cell cell={row[0]} truth sourceAt={(frame) => sourceAt(frame, at)} />,
    kind: 'cell',
    attributes: ({ row }) => colours(row[0]),
  };
  const isJudged = rows.some(({ row }) => row[0].frame);
  return (
    <Table
      label="Aligned stacks"
      kind={`aligned ways ${isJudged ? 'judged' : ''}`}
      rows={rows}
      id={({ at }) => at}
      attributes={({ row, at }) => ({
        id: `row-${at}`,
        class: `${visible(row).some(differs) ? 'differs' : ''} ${isSystem(row) ? 'system' : ''}`,
        'aria-selected': at === selected,
        onClick: (event) => {
          if (!(/** @type {Element} */ (event.target).closest('a'))) select(at);
        },
      })}
      columns={[
        {
          head: '#',
          cell: ({ at }) => (
            <button class="rowno bare dim" aria-label={`explain row ${at}`} aria-pressed={at === selected}>
              {at}
            </button>
          ),
          kind: 'num dim',
        },
        isJudged && truth,
        ...columns.map((i) => ({
          head: (
            <span class="mono">
              {engines[i].engine}
              {engines[i].subject ? '' : [' ', <span class="dim">reference</span>]}
            </span>
          ),
          cell: (/** @type {ShownRow} */ { row, at }, /** @type {number} */ n) => (
            <Cell
              cell={row[i + 1]}
              sourceAt={(frame) => sourceAt(frame, at)}
              stack={stacks[i]}
              absolute={absolute}
              first={n === 0}
            />
          ),
          kind: 'cell',
          attributes: (/** @type {ShownRow} */ { row }) => colours(row[i + 1]),
        })),
        {
          head: <Term name="cause" />,
          cell: ({ row }) =>
            rowCauses(visible(row)).map((cause) => (
              <Chip key={cause} kind={cause === 'unexplained' ? 'bad' : 'cause'}>
                {words(cause)}
              </Chip>
            )),
          kind: 'cause',
        },
      ]}
    />
  );
}

// Why an engine has no stack of this case.
/** @type {(scores: import('openapi').Score[], engine: string) => string} */
const whyNone = (scores, engine) =>
  scores.find((score) => score.engine === engine)?.reason ?? 'it was not asked';
