// What a million crashes cost by each way, as `report --cost` prints it.  The server computes it; this shows
// it, and asks again with other terms.
import { offline } from '../api.js';
import { Table } from '../table.js';
import { Command, duration, Field, number } from '../ui.js';
import { unmeasured } from './speed.js';

/** @typedef {import('openapi').CostLane} CostLane */
/** @typedef {import('openapi').Cost} Cost */
/** @typedef {import('openapi').CostWord} Word */

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

/** @type {(lane: CostLane, key: string) => number | null} */
const spent = (lane, key) =>
  key === 'total_ns' ? lane.total_ns : lane.steps[/** @type {keyof CostLane['steps']} */ (key)];

/**
 * Each step of both ways is a bar from the same origin, so that any two can be compared by eye.
 * @param {{lanes: CostLane[], steps: Word[]}} props
 */
export function Steps({ lanes, steps }) {
  const all = steps.flatMap(({ key }) => lanes.map((lane) => spent(lane, key) ?? 0)).filter((ns) => ns > 0);
  if (all.length === 0) return null;
  const low = Math.floor(Math.log10(Math.min(...all)));
  const decades = Math.max(1, Math.ceil(Math.log10(Math.max(...all))) - low);
  const ticks = Array.from({ length: decades + 1 }, (_, i) => i);
  return (
    <>
      <h3 class="small">One crash, one step after the other</h3>
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
        {steps.map(({ key, name }) => (
          <div key={key} class={key === 'total_ns' ? 'step strong' : 'step'} role="row">
            <span role="rowheader">{name}</span>
            <span class="lanes" role="cell" style={{ '--axis': `${AXIS}%`, '--decade': `${100 / decades}%` }}>
              {lanes.every((lane) => spent(lane, key) === null) && <span class="dim">not measured</span>}
              {lanes.map((lane) => {
                const ns = spent(lane, key);
                return ns === null || ns <= 0 ? null : (
                  <span key={lane.lane} class="lane">
                    <i
                      class={`way-${lane.lane.replace(' ', '-')}`}
                      style={{ width: `${(AXIS * (Math.log10(ns) - low)) / decades}%` }}
                    ></i>
                    {duration(ns)} <span class="dim">{lane.lane}</span>
                  </span>
                );
              })}
            </span>
          </div>
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
        A million times the case in the middle [95 %] (cases). The process is stopped until record or dump is
        written; one that hangs, until it is walked or its dump is written. Each file is compressed by itself.
        Unusable: victims that left no stack, or one whose innermost own frame is wrong. Prices are in your
        currency. The same: <Command>twinstack report --cost</Command>. {cost.where}
      </p>
    </>
  );
}
