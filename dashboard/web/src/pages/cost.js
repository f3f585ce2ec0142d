// What a million crashes cost by each way, as `report --cost` prints it.  The server computes it; this shows
// it, and asks again with other terms.
import { offline } from '../api.js';
import { Table } from '../table.js';
import { Command, Field, number } from '../ui.js';

/** @typedef {import('openapi').CostLane} CostLane */
/** @typedef {import('openapi').Cost} Cost */

/** @type {[Exclude<keyof CostLane, 'lane' | 'upload_s' | 'price' | 'unusable' | 'judged'>, string][]} */
const amounts = [
  ['core_s_warm', 'warm, core-s'],
  ['core_s_index', 'index, core-s'],
  ['stopped_s', 'stopped, s'],
  ['raw_gb', 'kept raw, GB'],
  ['gzip_gb', 'gzip, GB'],
  ['zstd_gb', 'zstd, GB'],
];

/** @type {[keyof Cost['terms'], string, string][]} */
const terms = [
  ['mbit_s', 'uplink, Mbit/s', 'any'],
  ['hours_kept', 'kept, hours', 'any'],
  ['gb_month', 'GB and month', 'any'],
  ['core_hour', 'core and hour', 'any'],
];

/** @type {(value: number) => string} */
function three(value) {
  const units = ['', 'k', 'M', 'G'];
  let unit = 0;
  for (; unit + 1 < units.length && value >= 999.5; unit++) value /= 1000;
  return value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + units[unit];
}

/** @param {{amount: import('openapi').CostAmount}} props */
function Amount({ amount: { cases, value, low, high } }) {
  if (value === null) return cases > 0 ? `too few (${number(cases)})` : 'not measured';
  return (
    <>
      <strong>{three(value)}</strong> [{three(Number(low))}, {three(Number(high))}]
      <span class="dim small"> ({number(cases)})</span>
    </>
  );
}

/** @type {[string, (lane: CostLane) => import('preact').ComponentChildren][]} */
const rows = [
  ...amounts.map(
    ([key, name]) =>
      /** @type {[string, (lane: CostLane) => import('preact').ComponentChildren]} */ ([
        name,
        (lane) => <Amount amount={lane[key]} />,
      ]),
  ),
  ['upload, s', ({ upload_s: s }) => (s === null ? 'not measured' : three(s))],
  ['price', ({ price }) => (price === null ? 'not measured' : three(price))],
  [
    'unusable',
    ({ unusable, judged }) => (unusable === null ? 'not judged' : `${number(unusable)} of ${number(judged)}`),
  ],
];

/** @param {{cost: Cost, set: (changes: Record<string, string | null>) => void}} props */
export function CostOfMillion({ cost, set }) {
  return (
    <>
      <h2 class="section">Cost of a million crashes</h2>
      <Table
        label="Cost of a million crashes"
        rows={rows}
        columns={[
          { head: cost.arch, cell: ([name]) => name },
          ...cost.lanes.map((lane) => ({
            head: lane.lane,
            cell: (/** @type {(typeof rows)[number]} */ [, show]) => show(lane),
            attributes: (/** @type {(typeof rows)[number]} */ [, show]) => ({
              class:
                typeof show(lane) === 'string' && Number.isNaN(Number.parseFloat(String(show(lane))))
                  ? 'dim'
                  : '',
            }),
            kind: 'num',
          })),
        ]}
      />
      <div class="tools flow middle">
        {terms.map(([key, label, step]) => (
          <Field key={key} label={label}>
            <input
              type="number"
              class="number"
              min="0"
              step={step}
              value={cost.terms[key]}
              disabled={offline !== null}
              onChange={(event) => set({ [key]: event.currentTarget.value || null })}
            />
          </Field>
        ))}
      </div>
      <p class="dim small">
        A million times the case in the middle [95 %] (cases). The process is stopped until record or dump
        is written; one that hangs, until it is walked or its dump is written. Each file is compressed by
        itself. Unusable: victims that left no stack, or one whose innermost own frame is wrong. Prices are in
        your currency. The same: <Command>twinstack report --cost</Command>. {cost.where}
      </p>
    </>
  );
}
