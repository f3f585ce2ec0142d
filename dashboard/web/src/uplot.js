// Plots.  uPlot draws on a canvas; colours are taken from the page's own variables, so that
// they follow light and dark.
import { useEffect, useRef, useState } from 'preact/hooks';
import { go } from './router.js';
import { Link } from './ui.js';

/**
 * @typedef {import('uplot')} Drawn
 * @typedef {typeof import('uplot')} Library
 */

// Its own start takes longer than the rest of a page (it asks for the languages of the browser), so only a
// page with a plot starts it, once the page is seen.
/** @returns {Promise<Library>} */
const loadLibrary = async () => (await import('uplot')).default;

/** @type {Paint} */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
// On paper: black on white whatever the page shows, and lines that differ in their grey.
/** @type {Record<string, string>} */
const greys = { dim: '#333333', line: '#cccccc', dump: '#888888', judge: '#aaaaaa', panel: '#ffffff' };
/** @type {Paint} */
const grey = (name) => greys[name] ?? '#000000';
const REACH = 14; // pixels from the pointer in which a dot is meant

/**
 * @param {Drawn} plot
 * @param {Dot[]} dots
 */
function nearest(plot, dots) {
  const { left = -1, top = -1 } = plot.cursor;
  /** @type {Dot | null} */
  let best = null;
  let least = REACH;
  for (const dot of left >= 0 ? dots : []) {
    const far = Math.hypot(plot.valToPos(dot.x, 'x') - left, plot.valToPos(dot.y, 'y') - top);
    if (far < least) [best, least] = [dot, far];
  }
  return best;
}

/**
 * Draws at once, and anew where the width, the colours or the medium change.
 * @param {HTMLElement} box
 * @param {number} height
 * @param {(paint: Paint) => Drawn} draw
 * @returns {() => void} what takes the plot away
 */
function keepDrawn(box, height, draw) {
  let plot = draw(colour);
  /** @param {Paint} paint */
  const redrawIn = (paint) => {
    plot.destroy();
    plot = draw(paint);
  };
  const redraw = () => redrawIn(colour);
  const print = () => redrawIn(grey);
  const size = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height }));
  size.observe(box);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', redraw);
  addEventListener('beforeprint', print);
  addEventListener('afterprint', redraw);
  return () => {
    size.disconnect();
    dark.removeEventListener('change', redraw);
    removeEventListener('beforeprint', print);
    removeEventListener('afterprint', redraw);
    plot.destroy();
  };
}

/**
 * OPTIONS and DATA as uPlot takes them; LABEL says the plot in words.  Of DOTS, when given, the one under
 * the pointer is named, and opened by a click; WHAT says what a dot is.
 * @typedef {{x: number, y: number, text: string, to: string}} Dot
 * @typedef {Omit<import('uplot').Options, 'width' | 'height'>} PlotOptions
 * @typedef {(name: string) => string} Paint the colour of that name, light or dark as the page is
 * @typedef {{data: (number | null)[][], label: string, height?: number, dots?: Dot[], what?: string}} Plotted
 * @typedef {(paint: Paint, library: Library) => PlotOptions} Options
 * @param {Plotted & {options: Options}} props
 */
export function Plot({ options, data, label, height = 260, dots, what = 'case' }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  const under = useRef(/** @type {Dot | null} */ (null));
  const [near, setNear] = useState(/** @type {Dot | null} */ (null));
  useEffect(() => {
    const box = /** @type {HTMLDivElement} */ (place.current);
    /** @param {Drawn} plot */
    const point = (plot) => {
      under.current = nearest(plot, dots ?? []);
      box.classList.toggle('over', under.current !== null);
      setNear(under.current);
    };
    /** @type {(library: Library) => () => void} */
    const begin = (library) => {
      /** @param {Paint} paint */
      const draw = (paint) => {
        const given = options(paint, library);
        return new library(
          {
            width: box.clientWidth,
            height,
            ...given,
            hooks: { ...given.hooks, ...(dots ? { setCursor: [point] } : {}) },
          },
          /** @type {import('uplot').AlignedData} */ (data),
          box,
        );
      };
      return keepDrawn(box, height, draw);
    };
    let end = () => {};
    let wanted = true;
    loadLibrary().then((library) => {
      if (wanted) end = begin(library);
    });
    const visit = () => under.current && go(under.current.to);
    box.addEventListener('click', visit);
    return () => {
      wanted = false;
      box.removeEventListener('click', visit);
      end();
    };
  }, [data, options, height, dots]);
  return (
    <div class="plot box">
      <div role="img" aria-label={label} ref={place} style={{ minHeight: `${height}px` }}></div>
      {dots && (
        <p class="near small">
          {near ? (
            <Link to={near.to}>{near.text}</Link>
          ) : (
            <span class="dim">Point at a dot to see its {what}; click to open it.</span>
          )}
        </p>
      )}
    </div>
  );
}

/** @type {(paint: Paint, more?: import('uplot').Axis) => import('uplot').Axis} */
export const axis = (paint, more) => ({
  stroke: paint('dim'),
  grid: { stroke: paint('line'), width: 1 },
  ticks: { stroke: paint('line'), width: 1, size: 5 },
  font: '11px system-ui, sans-serif',
  labelFont: '11px system-ui, sans-serif',
  labelSize: 18,
  ...more,
});

// On a log scale only whole decades get a line and a label: the rest is noise.
/** @type {(plot: Drawn, splits: number[]) => (number | null)[]} */
const decades = (_, splits) =>
  splits.map((v) => (v > 0 && Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9 ? v : null));

/**
 * @param {Paint} paint
 * @param {(value: number) => string} show
 * @param {import('uplot').Axis} [more]
 * @returns {import('uplot').Axis}
 */
export function logAxis(paint, show, more) {
  const plain = axis(paint, {
    size: 62,
    values: (_, ticks) => ticks.map((t) => (t ? show(t).replace(/\.0+ /, ' ') : '')),
    ...more,
  });
  return {
    ...plain,
    filter: decades,
    grid: { ...plain.grid, filter: decades },
    ticks: { ...plain.ticks, filter: decades },
  };
}

/**
 * Runs are whole numbers, and there is none before the first.
 * @type {(paint: Paint, runs: number[]) => import('uplot').Axis}
 */
export const runAxis = (paint, runs) =>
  axis(paint, {
    label: 'run',
    size: 32,
    incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    values: (_, ticks) => ticks.map((t) => (t >= runs[0] && t <= runs[runs.length - 1] ? t : '')),
  });

/**
 * The usual range as a band under each line: its limits, its colour and a factor on both.
 * @typedef {{low: number | null, high: number | null}} Range
 * @type {(paint: Paint, rows: [Range, string, number?][]) => import('uplot').Hooks.Arrays}
 */
export const bands = (paint, rows) => ({
  drawClear: [
    (plot) => {
      const { ctx, bbox, scales } = plot;
      for (const [{ low, high }, name, factor = 1] of rows) {
        if (low === null || high === null) continue;
        const { min = -Infinity, max = Infinity } = scales.y;
        /** @type {(v: number) => number} */
        const within = (v) => plot.valToPos(Math.min(max, Math.max(min, v * factor)), 'y', true);
        ctx.save();
        ctx.globalAlpha = 0.14;
        ctx.fillStyle = paint(name);
        ctx.fillRect(bbox.left, within(high), bbox.width, Math.max(2, within(low) - within(high)));
        ctx.restore();
      }
    },
  ],
});
