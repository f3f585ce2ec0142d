// What a bench says: the two ways in turn on the same cases, with a control.
import { useData } from '../api.js';
import { usePainted } from '../painted.js';
import { Command, Link, plural } from '../ui.js';
import { NEWEST } from './run_pick.js';

/** @typedef {import('openapi').Answers['/api/v1/timing']['bench']} Bench */

/** @type {(share: number | null) => string} */
const rounded = (share) => (share === null ? 'not known' : `${Math.round(100 * share)} %`);

/** @typedef {NonNullable<Bench>['back_end'][number]} Side */

/** @type {(side: Side) => string} */
const interval = ({ ratio_low, ratio_high }) =>
  ratio_low === null || ratio_high === null ? '' : ` [${ratio_low.toFixed(1)}, ${ratio_high.toFixed(1)}]`;

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
        <strong>{`${side.ratio?.toFixed(1)}×${interval(side)}`}</strong> as long{' '}
        <span class="dim">
          ({benchScope(side)}; noise {rounded(side.noise)}, p{' '}
          {side.dump_against_offset.p?.toPrecision(2) ?? '–'}, {plural(side.samples, 'sample')} of each way)
        </span>
        .
      </p>
    ));

const SAME = /** @type {const} */ (['commit', 'platform', 'cpu', 'compiler', 'flags']);

/**
 * The newest bench of the commit, the machine and the build of a run, or that there is none. Its place is
 * kept from the start, so that nothing moves when it comes.
 * @param {{run: number}} props
 */
export function BenchOf({ run }) {
  const runs = useData(usePainted() ? '/api/v1/runs' : null, { limit: NEWEST }).data?.runs; // as RunPick
  const own = runs?.find((each) => each.id === run);
  const found =
    own?.commit &&
    runs?.find(
      (each) =>
        each.label === 'bench' && each.state === 'complete' && SAME.every((key) => each[key] === own[key]),
    );
  const { data } = useData(found ? '/api/v1/timing' : null, { limit: 1, run: found ? found.id : run });
  return (
    <div class="benched" data-carrier>
      {found && data && data.run === found.id ? (
        <>
          <BenchSays bench={data.bench} />
          <p class="dim small">
            Measured by <Link to={`/timing?run=${found.id}`}>run {found.id}</Link>, a bench of the same commit
            on the same machine.
          </p>
        </>
      ) : own && !found ? (
        <p class="dim small">
          No bench of this commit on this machine is stored: these ratios are those of one process.{' '}
          <Command>twinstack bench</Command> measures both ways in turn, in several, with a control.
        </p>
      ) : null}
    </div>
  );
}
