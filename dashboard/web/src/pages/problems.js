// Head problems: the signatures of all reports of programs in the field, most frequent first.
import { useData } from '../api.js';
import { useQuery } from '../router.js';
import { Chip, duration, Empty, Field, Loaded, number, Page, percent, plural, Table, words } from '../ui.js';

const AGAIN_MS = 3000;

/** @typedef {import('openapi').Answers['/api/v1/problems']['problems'][number]} Row */

/** @typedef {import('openapi').Answers['/api/v1/problems']['shadow']} Shadow */

/**
 * 2026-11-22T08:15:00Z as 2026-11-22 08:15; of an hour, 2026-11-22T08, as 2026-11-22 08 h.
 * @param {string | null} time
 */
const minute = (time) =>
  (time ?? '').replace(
    /^(\d{4}-\d\d-\d\d)T(\d\d)(:\d\d)?.*$/,
    (_, day, hour, rest) => `${day} ${hour}${rest ?? ' h'}`,
  );

/**
 * A bar for each hour, as high as its SHARE of 1; LABEL says it in words.
 * @param {{bars: {hour: string, share: number, title: string}[], label: string}} props
 */
function Bars({ bars, label }) {
  const width = 4;
  return (
    <svg class="sparkline" role="img" width={width * Math.max(1, bars.length)} height={20} aria-label={label}>
      {bars.map((bar, i) => {
        const height = Math.max(1, Math.round(20 * bar.share));
        return (
          <rect
            key={bar.hour}
            x={i * width}
            y={20 - height}
            width={width - 1}
            height={height}
            fill="currentColor"
          >
            <title>{`${bar.hour}: ${bar.title}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

/**
 * The counts of the last hours.
 * @param {{hours: Row['hours']}} props
 */
function Trend({ hours }) {
  const most = Math.max(1, ...hours.map((h) => h.count));
  const last = hours[hours.length - 1];
  const bars = hours.map((h) => ({ hour: h.hour, share: h.count / most, title: number(h.count) }));
  return <Bars bars={bars} label={last ? `${number(last.count)} in the hour ${last.hour} UTC` : 'no hour'} />;
}

/**
 * The share of sampled reports in which an engine agrees, by hour.
 * @param {{engine: Shadow['engines'][number]}} props
 */
function Agreement({ engine }) {
  const last = engine.hours[engine.hours.length - 1];
  /** @param {Shadow['engines'][number]['hours'][number]} h */
  const title = (h) => `${number(h.agreed)} of ${number(h.judged)}`;
  const bars = engine.hours.map((h) => ({
    hour: h.hour,
    share: h.agreed / Math.max(1, h.judged),
    title: title(h),
  }));
  return <Bars bars={bars} label={last ? `${title(last)} in the hour ${last.hour} UTC` : 'no hour'} />;
}

/** @param {{shadow: Shadow}} props */
function ShadowTables({ shadow }) {
  if (shadow.reports === 0) return null;
  return (
    <section>
      <h2 class="section">Dump and offsets of sampled reports</h2>
      <p class="legend">
        Judged without a truth, of reports that have a record and a dump: {plural(shadow.reports, 'report')},
        of which {shadow.verdicts.map((v) => `${number(v.count)} ${words(v.verdict)}`).join(', ')}.
      </p>
      <Table label="Agreement of engines" kind="list stacking">
        <thead>
          <tr>
            <th>engine</th>
            <th>compared with</th>
            <th class="num">agrees</th>
            <th class="num">differs</th>
            <th class="num">failed</th>
            <th class="num">median time</th>
            <th>last hours</th>
          </tr>
        </thead>
        <tbody>
          {shadow.engines.map((e) => (
            <tr key={e.engine}>
              <td class="mono">{e.engine}</td>
              <td data-label="compared with">
                {e.against ?? <span class="dim">the others are compared with it</span>}
              </td>
              <td class="num strong" data-label="agrees">
                {e.against ? percent(e.same, e.same + e.differs + e.failed) : '–'}
              </td>
              <td class="num" data-label="differs">
                {number(e.differs)}
              </td>
              <td class="num" data-label="failed">
                {number(e.failed)}
              </td>
              <td class="num" data-label="median time">
                {e.median_ns > 0 ? duration(e.median_ns) : '–'}
              </td>
              <td data-label="last hours">
                <Agreement engine={e} />
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
      {shadow.causes.length > 0 && (
        <>
          <h2 class="section">Why they differ</h2>
          <Table label="Causes of differences" kind="list stacking">
            <thead>
              <tr>
                <th class="num">reports</th>
                <th>engine</th>
                <th>cause</th>
                <th>module</th>
                <th>first and last seen</th>
                <th>newest report</th>
              </tr>
            </thead>
            <tbody>
              {shadow.causes.map((c) => (
                <tr key={`${c.engine} ${c.result} ${c.cause} ${c.module}`}>
                  <td class="num strong" data-label="reports">
                    {number(c.count)}
                  </td>
                  <td class="mono" data-label="engine">
                    {c.engine}
                  </td>
                  <td data-label="cause" class="wrap">
                    {c.result === 'failed' ? `failed: ${c.cause}` : words(c.cause)}
                  </td>
                  <td class="mono wrap" data-label="module">
                    {c.module ?? <span class="dim">unknown</span>}
                  </td>
                  <td class="nowrap" data-label="seen">
                    {minute(c.first_hour)} <br />
                    <span>to {minute(c.last_hour)}</span>
                  </td>
                  <td class="mono wrap" data-label="newest report">
                    {c.report}
                  </td>
                </tr>
              ))}
            </tbody>
          </Table>
        </>
      )}
    </section>
  );
}

/** @param {{row: Row, stacks: number, key: string}} props */
function Problem({ row, stacks }) {
  return (
    <tr>
      <td class="num" data-label="rank">
        {row.rank}
      </td>
      <td class="num strong" data-label="stacks">
        {number(row.count)}
        <br />
        <span class="dim small">{percent(row.count, stacks)}</span>
      </td>
      <td>
        <span class="mono wrap">{row.signature}</span> {row.new && <Chip>new</Chip>}
        {row.example && (
          <details>
            <summary>one of its stacks</summary>
            <pre class="mono wrap">{row.example}</pre>
          </details>
        )}
      </td>
      <td data-label="versions">{row.versions ?? <span class="dim">not stated</span>}</td>
      <td class="nowrap" data-label="seen">
        {minute(row.first_seen)} <br />
        <span>to {minute(row.last_seen)}</span>
      </td>
      <td data-label="last hours">
        <Trend hours={row.hours} />
      </td>
      <td class="nowrap" data-label="dump agrees">
        {row.judged > 0 ? (
          `${number(row.agreed)} of ${number(row.judged)}`
        ) : (
          <span class="dim">not sampled</span>
        )}
      </td>
    </tr>
  );
}

export function Problems() {
  const [query, setQuery] = useQuery();
  const { version, baseline, limit } = query;
  const data = useData('/api/v1/problems', { version, baseline, limit }, AGAIN_MS);
  return (
    <Page title="Head problems" lead="What programs in the field report, most frequent first.">
      <div class="filters">
        <Field label="new since">
          <input
            type="date"
            value={query.baseline ?? ''}
            onChange={(event) => setQuery({ baseline: event.currentTarget.value || undefined })}
          />
        </Field>
        <Field label="version">
          <input
            type="search"
            value={query.version ?? ''}
            placeholder="any"
            onChange={(event) => setQuery({ version: event.currentTarget.value || undefined })}
          />
        </Field>
      </div>
      <Loaded from={data}>
        {(found) =>
          found.problems.length === 0 ? (
            <Empty
              title={query.version ? `No report of version ${query.version}` : 'No report was counted yet'}
            >
              <p>
                Reports come in with <code>twinstack serve --collect</code>; they are counted by{' '}
                <code>twinstack worker</code> and <code>twinstack reduce</code>.
              </p>
            </Empty>
          ) : (
            <>
              <p class="legend">
                {plural(found.stacks, 'stack')} in {plural(found.reports, 'report')},{' '}
                {plural(found.total, 'signature')}
                {found.problems.length < found.total &&
                  `, the ${number(found.problems.length)} most frequent of which are listed`}
                ; times in UTC.
              </p>
              <Table label="Head problems" kind="list stacking">
                <thead>
                  <tr>
                    <th class="num">rank</th>
                    <th class="num">stacks</th>
                    <th>signature</th>
                    <th>versions</th>
                    <th>first and last seen</th>
                    <th>last hours</th>
                    <th>dump agrees</th>
                  </tr>
                </thead>
                <tbody>
                  {found.problems.map((row) => (
                    <Problem key={row.signature} row={row} stacks={found.stacks} />
                  ))}
                </tbody>
              </Table>
              <ShadowTables shadow={found.shadow} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
