// A table is its columns: what their heads say, what their cells show, what their rows can be sorted by.
import { useState } from 'preact/hooks';

/** @typedef {import('preact').ComponentChildren} Children */
/** @typedef {string | number | null | undefined} Sortable */
/** @typedef {import('preact').JSX.HTMLAttributes<HTMLTableRowElement>} RowAttributes */
/**
 * Attributes of a cell; with `colSpan`, the next columns have no cell.
 * @typedef {{class?: string, title?: string, colSpan?: number, scope?: 'colgroup',
 *   style?: import('preact').JSX.CSSProperties}} Attributes
 */
/**
 * HEAD: a word, or a <Term>.  CELL: what is in it for a row, AT counted from 0.  SORT: what the rows are
 * ordered by once the head is clicked.  KIND: classes of the cells.  LABEL: precedes the cell where rows are
 * stacked; its head, but for a name in the first column.  NAMES: the cell is the name of its row.
 * @template Row
 * @typedef {{head: Children, cell: (row: Row, at: number) => Children, sort?: (row: Row) => Sortable,
 *   kind?: string, attributes?: (row: Row, at: number) => Attributes, label?: string,
 *   names?: boolean}} Column
 */

/**
 * What is not known comes last, either way.
 * @type {(a: Sortable, b: Sortable, down: boolean) => number}
 */
function compare(a, b, down) {
  if (a === b) return 0;
  const [least, most] = [a ?? null, b ?? null];
  if (least === null || most === null) return least === null ? 1 : -1;
  return least < most === down ? 1 : -1;
}

/** @type {(...classes: (string | undefined)[]) => string | undefined} */
const joined = (...classes) => classes.filter(Boolean).join(' ') || undefined;

/**
 * Sorts: first down if the cells are numbers, then the other way, then as the server gave the rows.
 * @param {{head: Children, sorted: boolean, down: boolean, turn: () => void}} props
 */
const Sorter = ({ head, sorted, down, turn }) => (
  <button class="sorter bare" onClick={turn}>
    {head}
    <span aria-hidden="true">{sorted ? (down ? ' ▼' : ' ▲') : ''}</span>
  </button>
);

/**
 * In place of COUNT rows of HEIGHT pixels that are not in the page.
 * @param {{count: number, height: number}} props
 */
const Spacer = ({ count, height }) =>
  count > 0 ? <tr class="spacer" style={{ height: `${count * height}px` }}></tr> : null;

/**
 * It is in a region that scrolls if the table is wider than the page.  KIND: classes of the table.  ID: the
 * key of a row.  BARE: without a frame, with heads only for those who hear the page.  PART: the rows that are
 * in the page, of HEIGHT pixels each, and the box that they scroll in.
 * @template Row
 * @param {{label: string, kind?: string, rows: Row[], columns: (Column<Row> | false)[], bare?: boolean,
 *   id?: (row: Row) => string | number, attributes?: (row: Row) => RowAttributes,
 *   part?: {first: number, last: number, height: number, box: import('preact').RefObject<HTMLDivElement>}
 *   }} props
 */
export function Table({ label, kind = 'list', rows, columns: asked, bare, id, attributes, part }) {
  const [{ by, down }, order] = useState({ by: -1, down: false });
  const columns = asked.filter((column) => !!column);
  const sort = columns[by]?.sort;
  const sorted = sort ? [...rows].sort((a, b) => compare(sort(a), sort(b), down)) : rows;
  const { first, last, height } = part ?? { first: 0, last: rows.length, height: 0 };
  // Elements of a part are reused, so that a jump makes none.
  /** @type {(row: Row, at: number) => string | number} */
  const key = (row, at) => (part ? at % (last - first) : id ? id(row) : at);
  /** @type {(column: Column<Row>) => boolean} */
  const isNumber = (column) => !!column.kind?.split(' ').includes('num');
  /** @type {(at: number) => void} */
  const turn = (at) => {
    const begin = isNumber(columns[at]);
    order(
      by !== at ? { by: at, down: begin } : down === begin ? { by, down: !down } : { by: -1, down: false },
    );
  };
  /** @type {(row: Row, at: number) => Children[]} */
  const cells = (row, at) => {
    const made = [];
    for (let i = 0; i < columns.length;) {
      const { head, cell, kind: own, attributes: more, label: said, names } = columns[i];
      const { class: added, ...rest } = more?.(row, at) ?? {};
      const word = said ?? (typeof head === 'string' && (i > 0 || isNumber(columns[i])) ? head : '');
      const given = { class: joined(own, added), ...rest };
      made.push(
        names ? (
          <th key={i} scope="row" {...given}>
            {cell(row, at)}
          </th>
        ) : (
          <td key={i} {...given} data-label={word || undefined}>
            {cell(row, at)}
          </td>
        ),
      );
      i += rest.colSpan ?? 1;
    }
    return made;
  };
  return (
    <div
      class={bare ? 'scrolls' : joined('scroll', part && 'gridbox')}
      tabindex={0}
      role={bare ? 'group' : 'region'}
      aria-label={label}
      ref={part?.box}
    >
      <table class={kind} aria-rowcount={part && rows.length + 1}>
        <thead class={bare ? 'sr' : undefined}>
          <tr>
            {columns.map((column, i) => (
              <th
                key={i}
                scope="col"
                class={isNumber(column) ? 'num' : undefined}
                aria-sort={i === by ? (down ? 'descending' : 'ascending') : undefined}
              >
                {column.sort ? (
                  <Sorter head={column.head} sorted={i === by} down={down} turn={() => turn(i)} />
                ) : (
                  column.head
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer count={first} height={height} />
          {sorted.slice(first, last).map((row, i) => (
            <tr key={key(row, first + i)} aria-rowindex={part && first + i + 2} {...attributes?.(row)}>
              {cells(row, first + i)}
            </tr>
          ))}
          <Spacer count={sorted.length - last} height={height} />
        </tbody>
      </table>
    </div>
  );
}
