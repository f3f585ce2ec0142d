// What this is made of, and its API.
import licences from 'virtual:licences';
import { offline, useData } from '../api.js';
import { Chip, Loaded, Page, html } from '../ui.js';

export function About() {
  return html`<${Page} title="About" lead=${`twinstack ${TWINSTACK_VERSION}: takes every Windows crash twice, by dump and by offsets, and says who is right.`}>
    <p>twinstack is under the MIT licence. ${offline ? 'This file holds one run whole: it asks no server and fetches nothing.' : 'These pages are served from the program itself: no file of the disk is read, and nothing is fetched from elsewhere.'}</p>
    <h2 class="section">Parts of these pages</h2>${licences.map((part) => html`<details key=${part.name} class="env"><summary>${part.name} ${part.version} <${Chip}>${part.licence}</${Chip}></summary><pre tabindex="0">${part.text}</pre></details>`)}</${Page}>`;
}

export function Api() {
  const data = useData('/api/v1/endpoints');
  return html`<${Page} title="API" lead="Everything that these pages show is data that you can ask for too."
    actions=${html`<a class="button" href="/api/v1/openapi.json" data-plain>openapi.json</a>`}>
    <p>Answers are <code>{"data": …, "meta": …}</code>, errors <code>{"error": {"key", "message", "hint"}}</code>. Addresses are hex strings. Lists come in pages: <code>next</code> goes into <code>after</code>, <code>total</code> is the true number.</p>
    <${Loaded} from=${data}>${(rows) => html`<div class="scroll" tabindex="0" role="region" aria-label="Endpoints"><table class="list stacking"><thead><tr><th>method</th><th>path</th><th>what</th></tr></thead><tbody>${rows.map((row) => html`<tr key=${row.method + row.path}><td class="mono">${row.method}</td><td class="mono wrap">${row.path}</td><td class="dim">${row.summary} ${row.needs_write ? html`<${Chip}>--allow-write</${Chip}>` : ''}</td></tr>`)}</tbody></table></div>`}</${Loaded}></${Page}>`;
}
