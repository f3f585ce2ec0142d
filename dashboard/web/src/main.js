// The shell: rail, page, keys.  See pages/ for what stands inside.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import './uplot.js';
import { follow as followServer, offline, useLive } from './api.js';
import { listKeys, useKeys } from './keys.js';
import { follow, go, match, useAddress } from './router.js';
import { Link, html } from './ui.js';
import { About, Api } from './pages/about.js';
import { CaseHistory } from './pages/history.js';
import { Compare } from './pages/compare.js';
import { Doors, Known, Signatures, Symbols } from './pages/lists.js';
import { Mismatches } from './pages/mismatches.js';
import { Overview } from './pages/overview.js';
import { Resolve } from './pages/resolve.js';
import { Run } from './pages/run.js';
import { Runs } from './pages/runs.js';
import { Timing } from './pages/timing.js';

const routes = [
  ['/', Overview, 'Overview'], ['/runs', Runs, 'Runs'], ['/runs/:run', Run, 'Run'],
  ['/runs/:run/mismatches', Mismatches, 'Mismatches'], ['/runs/:run/mismatches/:name', Mismatches, 'Mismatches'],
  ['/cases/:scenario/:variant', CaseHistory, 'Case'], ['/compare', Compare, 'Compare'],
  ['/compare/:a/:b', Compare, 'Compare'], ['/timing', Timing, 'Timing'], ['/doors', Doors, 'Doors'],
  ['/signatures', Signatures, 'Signatures'], ['/known', Known, 'Known'], ['/symbols', Symbols, 'Symbols'],
  ['/resolve', Resolve, 'Resolve'], ['/api', Api, 'API'], ['/about', About, 'About'],
];

const rail = [['/', 'Overview'], ['/runs', 'Runs'], ['/runs/latest/mismatches', 'Mismatches'], ['/compare', 'Compare'],
  ['/timing', 'Timing'], ['/doors', 'Doors'], ['/signatures', 'Signatures'], ['/known', 'Known'],
  ['/symbols', 'Symbols'], ['/resolve', 'Resolve'], ['/api', 'API'], ['/about', 'About']];

function isHere(path, to) {
  if (to === '/') return path === '/';
  if (to.endsWith('/mismatches')) return path.includes('/mismatches');
  if (to === '/runs') return path === to || (/^\/runs\/[^/]+$/.test(path)) || path.startsWith('/cases/');
  return path === to || path.startsWith(`${to}/`);
}

const liveWords = { starting: 'connecting', live: 'live', polling: 'polling', lost: 'no answer', file: 'offline file' };

function Rail({ path }) {
  const live = useLive();
  useEffect(() => { document.querySelector('.rail [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }); }, [path]);
  return html`<nav class="rail" aria-label="Pages">
    <${Link} to="/" class="brand" aria-label="twinstack, start"><svg viewBox="0 0 32 32" aria-hidden="true"><g fill="none" stroke-width="3.6" stroke-linecap="round"><path class="ink-a" d="M4 8h10M4 16h10M4 24h10"/><path class="ink-b" d="M19 8h9M23 16h5M19 24h9"/></g></svg><span>twinstack</span></${Link}>
    <ul>${rail.map(([to, name]) => html`<li key=${to}><${Link} to=${to} aria-current=${isHere(path, to) ? 'page' : undefined}>${name}</${Link}></li>`)}</ul>
    <p class=${`live live-${live.state}`} role="status"><span class="dot" aria-hidden="true"></span>${liveWords[live.state]}${live.running.length > 0 ? html` · <${Link} to=${`/runs/${live.running[0].id}`}>run ${live.running[0].id} is going</${Link}>` : ''}</p>
    <p class="hint"><kbd>?</kbd> keys</p>
  </nav>`;
}

function Keys({ close }) {
  useKeys({ Escape: ['close this', close], '?': ['show or hide the keys', close] });
  useEffect(() => { document.getElementById('keys')?.focus(); }, []);
  const rows = Object.entries(listKeys());
  return html`<div class="veil" onClick=${close}><div class="sheet" id="keys" role="dialog" aria-modal="true" aria-label="Keys" tabindex="-1" onClick=${(event) => event.stopPropagation()}>
    <h2>Keys</h2><dl>${rows.map(([key, [what]]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl></div></div>`;
}

function App() {
  const { path } = useAddress();
  const [keys, showKeys] = useState(false);
  useKeys({
    '?': ['show or hide the keys', () => showKeys(!keys)],
    '/': ['search', () => document.querySelector('input[type=search]')?.focus()],
    ...Object.fromEntries(rail.slice(0, 9).map(([to, name], i) => [i + 1, [name.toLowerCase(), () => go(to)]])),
    m: ['mismatches', () => go('/runs/latest/mismatches')],
  });
  let page = null;
  for (const [pattern, Part, name] of routes) {
    const params = match(pattern, path);
    if (!params) continue;
    page = html`<${Part} key=${pattern} ...${params} />`;
    document.title = `${[params.name ?? params.scenario ?? (params.run ? `run ${params.run}` : null), name].filter(Boolean).join(' · ')} – twinstack`;
    break;
  }
  return html`<div class="shell" onClick=${follow}>
    <a class="skip" href="#main" data-plain>Skip to the page</a><${Rail} path=${path} />
    <main id="main" tabindex="-1">${page ?? html`<div class="state"><h2>There is no such page</h2><p><${Link} to="/">Back to the start</${Link}></p></div>`}</main>
    ${keys && html`<${Keys} close=${() => showKeys(false)} />`}</div>`;
}

render(html`<${App} />`, document.getElementById('app'));
followServer();
