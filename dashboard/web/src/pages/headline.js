// The headline: what a crash costs as a dump and as offsets.  The server computes it; this shows it.
import { Table, duration, number } from '../ui.js';

/** As in the reports: 230 KB are 230,000 bytes.
 * @type {(value: number) => string} */
function size(value) {
  const [scale, unit] =
    value < 1e3 ? [1, 'B'] : value < 1e6 ? [1e3, 'KB'] : value < 1e9 ? [1e6, 'MB'] : [1e9, 'GB'];
  return `${(value / scale).toPrecision(3)} ${unit}`;
}

/** @type {(row: import('openapi').HeadlineRow, value: number) => string} */
const amount = (row, value) =>
  value < 0 ? `-${duration(-value)}` : row.unit === 'bytes' ? size(value) : duration(value);

/** @param {{row: import('openapi').HeadlineRow, cell: import('openapi').HeadlineCell}} props */
function Cell({ row, cell }) {
  if (cell.median === null) return <td class="num dim">{cell.state === 'not done' ? '–' : cell.state}</td>;
  return (
    <td class={`num ${row.part ? 'dim' : ''}`} title={`${number(cell.count)} cases`}>
      {amount(row, cell.median)}
      {cell.least !== null && cell.most !== null ? (
        <span class="dim small">
          {' '}
          ({amount(row, cell.least)} to {amount(row, cell.most)})
        </span>
      ) : null}
    </td>
  );
}

/** Runs of older versions have no numbers in some rows.
 * @type {(row: import('openapi').HeadlineRow) => boolean} */
const isShown = (row) =>
  row.group === 'in the dying process' || Object.values(row.cells).some((cell) => cell.median !== null);

/** @type {(row: import('openapi').HeadlineRow) => number} */
const cases = (row) => Math.max(...Object.values(row.cells).map((cell) => cell.count));

/** @param {{headline: import('openapi').Headline}} props */
export function Headline({ headline }) {
  if (headline.cases === 0) return null;
  const ways = [
    [`dump way (${headline.foreign_engine?.split(':')[1]})`, headline.foreign_ms],
    ['dump way (ours)', headline.dump_ms],
    ['offset way', headline.offset_ms],
  ].filter(([, ms]) => ms !== null);
  return (
    <>
      <h2 class="section">Speed</h2>
      <Table label="Speed">
        <thead>
          <tr>
            <th>median (least to most), cases</th>
            {headline.columns.map((column) => (
              <th class="num" key={column.key}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {headline.rows.filter(isShown).map((row) => (
            <tr key={row.key}>
              <td class={row.part ? 'dim' : ''}>
                {row.group}: {row.name}
                {row.part ? null : <span class="dim small"> ({number(cases(row))})</span>}
              </td>
              {headline.columns.map((column) => (
                <Cell key={column.key} row={row} cell={row.cells[column.key]} />
              ))}
            </tr>
          ))}
        </tbody>
      </Table>
      <p class="dim small">
        {headline.dominates} Foreign: {headline.foreign ?? 'not measured'}; {headline.counts}.{' '}
        {headline.scope}
      </p>
      <p class="lead">
        {ways.map(([name]) => name).join(' : ')} ={' '}
        <strong>{ways.map(([, ms]) => duration(Number(ms) * 1e6)).join(' : ')}</strong>{' '}
        <span class="dim">
          one stack on the back end, cold start; medians of {number(headline.cases)} cases
        </span>
      </p>
    </>
  );
}
