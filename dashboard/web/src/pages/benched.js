// What a bench says: the two ways in turn on the same cases, with a control.
import { Command, digits, Link, plural, times } from '../ui.js';

/** @typedef {import('openapi').Answers['/api/v1/timing']['bench']} Bench */

/** @type {(share: number | null) => string} */
const rounded = (share) => (share === null ? 'not known' : `${Math.round(100 * share)} %`);

/** @typedef {NonNullable<Bench>['back_end'][number]} Side */

/** @type {(side: Side) => string} */
const interval = ({ ratio, ratio_low, ratio_high }) =>
  ratio === null || ratio_low === null || ratio_high === null
    ? ''
    : ` [${digits(ratio, ratio_low)}, ${digits(ratio, ratio_high)}]`;

/** Over what the interval is, or why there is none. @type {(side: Side) => string} */
const benchScope = (side) => {
  if (side.arch === null) return 'no interval: its cases were not stored';
  const cases = `${plural(side.cases, 'case')} of ${plural(side.scenarios, 'scenario')}`;
  const how = side.ratio_low === null ? 'no interval, too few scenarios or processes' : '95 % interval';
  return `${how}: ${side.arch}, ${cases}, ${side.processes} processes`;
};

/** @param {{bench: Bench}} props */
export const BenchSays = ({ bench }) =>
  bench?.back_end
    .filter((side) => side.ratio !== null)
    .map((side) => (
      <p class="headline" key={String(side.cold)}>
        Bench, {side.cold ? 'cold' : 'symbols loaded'}: the dump way takes{' '}
        <strong>{times(side.ratio ?? 0) + interval(side)}</strong> as long{' '}
        <span class="dim">
          ({benchScope(side)}; noise {rounded(side.noise)}, p{' '}
          {side.dump_against_offset.p?.toPrecision(2) ?? '–'}, {plural(side.samples, 'sample')} of each way)
        </span>
        .
      </p>
    ));

/**
 * The one figure of which way is faster, and what measured it.
 * @param {{ratio: import('openapi').SpeedRatio, rest: string}} props
 */
export const RatioSays = ({ ratio, rest }) => (
  <div class="benched">
    <p class="headline">
      {ratio.answer && <strong>{ratio.answer}. </strong>}Dump : offsets <strong>{ratio.text}</strong>{' '}
      <span class="dim">({ratio.about})</span>
    </p>
    <p class="dim small">
      {ratio.origin === 'bench' ? (
        <>
          Measured by <Link to={`/timing?run=${ratio.run}`}>run {ratio.run}</Link>, a bench of the same
          commit; {rest} of this run.
        </>
      ) : (
        <>
          {ratio.note && `${ratio.note}; `}
          <Command>twinstack bench</Command> measures it.
        </>
      )}
    </p>
  </div>
);
