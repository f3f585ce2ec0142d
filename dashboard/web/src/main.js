// The shell: rail, page, keys.  The pages are in pages/.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { pages } from 'virtual:pages';
import './uplot.js';
import { answered, follow as followServer, isAsking, offline, useLive } from './api.js';
import { listKeys, useKeys } from './keys.js';
import { follow, go, match, useAddress } from './router.js';
import { painted, waitForPaint } from './painted.js';
import { Link } from './ui.js';

const rail = pages.filter((page) => page.rail && !(offline && page.served));
/** @type {(page: typeof pages[number]) => string} */
const target = (page) => page.to ?? page.at;

/** @param {string} path */
function find(path) {
  for (const page of pages) {
    const params = match(page.at, path);
    if (params) return { page, params };
  }
  return null;
}

/** @type {Record<string, string>} */
const liveWords = {
  starting: 'connecting',
  live: 'live',
  polling: 'polling',
  lost: 'no answer',
  file: 'offline file',
};

/** @param {{path: string}} props */
function Rail({ path }) {
  const live = useLive();
  const found = find(path)?.page;
  const here = found?.under ?? found?.at;
  useEffect(() => {
    document.querySelector('.rail [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [path]);
  return (
    <nav class="rail" aria-label="Pages">
      <Link to="/" class="brand" aria-label="twinstack, start">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <g fill="none" stroke-width="3.6" stroke-linecap="round">
            <path class="ink-a" d="M4 8h10M4 16h10M4 24h10" />
            <path class="ink-b" d="M19 8h9M23 16h5M19 24h9" />
          </g>
        </svg>
        <span>twinstack</span>
      </Link>
      <ul>
        {rail.map((page) => (
          <li key={page.at}>
            <Link to={target(page)} aria-current={page.at === here ? 'page' : undefined}>
              {page.rail}
            </Link>
          </li>
        ))}
        {!offline && (
          <li>
            <Link to="/suite" data-plain>
              Suite
            </Link>
          </li>
        )}
      </ul>
      <p class={`live dim small live-${live.state}`} role="status">
        <span class="dot" aria-hidden="true"></span>
        {liveWords[live.state]}
        {live.running.length > 0 ? (
          <>
            {' '}
            · <Link to={`/runs/${live.running[0].id}`}>run {live.running[0].id} is going</Link>
          </>
        ) : null}
      </p>
      <p class="hint dim small">
        <kbd>?</kbd> keys
      </p>
    </nav>
  );
}

/** @param {{close: () => void}} props */
function Keys({ close }) {
  useKeys({ Escape: ['close this', close], '?': ['show or hide the keys', close] });
  useEffect(() => {
    document.getElementById('keys')?.focus();
  }, []);
  const rows = Object.entries(listKeys());
  return (
    <div class="veil" onClick={close}>
      <div
        class="sheet"
        id="keys"
        role="dialog"
        aria-modal="true"
        aria-label="Keys"
        tabindex={-1}
        onClick={(event) => event.stopPropagation()}
      >
        <h2>Keys</h2>
        <dl>
          {rows.map(([key, [what]]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </div>
    </div>
  );
}

// On paper a page has its address and the date, and nothing is folded.
function Printed() {
  const [at, set] = useState(() => new Date());
  useEffect(() => {
    const unfolded = new Set();
    const begin = () => {
      set(new Date());
      for (const part of document.querySelectorAll('details:not([open])')) {
        unfolded.add(part);
        part.setAttribute('open', '');
      }
    };
    const end = () => {
      for (const part of unfolded) part.removeAttribute('open');
      unfolded.clear();
    };
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', begin);
      removeEventListener('afterprint', end);
    };
  }, []);
  return (
    <p class="printed" data-carrier>
      twinstack · {location.href} · printed {at.toISOString().slice(0, 16).replace('T', ' ')} UTC
    </p>
  );
}

function App() {
  const { path } = useAddress();
  const [keys, showKeys] = useState(false);
  useKeys({
    '?': ['show or hide the keys', () => showKeys(!keys)],
    '/': [
      'search',
      () => /** @type {HTMLElement | null} */ (document.querySelector('input[type=search]'))?.focus(),
    ],
    ...Object.fromEntries(
      rail.slice(0, 9).map((page, i) => [i + 1, [page.title.toLowerCase(), () => go(target(page))]]),
    ),
    m: ['mismatches', () => go('/runs/latest/mismatches')],
  });
  const found = find(path);
  const params = found?.params ?? {};
  const subject = params.case ?? params.scenario ?? (params.run ? `run ${params.run}` : null);
  const title = [subject, found?.page.title ?? 'no such page'].filter(Boolean).join(' · ');
  document.title = `${title} – twinstack`;
  const page = found && <found.page.part key={found.page.name} {...params} />;
  return (
    <div class="shell" onClick={follow}>
      <a class="skip" href="#main" data-plain>
        Skip to the page
      </a>
      <Rail path={path} />
      <main id="main" tabindex={-1}>
        <Printed key={path} />
        {page ?? (
          <div class="state">
            <h1>There is no such page</h1>
            <p>
              <Link to="/">Back to the start</Link>
            </p>
          </div>
        )}
      </main>
      {keys && <Keys close={() => showKeys(false)} />}
    </div>
  );
}

const ROUNDS = 4; // a list, the case that it begins with, and what that has

// What is drawn first has its data, because drawing twice takes longer than the data.  So the page is made
// unseen, which asks for what it shows; and again with that, until it asks for nothing more.
async function start() {
  const app = /** @type {HTMLElement} */ (document.getElementById('app'));
  for (let round = 0; round < ROUNDS && !offline; round++) {
    const unseen = document.createElement('div');
    render(<App />, unseen);
    if (!isAsking()) {
      unseen.id = app.id;
      app.replaceWith(unseen);
      return;
    }
    render(null, unseen);
    if (!(await answered())) break;
  }
  render(<App />, app);
}
start().then(waitForPaint);
painted.then(followServer); // the browser works on one thing at a time
