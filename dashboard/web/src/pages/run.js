// One run: what ran where, how each engine did, and the grid of cases.
import { useState } from 'preact/hooks';
import { send, token, useData } from '../api.js';
import { useQuery } from '../router.js';
import {
  Chip,
  CountsBar,
  Empty,
  Link,
  Loaded,
  Page,
  Select,
  Verdict,
  casePath,
  duration,
  failing,
  number,
  percent,
  verdicts,
  when,
  wrongness,
} from '../ui.js';
import { Causes } from './overview.js';

function Engines({ rows: all }) {
  const rows = all.filter((e) => e.stacks > 0 || e.subject);
  const silent = all.filter((e) => !rows.includes(e));
  return (
    <>
      <div class="scroll" tabindex={0} role="region" aria-label="Engines">
        <table class="list engines">
          <thead>
            <tr>
              <th>engine</th>
              <th class="num">exact</th>
              <th class="num">precision</th>
              <th class="num">recall</th>
              <th class="num">inline</th>
              <th class="num">lines</th>
              <th class="num">physical</th>
              <th class="num">stacks</th>
              <th>shares</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((e) => (
              <tr key={e.engine}>
                <td class="mono">
                  {e.engine}{' '}
                  {e.subject ? (
                    <Chip kind="subject" title="decides verdict and exit code">
                      under test
                    </Chip>
                  ) : null}
                </td>
                <td class="num strong">{percent(e.exact, e.judged)}</td>
                <td class="num">{percent(e.right_frames, e.own_frames)}</td>
                <td class="num">{percent(e.right_frames, e.truth_frames)}</td>
                <td class="num">{percent(e.inline_right, e.inline_demanded)}</td>
                <td class="num">{percent(e.lines_right, e.lines_judged)}</td>
                <td class="num">{percent(e.physical_same, e.physical_judged)}</td>
                <td class="num">{number(e.stacks)}</td>
                <td class="dim small shares">{e.shares ?? 'nothing of ours'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {silent.length > 0 && (
        <p class="dim small silent">
          Not asked:{' '}
          {silent.map((e, i) => (
            <>
              {i ? '; ' : ''}
              <span class="mono">{e.engine}</span>
              {e.skip_reason ? ` (${e.skip_reason})` : ''}
            </>
          ))}
          .
        </p>
      )}
    </>
  );
}

function mark(score) {
  if (!score || (score.state !== 'ok' && score.state !== 'failed'))
    return ['·', 'none', score?.reason ?? score?.state ?? 'no stack'];
  if (score.state === 'failed') return ['⚠', 'error', score.reason ?? 'failed'];
  if (!score.judged) return ['○', 'none', 'nothing to compare it with'];
  if (score.exact) return ['✓', 'pass', 'every own frame right'];
  return [
    '✗',
    'fail',
    `${wrongness(score)}${score.first_divergence !== null ? `, first in row ${score.first_divergence}` : ''}`,
  ];
}

// Of repeats the one that fails, if one does.
function Cell({ run, found, engines }) {
  const c = found.find((each) => failing(each.verdict)) ?? found[0];
  return (
    <td class="gridcell">
      <Link to={casePath(run, c)} title={c.reason}>
        <Verdict word={c.verdict} />
        <span class="ticks">
          {engines.map((name) => {
            const [glyph, kind, why] = mark(c.scores.find((score) => score.engine === name));
            return (
              <span key={name} class={`tick t-${kind}`} title={`${name}: ${why}`}>
                <span aria-hidden="true">{glyph}</span>
                <span class="sr">
                  {name} {why}
                </span>
              </span>
            );
          })}
        </span>
        {found.length > 1 && <span class="dim small">×{found.length}</span>}
      </Link>
    </td>
  );
}

const kinds = [
  ['crash', 'Crashes'],
  ['hang', 'Hangs'],
  ['calm', 'Calm'],
];

function Grid({ run, cases, engines }) {
  const variants = [...new Set(cases.map((c) => c.variant))].sort();
  const names = engines.map((e) => e.engine);
  const group = (kind) => {
    const rows = new Map();
    for (const c of cases.filter((each) => (each.kind ?? 'crash') === kind)) {
      if (!rows.has(c.scenario)) rows.set(c.scenario, new Map());
      const cell = rows.get(c.scenario);
      cell.set(c.variant, [...(cell.get(c.variant) ?? []), c]);
    }
    return rows;
  };
  return (
    <>
      <p class="legend">
        <span>Each cell: the verdict, then one mark per engine</span>
        <span>
          <b class="good">✓</b> every own frame right
        </span>
        <span>
          <b class="wrong">✗</b> not
        </span>
        <span>○ nothing to compare it with</span>
        <span>· no stack</span>
      </p>
      <div class="scroll" tabindex={0} role="region" aria-label="Cases">
        <table class="grid">
          <thead>
            <tr>
              <th>scenario</th>
              {variants.map((v) => (
                <th key={v}>
                  {v}
                  <span class="heads" aria-hidden="true">
                    <span class="upright">verdict</span>
                    <span class="ticks">
                      {names.map((name) => (
                        <span key={name} class="upright">
                          {name}
                        </span>
                      ))}
                    </span>
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          {kinds.map(([kind, title]) => {
            const rows = group(kind);
            return (
              rows.size > 0 && (
                <tbody key={kind}>
                  <tr class="group">
                    <th colspan={variants.length + 1} scope="colgroup">
                      {title} <span class="dim">{rows.size}</span>
                    </th>
                  </tr>
                  {[...rows].map(([scenario, byVariant]) => (
                    <tr key={scenario}>
                      <th scope="row" class="mono">
                        {scenario}
                      </th>
                      {variants.map((v) => {
                        const found = byVariant.get(v);
                        return found ? (
                          <Cell key={v} run={run} found={found} engines={names} />
                        ) : (
                          <td key={v} class="gridcell none">
                            –
                          </td>
                        );
                      })}
                    </tr>
                  ))}
                </tbody>
              )
            );
          })}
        </table>
      </div>
    </>
  );
}

function Environment({ run }) {
  const rows = [
    ['platform', run.platform],
    ['compiler', run.compiler],
    ['flags', run.flags],
    ['processor', run.cpu],
    ['command', run.command],
    ...(run.tools ?? []).map((t) => [t.name, t.version]),
    ...(run.environment ?? []).map((t) => [t.name, t.version]),
  ].filter(([, value]) => value);
  return (
    <details class="env">
      <summary>Where it ran</summary>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="mono">{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function Cases({ run, engines }) {
  const [query, set] = useQuery();
  const { verdict, variant, kind, cause, search, after } = query;
  const filters = { verdict, variant, kind, cause, search, after };
  const data = useData('/api/v1/runs/{run}/cases', { run, limit: 200, ...filters });
  const shown = engines.filter((e) => e.stacks > 0);
  return (
    <>
      <div class="filters">
        <label class="field">
          <span>search</span>
          <input
            type="search"
            value={query.search ?? ''}
            placeholder="scenario.variant"
            onInput={(event) => set({ search: event.currentTarget.value, after: null })}
          />
        </label>
        <Select
          label="verdict"
          value={query.verdict}
          options={Object.keys(verdicts).map((v) =>
            v === 'NOT_CAPTURED_AS_EXPECTED' ? 'NOT-CAPTURED-AS-EXPECTED' : v,
          )}
          onChange={(word) => set({ verdict: word, after: null })}
        />
        <Select
          label="kind"
          value={query.kind}
          options={['crash', 'hang', 'calm']}
          onChange={(word) => set({ kind: word, after: null })}
        />
      </div>
      <Loaded from={data}>
        {(found) =>
          found.cases.length === 0 ? (
            <Empty title="No case fits">
              <p>Loosen the filters above.</p>
            </Empty>
          ) : (
            <>
              <Grid run={run} cases={found.cases} engines={shown} />
              <p class="pager dim">
                {number(found.cases.length)} of {number(found.total)} cases{' '}
                {found.left_out ? (
                  <span data-carrier>· {number(found.left_out)} more are not in this file</span>
                ) : null}{' '}
                {query.after && <button onClick={() => set({ after: null })}>first</button>}{' '}
                {found.next && <button onClick={() => set({ after: found.next }, false)}>next</button>}
              </p>
            </>
          )
        }
      </Loaded>
    </>
  );
}

// What fails and why: cases that fail alike share an entry.
function Failing({ groups, run }) {
  if (groups.length === 0) return null;
  const words = Object.keys(run.verdicts).filter((word) => failing(word));
  const all = words.reduce((sum, word) => sum + run.verdicts[word], 0);
  const left = all - groups.reduce((sum, group) => sum + group.cases, 0);
  return (
    <>
      <h2 class="section">What fails, and why</h2>
      <ul class="panel lines failing">
        {groups.map((group) => (
          <li key={group.names}>
            <Verdict word={group.verdict} /> <span class="mono">{group.names}</span>{' '}
            <span class="dim">{group.reason}</span>
            {group.right ? ` · right: ${group.right}` : ''}
            {group.command ? (
              <>
                {' · more: '}
                <code>{group.command}</code>
              </>
            ) : null}
          </li>
        ))}
        {left > 0 ? (
          <li>
            <Link to={`/runs/${run.id}/mismatches`}>and {number(left)} more cases</Link>
          </li>
        ) : null}
      </ul>
    </>
  );
}

function Headline({ times }) {
  if (times.cases === 0) return null;
  const ways = [
    [`dump way (${times.foreign_engine?.split(':')[1]})`, times.foreign_ms],
    ['dump way (ours)', times.dump_ms],
    ['offset way', times.offset_ms],
  ].filter(([, ms]) => ms !== null);
  return (
    <p class="lead">
      {ways.map(([name]) => name).join(' : ')} ={' '}
      <strong>{ways.map(([, ms]) => duration(ms * 1e6)).join(' : ')}</strong>{' '}
      <span class="dim">one stack on the back end, cold start; medians of {number(times.cases)} cases</span>
    </p>
  );
}

function NotShown({ groups }) {
  if (groups.length === 0) return null;
  return (
    <>
      <h2 class="section">Not shown here</h2>
      <ul class="panel lines">
        {groups.map((group) => (
          <li key={group.reason} title={group.names}>
            <Verdict word="UNSUPPORTED" /> {number(group.cases)} {group.cases === 1 ? 'case' : 'cases'}{' '}
            <span class="dim">{group.reason}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Shown({ data }) {
  const { run } = data;
  return (
    <>
      <section class="strip">
        <div class="dim">
          {when(run.started_ns)} UTC · {run.state}
          {run.finished_ns ? ` · took ${duration(run.finished_ns - run.started_ns)}` : ''}
          {run.commit ? ` · ${run.commit.slice(0, 10)}` : ''}
        </div>
        <CountsBar verdicts={run.verdicts} total={run.case_count} />
      </section>
      <Failing groups={data.failing} run={run} />
      <h2 class="section">Engines against the truth</h2>
      <Engines rows={data.engines} />
      <Headline times={data.headline} />
      <NotShown groups={data.not_shown} />
      <h2 class="section">Cases</h2>
      <Cases run={run.id} engines={data.engines} />
      <h2 class="section">Causes of differences</h2>
      <Causes rows={data.causes} run={run.id} />
      <Environment run={run} />
    </>
  );
}

// Only where the server writes: its start address then carried a token.
function SetBaseline({ run }) {
  const [said, say] = useState('');
  if (!token) return null;
  const put = () =>
    send('PUT', '/api/v1/baseline', { body: JSON.stringify({ run }) }).then(
      () => say('is the baseline now'),
      (error) => say(error.message),
    );
  return said ? (
    <span class="dim" role="status">
      {said}
    </span>
  ) : (
    <button onClick={put}>Make it the baseline</button>
  );
}

/** @param {{run: string}} props */
export function Run({ run }) {
  const data = useData('/api/v1/runs/{run}', { run });
  return (
    <Page
      title={`Run ${data.data?.run.id ?? run}`}
      lead={data.data?.run.platform}
      actions={
        <>
          {data.data && <SetBaseline run={data.data.run.id} />}{' '}
          <Link class="button" to={`/runs/${run}/mismatches`}>
            Mismatches
          </Link>
        </>
      }
    >
      <Loaded from={data}>{(found) => <Shown data={found} />}</Loaded>
    </Page>
  );
}
