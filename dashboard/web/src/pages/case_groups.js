// Failing cases by mechanism and place: one fault is one line, however many cases it hits.
import { withQuery } from '../router.js';
import { Link, caseName, commitOf, number, plural } from '../ui.js';

/** @typedef {import('openapi').CaseGroup} Group */

/** @type {(run: number | string, group: Group) => string} */
export const groupPath = (run, { key }) => withQuery(`/runs/${run}/mismatches`, { problem: key });

// "walk of dump (380), none: the votes are even (2)", as reports have it
/** @type {(group: Group) => string} */
const blames = (group) => group.blames.map(({ blame, cases }) => `${blame} (${number(cases)})`).join(', ');

// Cases are counted in each of their problems: so many are in two of them.
/** @type {(wrong: {shared: number, problems: unknown[], problems_left: number}) => string} */
export function inBoth({ shared, problems, problems_left }) {
  const where = problems.length + problems_left === 2 ? 'both' : 'two';
  return shared > 0 ? `, ${number(shared)} of them in ${where}` : '';
}

/**
 * Since which run a group fails, before what follows.
 * @param {Pick<Group, 'since' | 'before'>} props
 */
export const Since = ({ since, before }) =>
  since && (
    <>
      since <Link to={`/runs/${since.run}`}>run {since.run}</Link>
      {since.commit ? ` (${commitOf(since)})` : ''}
      {before ? `, run ${before.run} was good` : ''} ·{' '}
    </>
  );

/** @param {{group: Group, run: number | string}} props */
export function GroupFacts({ group, run }) {
  const { since, before, example, file } = group;
  return (
    <span class="dim small">
      {group.blames.length > 0 && <>blame: {blames(group)} · </>}
      <Since since={since} before={before} />
      {file && <bdi>file: {file} · </bdi>}
      e.g.{' '}
      <Link
        class="mono"
        to={withQuery(`/runs/${run}/mismatches/${encodeURIComponent(caseName(example))}`, {
          problem: group.key,
          repeat: example.repeat || null,
        })}
      >
        {caseName(example)}
      </Link>
    </span>
  );
}

/**
 * @param {{groups: Group[], left?: number, run: number | string, kind?: string}} props KIND: a list without
 *   the facts of each
 */
export function CaseGroups({ groups, left = 0, run, kind }) {
  return (
    <ol class={kind ?? 'panel lines casegroups box'} aria-label="Problems">
      {groups.map((group) => (
        <li key={group.key}>
          <Link class="strong" to={groupPath(run, group)}>
            {plural(group.cases, 'case')}
          </Link>
          : <bdi>{group.sentence}</bdi>
          {!kind && [<br />, <GroupFacts group={group} run={run} />]}
        </li>
      ))}
      {left > 0 && (
        <li>
          <Link to={withQuery('/signatures', { run })}>and {plural(left, 'more problem')}</Link>
        </li>
      )}
    </ol>
  );
}
