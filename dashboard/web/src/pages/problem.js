// One problem of a run: what is broken, all its cases as a matrix of scenarios and builds, and one acceptance
// for all of them.
import { useState } from 'preact/hooks';
import { token } from '../api.js';
import { withQuery } from '../router.js';
import { Signs } from '../signs.js';
import { Table } from '../table.js';
import { Command, Link, Name, number, plural } from '../ui.js';
import { GroupFacts } from './case_groups.js';
import { AcceptForm, inDays } from './why.js';

/**
 * @typedef {NonNullable<import('openapi').ProblemCases>} Problem
 * @typedef {Problem['matrix']['rows'][number]} Row
 */

const ROWS = 200; // that the server gives at one time

/** @type {(counts: number[]) => number} */
const sum = (counts) => counts.reduce((all, n) => all + n, 0);

/** @type {(counts: 'cases' | 'of', rows: Row[], at: number) => boolean} */
const has = (counts, rows, at) => rows.some((row) => row[counts][at] > 0);

/**
 * The columns of a matrix, by their places: builds that the problem is in, and then the others that ran one
 * of these scenarios.
 * @type {(rows: Row[], variants: string[]) => number[]} */
const columnsOf = (rows, variants) =>
  [...variants.keys()]
    .filter((at) => has('of', rows, at))
    .sort((a, b) => Number(has('cases', rows, b)) - Number(has('cases', rows, a)));

/** @type {(run: number | string, problem: Problem, scenario: string, variant: string) => string} */
const cellPath = (run, { key }, scenario, variant) =>
  withQuery(`/runs/${run}/mismatches/${encodeURIComponent(`${scenario}.${variant}`)}`, { problem: key });

/** @param {{problem: Problem, run: number | string}} props */
function Matrix({ problem, run }) {
  const { variants, rows, rows_before: before, rows_left: left } = problem.matrix;
  const columns = columnsOf(rows, variants);
  /** @type {(fits: (cases: number, of: number) => boolean) => boolean} */
  const some = (fits) => rows.some((row) => columns.some((at) => fits(row.cases[at], row.of[at])));
  const signs = [
    some((cases) => cases > 0) && ['✗', '', 'of this problem'],
    some((cases, of) => cases > 0 && of > 1) && ['✗ 2/3', '', 'two of three repeats are'],
    some((cases, of) => cases === 0 && of > 0) && ['·', '', 'another result'],
    some((_, of) => of === 0) && ['empty', '', 'not in this run'],
  ];
  /** @type {(scenarios: number) => string} */
  const rowsAt = (scenarios) =>
    withQuery(`/runs/${run}/mismatches`, { problem: problem.key, scenarios: scenarios || null });
  /** @type {(row: Row, at: number) => import('preact').ComponentChildren} */
  const cell = ({ scenario, cases, of }, at) =>
    cases[at] > 0 ? (
      <Link
        class="wrong"
        to={cellPath(run, problem, scenario, variants[at])}
        title={`${cases[at]} of ${plural(of[at], 'case')} of ${scenario}.${variants[at]}`}
      >
        ✗
        {of[at] > 1 && <span class="small"> {cases[at] === of[at] ? of[at] : `${cases[at]}/${of[at]}`}</span>}
      </Link>
    ) : of[at] > 0 ? (
      <span class="dim" title={`${scenario}.${variants[at]} is not of this problem`}>
        ·
      </span>
    ) : null;
  return (
    <>
      <Table
        label="Cases of the problem"
        kind="matrix"
        rows={rows}
        id={(row) => row.scenario}
        columns={[
          {
            head: 'scenario',
            cell: (row) => <Name text={row.scenario} />,
            sort: (row) => row.scenario,
            kind: 'mono',
            names: true,
          },
          ...columns.map((at) => ({
            head: variants[at],
            /** @type {(row: Row) => import('preact').ComponentChildren} */
            cell: (row) => cell(row, at),
          })),
          {
            head: 'cases',
            cell: (row) => number(sum(row.cases)),
            sort: (row) => sum(row.cases),
            kind: 'num',
          },
        ]}
      />
      <Signs of={signs.filter((sign) => sign !== false)} />
      {before + left > 0 && (
        <p class="dim small flow">
          {before > 0 && (
            <Link to={rowsAt(Math.max(0, before - ROWS))}>the {plural(before, 'scenario')} before</Link>
          )}
          {left > 0 && <Link to={rowsAt(before + rows.length)}>and {plural(left, 'more scenario')}</Link>}
        </p>
      )}
    </>
  );
}

/** @param {{problem: Problem, run: number}} props */
function AcceptAll({ problem, run }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button aria-expanded={open} onClick={() => setOpen(!open)}>
        Accept all as one…
      </button>
      {open && (
        <section class="drawer box" aria-label="Accept all">
          <p>
            One block in the file of known mismatches names every case, and what may be wrong in them. A case
            in which more is wrong fails; so does one that passes.
          </p>
          {token() ? (
            <AcceptForm what={{ run, problem: problem.key }} />
          ) : (
            <p>
              In the project’s folder:{' '}
              <Command>
                twinstack accept --problem {problem.key} --run {run} --reason "…" --expires {inDays(90)}
              </Command>
            </p>
          )}
        </section>
      )}
    </>
  );
}

/** @param {{problem: Problem, run: number}} props */
export function ProblemHead({ problem, run }) {
  const { rows, rows_before: before, rows_left: left, variants, variants_hit: hit } = problem.matrix;
  return (
    <section class="problemhead" aria-label="Problem">
      <h1 tabindex={-1}>
        {plural(problem.cases, 'case')}: <bdi>{problem.sentence}</bdi>
      </h1>
      <p>
        {plural(before + rows.length + left, 'scenario')} in{' '}
        {hit === variants.length
          ? `all ${plural(hit, 'build')}`
          : `${hit} of ${plural(variants.length, 'build')}`}
        {problem.new > 0 && ` · ${number(problem.new)} new since the baseline`}
        <br />
        <GroupFacts group={problem} run={run} />
      </p>
      <Matrix problem={problem} run={run} />
      {problem.verdict !== 'XFAIL' && (
        <div class="actions flow middle">
          <AcceptAll problem={problem} run={run} />
        </div>
      )}
      <h2 class="section">A typical case</h2>
    </section>
  );
}
