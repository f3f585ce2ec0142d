// Plots.  uPlot draws on a canvas; colours are taken from the page's own variables, so that
// they follow light and dark.
import uPlot from 'uplot';
import { useEffect, useRef } from 'preact/hooks';
import { html } from './ui.js';

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// OPTIONS(colour) and DATA as uPlot takes them; LABEL says the plot in words.
export function Plot({ options, data, label, height = 260 }) {
  const place = useRef(null);
  useEffect(() => {
    const draw = () => new uPlot({ width: place.current.clientWidth, height, ...options(colour) }, data, place.current);
    let plot = draw();
    const redraw = () => { plot.destroy(); plot = draw(); };
    const size = new ResizeObserver(() => plot.setSize({ width: place.current.clientWidth, height }));
    size.observe(place.current);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', redraw);
    return () => { size.disconnect(); dark.removeEventListener('change', redraw); plot.destroy(); };
  }, [data, options, height]);
  return html`<div class="plot" role="img" aria-label=${label} ref=${place}></div>`;
}

export const axis = (paint, more) => ({ stroke: paint('dim'), grid: { stroke: paint('line'), width: 1 },
  ticks: { stroke: paint('line'), width: 1, size: 5 }, font: '11px system-ui, sans-serif', labelFont: '11px system-ui, sans-serif', labelSize: 18, ...more });

// On a log scale only whole decades get a line and a label: the rest is noise.
const decades = (_, splits) => splits.map((v) => (v > 0 && Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9 ? v : null));

export function logAxis(paint, more) {
  const plain = axis(paint, more);
  return { ...plain, filter: decades, grid: { ...plain.grid, filter: decades }, ticks: { ...plain.ticks, filter: decades } };
}
