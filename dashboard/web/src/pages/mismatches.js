// The mismatch browser: the queue in the order of the server, and one case of it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useData } from '../api.js';
import { useKeys } from '../keys.js';
import { current, go, useQuery, withQuery } from '../router.js';
import { CaseView } from './case.js';
import { CaseGroups, GroupFacts } from './case_groups.js';
import { ProblemHead } from './problem.js';
import {
  Chip,
  Empty,
  Link,
  Loaded,
  Verdict,
  VerdictSigns,
  Wrong,
  caseName,
  failing,
  number,
  plural,
  words,
  repeatOf,
} from '../ui.js';

/**
 * @typedef {import('openapi').Answers['/api/v1/runs/{run}/queue']} Queue
 * @typedef {Queue['cases'][number]} Queued
 */

const filters = ['group', 'trouble', 'problem', 'signature', 'new', 'verdict', 'cause', 'kind', 'search'];
/** @type {Record<string, string>} */
const titles = {
  failing: 'failing',
  error: 'not judged',
  flaky: 'flaky',
  unexpected_pass: 'unexpected pass',
  unexplained: 'unexplained',
  accepted: 'accepted',
  reference: 'only reference engines differ',
  rest: 'nothing differs',
};

/** @type {(run: string, c: import('openapi').Named, query: Record<string, string | undefined>) => string} */
const caseAt = (run, c, query) =>
  withQuery(`/runs/${run}/mismatches/${encodeURIComponent(caseName(c))}`, {
    ...query,
    frame: null,
    thread: null,
    repeat: c.repeat || null,
  });

/** @type {(groups: Queue['groups']) => number} */
const sum = (groups) => groups.reduce((all, { cases }) => all + cases, 0);

const PROBLEMS_FIRST = 3; // come before the cases, which need the room

/**
 * @param {{run: string, found: Queue, selected: Queued | undefined,
 *   query: Record<string, string | undefined>}} props
 */
function QueueList({ run, found, selected, query }) {
  const { problems, problems_left } = found.wrong;
  /** @type {string | null} */
  let last = null;
  /** @type {(c: Queued) => import('preact').ComponentChildren[]} */
  const line = (c) => {
    const heading = c.group !== last && (
      <li class="group" key={`g-${c.group}`}>
        {titles[c.group] ?? words(c.group)}{' '}
        <span class="dim">{number(found.groups.find((g) => g.group === c.group)?.fitting)}</span>
      </li>
    );
    last = c.group;
    return [
      heading,
      <li key={c.id}>
        <Link to={caseAt(run, c, query)} aria-current={c === selected ? 'true' : undefined}>
          <Verdict word={c.verdict} />{' '}
          <bdi class="mono cut" title={caseName(c)}>
            {caseName(c)}
          </bdi>
          {c.repeat ? <span class="mono">{repeatOf(c)}</span> : null}
          {c.is_new && (
            <Chip kind="bad" title="fails, and did not in the baseline">
              new
            </Chip>
          )}
        </Link>
      </li>,
    ];
  };
  const plain = filters.every((key) => !query[key]);
  return (
    <>
      {!plain && (
        <p class="dim small pad" role="status">
          {number(found.total)} of {plural(sum(found.groups), 'case')}
        </p>
      )}
      {problems.length > 0 && plain && (
        <CaseGroups
          kind="queueproblems lines pad small"
          groups={problems.slice(0, PROBLEMS_FIRST)}
          left={problems.length + problems_left - PROBLEMS_FIRST}
          run={run}
        />
      )}
      <VerdictSigns of={found.cases.map((c) => c.verdict)} />
      <ol class="queue" aria-label="Cases">
        {found.cases.map(line)}
      </ol>
    </>
  );
}

/**
 * "201–400 of 1,240", with the pages around it.
 * @param {{found: Queue, turn: (after: number | null) => void}} props
 */
function Pager({ found, turn }) {
  if (found.previous === null && found.next === null && !found.left_out) return null;
  const end = found.position + found.cases.length;
  return (
    <p class="pager dim pad flow middle">
      {number(found.position + 1)}–{number(end)} of {number(found.total)}
      {!!found.left_out && <span data-carrier>· {number(found.left_out)} more are not in this file</span>}
      {found.previous !== null && <button onClick={() => turn(found.previous)}>previous</button>}
      {found.next !== null && <button onClick={() => turn(found.next)}>next</button>}
    </p>
  );
}

/**
 * What the listed cases have in common, where the address asks for one group of them.
 * @param {{group: NonNullable<Queue['problem']>, run: string}} props
 */
const OneProblem = ({ group, run }) => (
  <p class="small" role="status">
    <Link class="strong" to={withQuery(`/runs/${run}/mismatches`, { problem: group.key })}>
      {plural(group.cases, 'case')}
    </Link>
    : <bdi>{group.sentence}</bdi>
    <br />
    <GroupFacts group={group} run={run} />
  </p>
);

/** @type {(key: string, value: string | undefined) => string} */
const filterWords = (key, value) =>
  key === 'new' ? 'new' : key === 'problem' ? 'one problem' : key === 'signature' ? `${value}` : words(value);

/** @param {{query: Record<string, string | undefined>, set: ReturnType<typeof useQuery>[1]}} props */
const ActiveFilters = ({ query, set }) =>
  filters
    .filter((key) => key !== 'search' && query[key])
    .map((key) => (
      <button
        key={key}
        class="toggle dim small"
        aria-pressed="true"
        onClick={() => set({ [key]: null, after: null })}
      >
        {filterWords(key, query[key])} ✕
      </button>
    ));

/** @type {(c: Queued) => boolean} */
const fails = (c) => failing(c.verdict);
// The next (BY > 0) or previous one of a page that fits, as seen from place AT.
/** @type {(cases: Queued[], at: number, by: number, fits: (c: Queued) => boolean) => Queued | undefined} */
const nearest = (cases, at, by, fits) =>
  by > 0 ? cases.find((c, i) => i > at && fits(c)) : cases.findLast((c, i) => i < at && fits(c));

/**
 * The case that is shown, for those who hear the page.
 * @param {{found: Queue | null, at: number}} props
 */
const Heard = ({ found, at }) => (
  <p class="sr" role="status">
    {found && at >= 0
      ? `case ${number(found.position + at + 1)} of ${number(found.total)}: ${caseName(found.cases[at])}, ` +
        words(found.cases[at].verdict)
      : ''}
  </p>
);

/** @param {{found: Queue}} props */
const Nothing = ({ found }) => (
  <Empty title="Nothing to look at">
    <p>{sum(found.groups) > 0 ? 'No case of this run matches the filters.' : 'It has no case.'}</p>
  </Empty>
);

/** @param {{before: boolean, after: boolean, step: (by: number) => void}} props is there one? */
const FailingSteps = ({ before, after, step }) => (
  <>
    <button disabled={!before} onClick={() => step(-1)}>
      Previous failing
    </button>
    <button disabled={!after} onClick={() => step(1)}>
      Next failing
    </button>
  </>
);

/** @param {{run: string, case?: string}} props */
export function Mismatches({ run, case: name }) {
  const [query, set] = useQuery();
  const moved = useRef(''); // where a key or a step leads: the focus goes with it, and to no case before it
  const [around] = useState(name); // the page of the case that the address named first
  const kept = Object.fromEntries(filters.map((key) => [key, query[key]]));
  const where = query.after ? { after: query.after } : { around };
  const { scenarios } = query;
  const list = useData('/api/v1/runs/{run}/queue', { run, limit: 50, ...kept, scenarios, ...where });
  const cases = list.data?.cases ?? [];
  /** @type {(wanted: string, nth: number) => number} */
  const find = (wanted, nth) => cases.findIndex((c) => caseName(c) === wanted && c.repeat === nth);
  const problem = list.data?.problem ?? null;
  // The page of a problem shows its typical case, which need not be in this part of the list.
  const first = !name && problem ? problem.example : cases[0];
  const repeat = name ? Number(query.repeat ?? 0) : (first?.repeat ?? 0);
  const shown = name ?? (first && caseName(first));
  const selected = shown ? cases[find(shown, repeat)] : undefined;
  const data = useData(shown ? '/api/v1/runs/{run}/cases/{case}' : null, {
    run,
    case: shown,
    repeat: repeat || null,
  });
  /** @type {(after: number | null) => void} */
  const turn = (after) => go(withQuery(`/runs/${run}/mismatches`, { ...kept, after: after || null }));
  // From the address and not from the drawn page: keys may be faster than pages.
  /** @type {(by: number, only?: (c: Queued) => boolean, goesOn?: boolean) => void} */
  const move = (by, only = (_) => true, goesOn = true) => {
    const now = current();
    const wanted = decodeURIComponent(now.path.split('/mismatches/')[1] ?? '');
    const at = wanted ? find(wanted, Number(now.query.repeat ?? 0)) : here;
    const next = nearest(cases, at, by, only);
    moved.current = next ? `${caseName(next)}#${next.repeat}` : '';
    if (next) go(caseAt(run, next, now.query), true);
    else if (by > 0 && goesOn && list.data?.next) turn(list.data.next);
    else if (by < 0 && list.data && list.data.previous !== null) turn(list.data.previous);
  };
  // What fails comes first in the queue: after the last one of a page, more come only if that ends the page.
  const last = cases[cases.length - 1];
  const moreFailing = !!(list.data?.next && last && fails(last));
  /** @type {(by: number) => void} */
  const stepFailing = (by) => move(by, fails, moreFailing);
  const here = selected ? cases.indexOf(selected) : -1;
  const steps = (
    <FailingSteps
      before={!!nearest(cases, here, -1, fails) || (list.data?.previous ?? null) !== null}
      after={!!nearest(cases, here, 1, fails) || moreFailing}
      step={stepFailing}
    />
  );
  useKeys({
    j: ['next case', () => move(1)],
    k: ['previous case', () => move(-1)],
    f: ['next failing case', () => stepFailing(1)],
    F: ['previous failing case', () => stepFailing(-1)],
  });
  useEffect(() => {
    const link = /** @type {HTMLElement | null} */ (document.querySelector('.queue [aria-current]'));
    link?.scrollIntoView({ block: 'nearest' });
    if (moved.current !== `${shown}#${repeat}`) return;
    link?.focus({ preventScroll: true });
    moved.current = '';
  }, [shown, repeat]);
  return (
    <div class="browser">
      <aside class="side" aria-label="Queue">
        <div class="sidehead">
          <h2>
            <Link to={`/runs/${run}`}>Run {list.data?.run ?? run}</Link>
          </h2>
          {list.data && (
            <p class="small">
              <Wrong wrong={list.data.wrong} run={list.data.run} short />
            </p>
          )}
          <input
            type="search"
            aria-label="search cases"
            placeholder="search  /"
            value={query.search ?? ''}
            onInput={(event) => set({ search: event.currentTarget.value || null, after: null })}
          />
          {name && problem && <OneProblem group={problem} run={run} />}
          <ActiveFilters query={query} set={set} />
          <Heard found={list.data} at={here} />
          <p class="steps-between">
            <button onClick={() => move(-1)}>previous</button> <button onClick={() => move(1)}>next</button>
          </p>
        </div>
        <Loaded from={list}>
          {(found) =>
            cases.length === 0 ? (
              <p class="dim pad">{sum(found.groups) > 0 ? 'No case fits.' : 'This run has no case.'}</p>
            ) : (
              <>
                <QueueList {...{ run, found, selected, query }} />
                <Pager found={found} turn={turn} />
              </>
            )
          }
        </Loaded>
      </aside>
      <div class="detail">
        {!name && problem && list.data && <ProblemHead problem={problem} run={list.data.run} />}
        {shown ? (
          <Loaded from={data}>
            {(found) => (
              <CaseView key={`${shown}#${repeat}`} data={found} steps={steps} opens={!name && !!problem} />
            )}
          </Loaded>
        ) : (
          list.data && <Nothing found={list.data} />
        )}
      </div>
    </div>
  );
}
