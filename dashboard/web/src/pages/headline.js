// The headline: what a crash costs as a dump and as offsets.  The server computes it; this shows it.
import { Table } from '../table.js';
import { bytes, duration, number } from '../ui.js';

/** @typedef {import('openapi').HeadlineRow} HeadlineRow */

/** @type {(row: HeadlineRow, value: number) => string} */
const amount = (row, value) =>
  value < 0 ? `-${duration(-value)}` : row.unit === 'bytes' ? bytes(value) : duration(value);

/** @type {(row: HeadlineRow, cell: import('openapi').HeadlineCell) => {class: string, title?: string}} */
const attributes = (row, cell) =>
  cell.median === null || cell.state === 'too few'
    ? { class: 'dim' }
    : { class: row.part ? 'dim' : '', title: `${number(cell.count)} cases` };

/** @type {(row: HeadlineRow) => number} */
const cases = (row) => Math.max(...Object.values(row.cells).map((cell) => cell.count));

/** @param {{row: HeadlineRow, cell: import('openapi').HeadlineCell}} props */
function Cell({ row, cell }) {
  if (cell.median === null) return cell.state === 'not done' ? '–' : cell.state;
  if (cell.state === 'too few') return `too few (${number(cell.count)})`;
  return (
    <>
      {amount(row, cell.median)}
      {!row.part && cell.count < cases(row) ? <span class="dim small"> ({number(cell.count)})</span> : null}
      {cell.least !== null && cell.most !== null ? (
        <span class="dim small">
          {' '}
          ({amount(row, cell.least)} to {amount(row, cell.most)})
        </span>
      ) : null}
    </>
  );
}

/** Runs of older versions have no numbers in some rows.
 * @type {(row: HeadlineRow) => boolean} */
const isShown = (row) =>
  row.group === 'in the dying process' || Object.values(row.cells).some((cell) => cell.median !== null);

/** @param {{headline: import('openapi').Headline}} props */
export function Headline({ headline }) {
  if (headline.cases === 0) return null;
  return (
    <>
      <h2 class="section">Speed</h2>
      <Table
        label="Speed"
        rows={headline.rows.filter(isShown)}
        columns={[
          {
            head: 'median (least to most), cases',
            cell: (row) => (
              <>
                {row.group}: {row.name}
                {row.part ? null : <span class="dim small"> ({number(cases(row))})</span>}
              </>
            ),
            attributes: (row) => ({ class: row.part ? 'dim' : '' }),
          },
          ...headline.columns.map(({ key, name }) => ({
            head: name,
            cell: (/** @type {HeadlineRow} */ row) => <Cell row={row} cell={row.cells[key]} />,
            attributes: (/** @type {HeadlineRow} */ row) => attributes(row, row.cells[key]),
            kind: 'num',
          })),
        ]}
      />
      <p class="dim small">
        {headline.dominates} {headline.foreign && `Foreign: ${headline.foreign}, `}
        {headline.counts && `${headline.counts}. `}
        {headline.scope}
      </p>
    </>
  );
}
