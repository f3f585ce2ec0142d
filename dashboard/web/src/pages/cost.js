// What a million crashes cost by each way, as `report --cost` prints it.  The server computes it; this shows
// it, and asks again with other terms.
import { offline } from '../api.js';
import { Table } from '../table.js';
import { Command, duration, Field, number } from '../ui.js';
import { states, unmeasured } from './speed.js';

/** @typedef {import('openapi').CostLane} CostLane */
/** @typedef {import('openapi').Cost} Cost */
/** @typedef {import('openapi').CostWord} Word */

const labels = {
  mbit_s: 'uplink, Mbit/s',
  hours_kept: 'kept, hours',
  gb_month: 'GB and month',
  core_hour: 'core and hour',
};

/** What may be asked with, each in its field.
 * @param {{cost: Cost, of: (keyof typeof labels)[],
 *   set: (changes: Record<string, string | null>) => void}} props */
const Terms = ({ cost, of, set }) => (
  <div class="tools flow middle">
    {of.map((key) => (
      <Field key={key} label={labels[key]}>
        <input
          type="number"
          class="number"
          min="0"
          step="any"
          value={cost.terms[key]}
          disabled={offline !== null}
          onChange={(event) => set({ [key]: event.currentTarget.value || null })}
        />
      </Field>
    ))}
  </div>
);

/** @type {(value: number) => string} */
function three(value) {
  const units = ['', 'k', 'M', 'G'];
  let unit = 0;
  for (; unit + 1 < units.length && value >= 999.5; unit++) value /= 1000;
  return value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + units[unit];
}

/** @param {{amount: import('openapi').CostAmount}} props */
function Amount({ amount }) {
  const { cases, value, low, high } = amount;
  if (value === null) return <span class="dim">{unmeasured(amount)}</span>;
  return (
    <>
      <strong>{three(value)}</strong> [{three(Number(low))}, {three(Number(high))}]
      <span class="dim small"> ({number(cases)})</span>
    </>
  );
}

/** @type {(lane: CostLane, key: string) => import('preact').ComponentChildren} */
function amountOf(lane, key) {
  const { upload_s: upload, price, unusable, judged } = lane;
  if (key === 'upload_s') return upload === null ? 'not measured' : three(upload);
  if (key === 'price') return price === null ? 'not measured' : three(price);
  if (key === 'unusable')
    return unusable === null ? 'not judged' : `${number(unusable)} of ${number(judged)}`;
  return <Amount amount={lane[/** @type {'raw_gb'} */ (key)]} />;
}

const AXIS = 60; // percent of the width; the rest is for the words after the longest bar

/** @typedef {{name: string, ns: number | null}} Bar of a lane */
/** @typedef {{key: string, name: string, bars: Bar[]}} Row */

/** @type {(lane: CostLane, key: string) => number | null} */
const spent = (lane, key) =>
  key === 'total_ns' ? lane.total_ns : lane.steps[/** @type {keyof CostLane['steps']} */ (key)];

/** The whole back end in each state: what the ratios beside the picture are of.
 * @type {(speed: import('openapi').Speed, arch: string) => Row[]} */
const backEnd = ({ rows }, arch) => {
  const own = rows.filter((row) => row.arch === arch);
  const lanes = [...own.slice(1), ...own.slice(0, 1)]; // offsets last, as in the steps
  return states.map(([key, name]) => ({
    key,
    name: `back end: ${name}`,
    bars: lanes.map(({ lane, cells }) => ({ name: lane, ns: cells[key].median_ns })),
  }));
};

/** @param {{row: Row, low: number, decades: number}} props */
function Step({ row: { key, name, bars }, low, decades }) {
  return (
    <div class={key === 'total_ns' ? 'step strong' : 'step'} role="row">
      <span role="rowheader">{name}</span>
      <span class="lanes" role="cell" style={{ '--axis': `${AXIS}%`, '--decade': `${100 / decades}%` }}>
        {bars.every(({ ns }) => ns === null) && <span class="dim">not measured</span>}
        {bars.map((bar) =>
          bar.ns === null || bar.ns <= 0 ? null : (
            <span key={bar.name} class="lane">
              <i
                class={`way-${bar.name.replace(' ', '-')}`}
                style={{ width: `${(AXIS * (Math.log10(bar.ns) - low)) / decades}%` }}
              ></i>
              {duration(bar.ns)} <span class="dim">{bar.name}</span>
            </span>
          ),
        )}
      </span>
    </div>
  );
}

/**
 * Each step of both ways is a bar from the same origin, so that any two can be compared by eye.
 * @param {{cost: Cost, steps: Word[], speed: import('openapi').Speed,
 *   set: (changes: Record<string, string | null>) => void}} props
 */
export function Steps({ cost, steps, speed, set }) {
  const { lanes, terms } = cost;
  /** @type {Row[]} */
  const rows = steps.map(({ key, name }) => ({
    key,
    name: key === 'send_ns' ? `${name}, ${number(terms.mbit_s)} Mbit/s` : name,
    bars: lanes.map((lane) => ({ name: lane.lane, ns: spent(lane, key) })),
  }));
  if (rows.every(({ bars }) => bars.every(({ ns }) => ns === null || ns <= 0))) return null;
  rows.push(...backEnd(speed, cost.arch));
  const all = rows.flatMap(({ bars }) => bars.map(({ ns }) => ns ?? 0)).filter((ns) => ns > 0);
  const low = Math.floor(Math.log10(Math.min(...all)));
  const decades = Math.max(1, Math.ceil(Math.log10(Math.max(...all))) - low);
  const ticks = Array.from({ length: decades + 1 }, (_, i) => i);
  return (
    <>
      <h3 class="small">One crash, one step after the other, and the back end in all</h3>
      <Terms cost={cost} of={['mbit_s']} set={set} />
      <div class="steps" role="table" aria-label="One crash">
        <div class="step small dim" aria-hidden="true">
          <span>log scale</span>
          <span class="ticks">
            {ticks.map((i) => (
              <span key={i} style={{ left: `${(AXIS * i) / decades}%` }}>
                {duration(10 ** (low + i)).replace(/\.0+ /, ' ')}
              </span>
            ))}
          </span>
        </div>
        {rows.map((row) => (
          <Step key={row.key} {...{ row, low, decades }} />
        ))}
      </div>
    </>
  );
}

/** @type {(lane: CostLane, key: string) => boolean} */
const isKnown = (lane, key) => /^\d/.test(String(amountOf(lane, key)));

/**
 * @param {{cost: Cost, words: {lines: Word[]},
 *   set: (changes: Record<string, string | null>) => void}} props
 */
export function CostOfMillion({ cost, words, set }) {
  return (
    <>
      <h2 class="section">Cost of a million crashes, {cost.arch}</h2>
      <Table
        label="Cost of a million crashes"
        kind="list stacking"
        rows={words.lines}
        columns={[
          { head: 'what it costs', cell: ({ name }) => name },
          ...cost.lanes.map((lane) => ({
            head: lane.lane,
            cell: (/** @type {Word} */ { key }) => amountOf(lane, key),
            attributes: (/** @type {Word} */ { key }) => ({
              class: typeof amountOf(lane, key) === 'string' && !isKnown(lane, key) ? 'dim' : '',
            }),
            kind: 'num',
          })),
        ]}
      />
      <Terms cost={cost} of={['hours_kept', 'gb_month', 'core_hour']} set={set} />
      <p class="dim small">
        A million times the case in the middle [95 %] (cases). The process is stopped until record or dump is
        written; one that hangs, until it is walked or its dump is written. Each file is compressed by itself.
        Unusable: victims that left no stack, or one whose innermost own frame is wrong. Prices are in your
        currency. The same: <Command>twinstack report --cost</Command>. {cost.where}
      </p>
    </>
  );
}
