// What each way costs.  Every case is a dot, on a log scale; stages below.
import { useMemo } from 'preact/hooks';
import { useData } from '../api.js';
import { useQuery } from '../router.js';
import { Plot, axis, logAxis } from '../uplot.js';
import { Empty, Loaded, Page, bytes, duration, html, number } from '../ui.js';

const median = (values) => { const s = values.filter((v) => v > 0).sort((a, b) => a - b); return s.length ? s[Math.floor((s.length - 1) / 2)] : null; };
const hue = (engine) => (engine === 'dump' ? 'dump' : engine === 'offset:rtl' ? 'offset' : engine.startsWith('judge') ? 'judge' : 'other');

const stages = [['open_ns', 'open and parse'], ['load_ns', 'load symbols'], ['unwind_ns', 'unwind'], ['resolve_ns', 'resolve']];

function Dots({ costs, x, of, engines, xlabel }) {
  const { data, options } = useMemo(() => {
    const rows = costs.filter((c) => engines.includes(c.engine) && c[of] > 0);
    const key = (c) => `${c.scenario}.${c.variant}`;
    const cases = [...new Set(rows.map(key))].sort();
    const at = new Map(cases.map((name, i) => [name, i + 1]));
    const sorted = rows.map((c) => [x === 'frames' ? c.frames : at.get(key(c)), c]).sort((a, b) => a[0] - b[0]);
    const xs = sorted.map(([value]) => value);
    return {
      data: [xs, ...engines.map((engine) => sorted.map(([, c]) => (c.engine === engine ? c[of] : null)))],
      options: (paint) => ({ scales: { x: { time: false, ...(x === 'frames' ? { distr: 3 } : {}) }, y: { distr: 3 } }, legend: { live: false }, cursor: { points: { show: false } }, padding: [10, 26, 0, 0],
        axes: [x === 'frames' ? logAxis(paint, { label: xlabel, size: 32 }) : axis(paint, { label: xlabel, size: 12, values: () => [], grid: { show: false }, ticks: { show: false } }), logAxis(paint, { size: 62, values: (_, ticks) => ticks.map((t) => (t && Math.log10(t) % 1 < 1e-9 ? duration(t) : '')) })],
        series: [{}, ...engines.map((engine) => ({ label: engine, stroke: paint(hue(engine)), fill: paint(hue(engine)), paths: () => null, points: { show: true, size: 5, fill: paint(hue(engine)), width: 0 } }))] }),
    };
  }, [costs, x, of, engines.join()]);
  return html`<${Plot} data=${data} options=${options} height=${280} label=${`${engines.join(' and ')}: one dot a case, log scale`} />`;
}

function Stages({ costs, engines }) {
  const rows = engines.map((engine) => {
    const mine = costs.filter((c) => c.engine === engine);
    return { engine, parts: stages.map(([key, name]) => [name, median(mine.map((c) => c[key])) ?? 0]), total: median(mine.map((c) => c.total_ns)) ?? 0, count: mine.length };
  }).filter((row) => row.total > 0);
  const most = Math.max(...rows.map((row) => Math.max(row.total, row.parts.reduce((sum, [, v]) => sum + v, 0))));
  return html`<div class="stagelist">${rows.map((row) => html`<div class="stage" key=${row.engine}><span class="mono">${row.engine}</span>
      <span class="stack" role="img" aria-label=${row.parts.map(([name, v]) => `${name} ${duration(v)}`).join(', ')}>${row.parts.map(([name, v], i) => v > 0 && html`<span key=${name} class=${`seg seg-${i}`} title=${`${name}: ${duration(v)}`} style=${{ width: `${(100 * v) / most}%` }}></span>`)}</span>
      <span class="num">${duration(row.total)}</span><span class="dim num">n ${number(row.count)}</span></div>`)}</div>
    <p class="legend">${stages.map(([, name], i) => html`<span key=${name}><i class=${`seg-${i}`}></i>${name}</span>`)}<span class="dim">medians; bar lengths are linear</span></p>`;
}

function InProcess({ costs }) {
  const seen = new Map(costs.map((c) => [`${c.scenario}.${c.variant}`, c]));
  const rows = [['Walk (rtl)', 'walk_ns', duration], ['Record on disk', 'record_write_ns', duration], ['Dump written', 'dump_write_ns', duration],
    ['Stood still to the last frame', 'stop_walk_ns', duration], ['Stood still to the end of the dump', 'stop_dump_ns', duration], ['Tuned dump written', 'dump_tuned_ns', duration], ['Record', 'record_bytes', bytes], ['Dump', 'dump_bytes', bytes], ['Tuned dump', 'dump_tuned_bytes', bytes]]
    .filter(([, key]) => costs.some((c) => c[key] !== undefined))
    .map(([name, key, show]) => { const values = [...seen.values()].map((c) => c[key]).filter((v) => v > 0).sort((a, b) => a - b); return { name, show, values }; });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="In the dying process"><table class="list"><thead><tr><th>in the dying process</th><th class="num">smallest</th><th class="num">median</th><th class="num">largest</th><th class="num">cases</th></tr></thead><tbody>
    ${rows.map((row) => html`<tr key=${row.name}><td>${row.name}</td>${row.values.length === 0 ? html`<td class="dim num" colspan="3">not measured</td><td class="num">0</td>` : html`<td class="num">${row.show(row.values[0])}</td><td class="num strong">${row.show(median(row.values))}</td><td class="num">${row.show(row.values[row.values.length - 1])}</td><td class="num dim">${number(row.values.length)}</td>`}</tr>`)}</tbody></table></div>`;
}

function Samples({ samples }) {
  const groups = new Map();
  for (const s of samples) {
    const key = `${s.subject} · ${s.stage} · ${s.cold ? 'cold' : 'warm'}`;
    groups.set(key, [...(groups.get(key) ?? []), s.ns]);
  }
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Bench"><table class="list"><thead><tr><th>bench</th><th class="num">median</th><th>every sample</th><th class="num">n</th></tr></thead><tbody>${[...groups].map(([name, values]) => {
    const low = Math.log10(Math.min(...samples.map((s) => s.ns)));
    const high = Math.log10(Math.max(...samples.map((s) => s.ns))) + 0.01;
    return html`<tr key=${name}><td class="mono">${name}</td><td class="num strong">${duration(median(values))}</td><td class="wide"><svg class="strip-dots" viewBox="0 0 300 14" preserveAspectRatio="none" role="img" aria-label=${`from ${duration(Math.min(...values))} to ${duration(Math.max(...values))}`}>${values.map((v, i) => html`<circle key=${i} cx=${4 + (292 * (Math.log10(v) - low)) / (high - low)} cy="7" r="2.6" class=${name.startsWith('dump') ? 'dump' : 'offset'} />`)}</svg></td><td class="num dim">${values.length}</td></tr>`;
  })}</tbody></table></div>`;
}

function Shown({ data, query, set }) {
  const all = [...new Set(data.costs.map((c) => c.engine))];
  const wanted = query.engines ? query.engines.split(',').filter((e) => all.includes(e)) : all.filter((e) => e === 'dump' || e === 'offset:rtl');
  const engines = wanted.length ? wanted : all.slice(0, 2);
  if (data.costs.length === 0) return html`<${Empty} title="Nothing was timed"><p>This run has no stack that an engine was timed on.</p></${Empty}>`;
  const dump = median(data.costs.filter((c) => c.engine === 'dump').map((c) => c.total_ns));
  const offset = median(data.costs.filter((c) => c.engine === 'offset:rtl').map((c) => c.total_ns));
  return html`${dump && offset ? html`<p class="headline">From a dump <strong>${duration(dump)}</strong>, from offsets <strong>${duration(offset)}</strong>: the offset way is <strong>${(dump / offset).toFixed(1)}×</strong> ${dump > offset ? 'faster' : 'as slow'} <span class="dim">(medians of all cases)</span>.</p>` : ''}
    <div class="tools"><span class="toggles" role="group" aria-label="Engines">${all.map((e) => html`<button key=${e} class="toggle mono" aria-pressed=${engines.includes(e)} onClick=${() => set({ engines: (engines.includes(e) ? engines.filter((w) => w !== e) : [...engines, e]).join(',') })}>${e}</button>`)}</span></div>
    <div class="plots"><section><h2 class="section">Every case, total</h2><${Dots} costs=${data.costs} of="total_ns" engines=${engines} xlabel="cases, by name" /></section>
    <section><h2 class="section">Frames against time</h2><${Dots} costs=${data.costs} of="total_ns" x="frames" engines=${engines} xlabel="logical frames in the stack" /></section></div>
    <h2 class="section">Stages on the back end</h2><${Stages} costs=${data.costs} engines=${engines} />
    <h2 class="section">Bytes and time there</h2><${InProcess} costs=${data.costs} />
    ${data.samples.length > 0 && html`<h2 class="section">Cold and warm</h2><${Samples} samples=${data.samples} />`}
    ${data.total > data.costs.length && html`<p class="dim">Drawn: ${number(data.costs.length)} of ${number(data.total)}.</p>`}`;
}

export function Timing() {
  const [query, set] = useQuery();
  const data = useData(`/api/v1/timing${query.run ? `?run=${query.run}` : ''}`);
  return html`<${Page} title="Timing" lead=${data.data ? `run ${data.data.run}: dump against offsets, stage by stage` : 'dump against offsets'}><${Loaded} from=${data}>${(found) => html`<${Shown} data=${found} query=${query} set=${set} />`}</${Loaded}></${Page}>`;
}
