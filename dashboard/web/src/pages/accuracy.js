// How right the two ways are over the same cases.  The server computes it; this shows it.
import { Table } from '../table.js';
import { number, percent, plural } from '../ui.js';

/** @type {(share: import('openapi').Measure) => string} */
const share = ({ right, total }) => percent(right, total);

/** @type {(split: import('openapi').Split) => string} */
const parts = (split) =>
  [
    `both ${number(split.both)}`,
    `only offset ${number(split.only_offset)}`,
    `only dump ${number(split.only_dump)}`,
    `neither ${number(split.neither)}`,
  ].join(', ');

/** @param {{accuracy: import('openapi').Accuracy}} props */
export function Accuracy({ accuracy }) {
  if (accuracy.cases === 0) return null;
  return (
    <>
      <h2 class="section">Both ways over the same {plural(accuracy.cases, 'case')}</h2>
      <Table
        label="Both ways"
        kind="list stacking"
        rows={accuracy.ways}
        columns={[
          { head: 'way', cell: (way) => way.engine, kind: 'mono' },
          {
            head: 'exact',
            cell: ({ exact }) => [
              <strong>{share(exact)}</strong>,
              <span class="dim small">{` ${number(exact.right)} of ${number(exact.total)}`}</span>,
            ],
            kind: 'num',
          },
          { head: 'top 1', cell: (way) => share(way.top1), kind: 'num' },
          { head: 'top 3', cell: (way) => share(way.top3), kind: 'num' },
          {
            head: 'recall, macro',
            cell: (way) => (way.recall_macro === null ? '–' : percent(way.recall_macro, 1)),
            kind: 'num',
          },
          { head: 'recall, micro', cell: (way) => share(way.recall_micro), kind: 'num' },
        ]}
      />
      <p class="dim small">
        Exact: {parts(accuracy.exact)}. With a stack to judge: {parts(accuracy.judged)}. Macro: mean of{' '}
        {plural(accuracy.scenarios, 'scenario')}; micro: all frames, so a deep recursion outweighs the rest.
      </p>
    </>
  );
}
