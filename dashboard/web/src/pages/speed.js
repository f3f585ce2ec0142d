// Which way is faster, in lanes by states.  The server computes it; this shows it.
import { Table } from '../table.js';
import { duration, Link, number } from '../ui.js';
import { RatioSays } from './benched.js';

/** @typedef {import('openapi').SpeedRow} SpeedRow */

const states = [
  ['no index', 'no index'],
  ['index', 'index, new process'],
  ['warm', 'warm'],
];

/** @type {(value: number, like: number) => string} */
const fixed = (value, like) => value.toFixed(like < 9.95 ? 2 : like < 99.5 ? 1 : 0);

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
          <strong>{fixed(ratio.value, ratio.value)}</strong> [{fixed(ratio.low, ratio.value)},{' '}
          {fixed(ratio.high, ratio.value)}]
        </>
      ) : (
        duration(Number(cell.median_ns))
      )}
      <span class="dim small"> ({number(cell.cases)})</span>
      {cell.drifts ? <strong title="against itself not 1"> !</strong> : null}
    </>
  );
}

/**
 * @param {{speed: import('openapi').Speed, ratio: import('openapi').SpeedRatio,
 *   picture?: import('preact').ComponentChildren}} props
 */
export function Speed({ speed, ratio, picture }) {
  if (speed.rows.length === 0) return picture;
  const inTrend = speed.rows.find(({ lane }) => lane === 'plain dump');
  return (
    <>
      <h2 class="section">Which way is faster</h2>
      <RatioSays ratio={ratio} rest={picture ? 'picture and table are' : 'the table is'} />
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
