// What this program is made of, and its API.
import licences from 'virtual:licences';
import { useEffect, useState } from 'preact/hooks';
import { offline, readText, useData } from '../api.js';
import { href } from '../router.js';
import { Table } from '../table.js';
import { Chip, Command, Link, Loaded, Page, number, plural } from '../ui.js';

// What `report --html` put into the file, and what it did not.
function Held() {
  const { run, cases, cases_total, runs, runs_total, compared } =
    /** @type {import('../carried.js').Offline} */ (offline);
  /** @type {(part: number, whole: number, what: string) => string} */
  const some = (part, whole, what) =>
    part < whole ? `${number(part)} of ${number(whole)} ${what}s` : plural(whole, what);
  return (
    <div data-carrier class="held">
      <h2 class="section">What this file holds</h2>
      <ul class="lines">
        <li>
          <Link to={`/runs/${run}`}>Run {run}</Link>: {some(cases, cases_total, 'case')} with their stacks,
          sources and history
        </li>
        <li>
          {runs < runs_total
            ? `the newest ${number(runs)} of ${number(runs_total)} runs`
            : plural(runs_total, 'run')}{' '}
          as <Link to="/runs">a list</Link>
        </li>
        <li>
          {compared.length > 0 ? (
            <>
              comparisons, both ways, with {plural(compared.length, 'run')}:{' '}
              {[...compared]
                .sort((a, b) => b - a)
                .map((other, i) => (
                  <>
                    {i ? ', ' : ''}
                    <Link to={`/compare/${other}/${run}`}>{other}</Link>
                  </>
                ))}
            </>
          ) : (
            'no other run to compare with'
          )}
        </li>
      </ul>
      <p>
        It needs no server and fetches nothing. Where the database is, <Command>twinstack serve</Command>{' '}
        shows all of it.
      </p>
    </div>
  );
}

export function About() {
  return (
    <Page
      title="About"
      lead={
        `twinstack ${TWINSTACK_VERSION}: captures every Windows crash twice, by dump and by offsets, ` +
        'and reports which one is right.'
      }
    >
      <p>
        <Link to="/glossary">The glossary</Link> explains the words of these pages. twinstack is under the MIT
        licence.{' '}
        {!offline && (
          <span data-carrier>
            These pages are served from the program itself: no file of the disk is read, and nothing is
            fetched from elsewhere.
          </span>
        )}
      </p>
      {offline && <Held />}
      <h2 class="section">Parts of these pages</h2>
      {licences.map((part) => (
        <details key={part.name} class="env">
          <summary>
            {part.name} {part.version} <Chip>{part.licence}</Chip>
          </summary>
          <pre tabindex={0}>{part.text}</pre>
        </details>
      ))}
    </Page>
  );
}

// On a server it is an address; an offline file gives out what it holds.
function Description() {
  const path = '/api/v1/openapi.json';
  const [text, set] = useState(/** @type {string | null} */ (null));
  useEffect(() => {
    if (offline) readText(path).then(set, () => {});
  }, []);
  const to = offline ? `data:application/json,${encodeURIComponent(text ?? '')}` : href(path);
  return (
    <a class="button" href={to} download={offline ? 'openapi.json' : undefined} data-plain data-carrier>
      openapi.json
    </a>
  );
}

export function Api() {
  const data = useData('/api/v1/endpoints');
  return (
    <Page
      title="API"
      lead="Everything that these pages show is also available as data."
      actions={<Description />}
    >
      {offline && (
        <p data-carrier>
          This file has no server: these addresses answer where <Command>twinstack serve</Command> runs.
        </p>
      )}
      <p>
        Answers are <code>{'{"data": …, "meta": …}'}</code>, errors{' '}
        <code>{'{"error": {"key", "message", "hint"}}'}</code>. Addresses are hex strings. Lists come in
        pages: <code>next</code> goes into <code>after</code>, <code>total</code> counts all pages.
      </p>
      <Loaded from={data}>
        {(rows) => (
          <Table
            label="Endpoints"
            kind="list stacking"
            rows={rows}
            columns={[
              { head: 'method', cell: (row) => row.method, kind: 'mono' },
              { head: 'path', cell: (row) => row.path, kind: 'mono wrap', label: '' },
              {
                head: 'what',
                cell: (row) => [row.summary, row.needs_write && [' ', <Chip>--allow-write</Chip>]],
                kind: 'dim',
                label: '',
              },
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}
