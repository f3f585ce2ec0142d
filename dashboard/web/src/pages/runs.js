// All runs, newest first; tick two to compare them.
import { offline, useData } from '../api.js';
import { useKeys } from '../keys.js';
import { go, useQuery } from '../router.js';
import { Table } from '../table.js';
import {
  ago,
  commitOf,
  Chip,
  Command,
  CountsBar,
  CountsLegend,
  duration,
  Empty,
  Field,
  Link,
  Loaded,
  number,
  Page,
  plural,
  when,
} from '../ui.js';

/** @type {(run: import('openapi').Run) => boolean} */
const isRunning = (run) => run.state === 'running';
/** @type {(run: import('openapi').Run) => number | null} */
const took = (run) => (!isRunning(run) && run.finished_ns ? run.finished_ns - run.started_ns : null);

/**
 * @param {{runs: import('openapi').Run[], ticked: string[], tick: (id: string) => void,
 *   baseline: number | null}} props
 */
const List = ({ runs, ticked, tick, baseline }) => (
  <Table
    label="Runs"
    kind="list runs"
    rows={runs}
    id={(run) => run.id}
    attributes={(run) => ({ class: isRunning(run) ? 'running' : '' })}
    columns={[
      {
        head: <span class="sr">compare</span>,
        cell: (run) => (
          <input
            type="checkbox"
            aria-label={`compare run ${run.id}`}
            checked={ticked.includes(String(run.id))}
            onChange={() => tick(String(run.id))}
          />
        ),
      },
      {
        head: 'run',
        cell: (run) => (
          <>
            <Link to={`/runs/${run.id}`} class="strong">
              {run.id}
            </Link>
            {run.id === baseline && [' ', <Chip>baseline</Chip>]}
          </>
        ),
      },
      {
        head: 'verdicts',
        cell: (run) => <CountsBar verdicts={run.verdicts} total={run.case_count} />,
        kind: 'wide',
      },
      {
        head: 'started',
        cell: (run) => ago(run.started_ns),
        kind: 'nowrap',
        attributes: (run) => ({ title: `${when(run.started_ns)} UTC` }),
      },
      {
        head: 'state',
        cell: (run) =>
          isRunning(run) ? [<span class="pulse" aria-hidden="true"></span>, 'going'] : run.state,
      },
      { head: 'took', cell: (run) => (isRunning(run) ? '' : duration(took(run))), sort: took, kind: 'num' },
      { head: 'what', cell: (run) => run.label },
      { head: 'commit', cell: (run) => commitOf(run) ?? '–', kind: 'mono' },
      { head: 'branch', cell: (run) => run.branch ?? '–' },
      { head: 'platform', cell: (run) => run.platform, kind: 'platform' },
    ]}
  />
);

/**
 * A filter is shown only if there is a choice.
 * @param {{runs: import('openapi').Run[], query: Record<string, string | undefined>,
 *   set: (changes: Record<string, string | null>) => void}} props
 */
function Filters({ runs, query, set }) {
  const choices = /** @type {('branch' | 'platform')[]} */ (['branch', 'platform'])
    .map((name) => ({
      name,
      values: [...new Set([query[name], ...runs.map((run) => run[name])])]
        .flatMap((word) => word || [])
        .sort(),
    }))
    .filter(({ name, values }) => values.length > 1 || query[name]);
  return (
    choices.length > 0 && (
      <div class="filters flow">
        {choices.map(({ name, values }) => (
          <Field key={name} label={name}>
            <select onChange={(event) => set({ [name]: event.currentTarget.value || null, after: null })}>
              <option value="">any</option>
              {values.map((value) => (
                <option key={value} value={value} selected={value === query[name]}>
                  {value}
                </option>
              ))}
            </select>
          </Field>
        ))}
      </div>
    )
  );
}

export function Runs() {
  const [query, set] = useQuery();
  const ticked = (query.tick ?? '').split(',').filter(Boolean);
  /** @type {(id: string) => void} */
  const tick = (id) =>
    set({
      tick: (ticked.includes(id) ? ticked.filter((t) => t !== id) : [...ticked, id].slice(-2)).join(','),
    });
  const { branch, platform, after } = query;
  const data = useData('/api/v1/runs', { limit: 50, branch, platform, after });
  const compare = () => {
    const [a, b] = [...ticked].sort((x, y) => Number(x) - Number(y));
    go(`/compare/${a}/${b}`);
  };
  useKeys(ticked.length === 2 ? { Enter: ['compare the two', compare] } : {});
  return (
    <Page
      title="Runs"
      lead="Each run captured its cases anew. A finished run never changes."
      actions={
        <button disabled={ticked.length !== 2} onClick={compare}>
          Compare{' '}
          {ticked.length === 2 ? [...ticked].sort((x, y) => Number(x) - Number(y)).join(' with ') : 'two'}
        </button>
      }
    >
      {data.data && <Filters runs={data.data.runs} query={query} set={set} />}
      <Loaded from={data}>
        {(found) =>
          found.runs.length === 0 && (query.branch || query.platform || query.after) ? (
            <Empty title="No run fits">
              <p>
                {query.after ? (
                  <button onClick={() => set({ after: null })}>newest</button>
                ) : (
                  'Change the filters above.'
                )}
              </p>
            </Empty>
          ) : found.runs.length === 0 ? (
            <Empty title="No run yet">
              <p>Start one, and it appears here while it runs:</p>
              <p>
                <Command>twinstack run</Command>
              </p>
            </Empty>
          ) : (
            <>
              <List runs={found.runs} ticked={ticked} tick={tick} baseline={found.baseline} />
              <CountsLegend of={found.runs.map((run) => run.verdicts)} />
              <p class="pager dim flow middle">
                {plural(found.total, 'run')}{' '}
                {offline && found.left_out !== undefined && found.left_out > 0 && (
                  <span data-carrier>
                    · this file lists the newest {number(offline.runs)} of {number(offline.runs_total)} runs
                  </span>
                )}{' '}
                {query.after && <button onClick={() => set({ after: null })}>newest</button>}{' '}
                {found.next && <button onClick={() => set({ after: found.next }, false)}>older</button>}
              </p>
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
