// Which way is faster, in lanes by states.  The server computes it; this shows it.
import { Table } from '../table.js';
import { Signs, times } from '../signs.js';
import { digits, duration, Link, number } from '../ui.js';
import { RatioSays } from './benched.js';

/** @typedef {import('openapi').SpeedRow} SpeedRow */

const { drift } = times;
export const states = [
  ['no index', 'no index'],
  ['index', 'index, new process'],
  ['warm', 'warm'],
];

/** Why there is none, as the terminal says it.
 * @type {(of: {state: string, cases: number, scenarios: number}) => string} */
export const unmeasured = ({ state, cases, scenarios }) =>
  cases === 0 ? state : `${state} (${number(state === 'few scenarios' ? scenarios : cases)})`;

/** @param {{cell: import('openapi').SpeedCell}} props */
function Cell({ cell }) {
  if (cell.state !== 'measured') return unmeasured(cell);
  const { ratio } = cell;
  return (
    <>
      {ratio ? (
        <>
          <strong>{digits(ratio.value)}</strong> [{digits(ratio.value, ratio.low)},{' '}
          {digits(ratio.value, ratio.high)}]
        </>
      ) : (
        duration(Number(cell.median_ns))
      )}
      <span class="dim small"> ({number(cell.cases)})</span>
      {cell.drifts ? <strong title={drift[2]}> {drift[0]}</strong> : null}
    </>
  );
}

/**
 * @param {{speed: import('openapi').Speed, ratio: import('openapi').SpeedRatio,
 *   picture?: import('preact').ComponentChildren}} props
 */
export function Speed({ speed, ratio, picture }) {
  if (speed.rows.length === 0) return picture;
  const drifts = speed.rows.some(({ cells }) => states.some(([key]) => cells[key].drifts));
  const inTrend = speed.rows.find(({ lane }) => lane === 'plain dump');
  return (
    <>
      <h2 class="section">Which way is faster</h2>
      <RatioSays ratio={ratio} rest={picture ? 'picture and table are' : 'the table is'} />
      <Signs of={drifts ? [drift] : []} />
      {picture}
      <Table
        label="Which way is faster"
        kind="list stacking"
        rows={speed.rows}
        columns={[
          {
            head: 'same cases of both',
            cell: (row) => {
              const name = `${row.arch} ${row.lane}${row.lane === 'offsets' ? ', time' : ' : offsets'}`;
              return row === inTrend ? (
                <Link to="/trend?metric=speed_ratio" title="over all runs">
                  {name}
                </Link>
              ) : (
                name
              );
            },
          },
          ...states.map(([key, head]) => ({
            head,
            cell: (/** @type {SpeedRow} */ row) => <Cell cell={row.cells[key]} />,
            attributes: (/** @type {SpeedRow} */ row) => ({
              class: row.cells[key].state === 'measured' ? '' : 'dim',
            }),
            kind: 'num',
          })),
        ]}
      />
      <p class="dim small">
        Ratio of medians [95 % interval over scenarios, of one process] (cases). {speed.where}
      </p>
    </>
  );
}
