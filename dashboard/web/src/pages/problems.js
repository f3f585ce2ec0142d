// Head problems: the signatures of all reports of programs in the field, most frequent first.
import { useData } from '../api.js';
import { useQuery } from '../router.js';
import { Chip, Empty, Loaded, number, Page, percent } from '../ui.js';

/** @typedef {import('openapi').Answers['/api/v1/problems']['problems'][number]} Row */

/**
 * The counts of the last hours as a line of bars, in words for a reader of the screen.
 * @param {{hours: Row['hours']}} props
 */
function Trend({ hours }) {
  const most = Math.max(1, ...hours.map((h) => h.count));
  const last = hours[hours.length - 1];
  const width = 4;
  return (
    <svg
      class="sparkline"
      role="img"
      width={width * Math.max(1, hours.length)}
      height={20}
      aria-label={last ? `${number(last.count)} in the hour ${last.hour} UTC` : 'no hour'}
    >
      {hours.map((h, i) => {
        const height = Math.max(1, Math.round((20 * h.count) / most));
        return (
          <rect
            key={h.hour}
            x={i * width}
            y={20 - height}
            width={width - 1}
            height={height}
            fill="currentColor"
          >
            <title>{`${h.hour}: ${number(h.count)}`}</title>
          </rect>
        );
      })}
    </svg>
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
        {row.first_seen}
        <br />
        {row.last_seen}
      </td>
      <td data-label="last hours">
        <Trend hours={row.hours} />
      </td>
    </tr>
  );
}

export function Problems() {
  const [query] = useQuery();
  const data = useData('/api/v1/problems', {
    version: query.version,
    baseline: query.baseline,
    limit: query.limit,
  });
  return (
    <Page title="Head problems" lead="What programs in the field report, most frequent first.">
      <Loaded from={data}>
        {(found) =>
          found.problems.length === 0 ? (
            <Empty title="No report was counted yet">
              <p>
                Reports come in with <code>twinstack serve --collect</code>; they are counted by{' '}
                <code>twinstack worker</code> and <code>twinstack reduce</code>.
              </p>
            </Empty>
          ) : (
            <>
              <p>
                {number(found.stacks)} stacks in {number(found.reports)} reports, {number(found.total)}{' '}
                signatures; hours in UTC.
              </p>
              <div class="scroll" tabindex={0} role="region" aria-label="Head problems">
                <table class="list stacking">
                  <thead>
                    <tr>
                      <th class="num">rank</th>
                      <th class="num">stacks</th>
                      <th>signature</th>
                      <th>versions</th>
                      <th>first and last seen</th>
                      <th>last hours</th>
                    </tr>
                  </thead>
                  <tbody>
                    {found.problems.map((row) => (
                      <Problem key={row.signature} row={row} stacks={found.stacks} />
                    ))}
                  </tbody>
                </table>
              </div>
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
