// When modules of a stack came and went while the process ran.
import { duration, Name } from '../ui.js';

/**
 * @typedef {import('openapi').Answers['/api/v1/runs/{run}/cases/{case}']['loads']} Loads
 * @type {(load: Loads[number]) => string}
 */
const said = ({ loaded_ns, unloaded_ns }) =>
  `${loaded_ns > 0 ? `loaded at ${duration(loaded_ns)}` : 'there from the start'}, ${
    unloaded_ns === null ? 'still there' : `gone at ${duration(unloaded_ns)}`
  }`;

/**
 * A line for each; at the right edge the stack was taken.
 * @param {{loads: Loads}} props
 */
export function ModuleTimes({ loads }) {
  const last = Math.max(...loads.map((load) => load.unloaded_ns ?? load.loaded_ns));
  /** @type {(ns: number) => number} */
  const place = (ns) => (90 * ns) / Math.max(1, last);
  return (
    loads.length > 0 && (
      <section class="moduletimes">
        <h2 class="section">Modules that came or went</h2>
        <ul>
          {loads.map((load) => (
            <li key={`${load.base} ${load.loaded_ns}`}>
              <Name text={load.module ?? '?'} /> <span class="mono dim">{load.base}</span>{' '}
              <span class="dim small">{said(load)}</span>
              <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                <rect
                  x={place(load.loaded_ns)}
                  width={(load.unloaded_ns === null ? 100 : place(load.unloaded_ns)) - place(load.loaded_ns)}
                  height="4"
                />
              </svg>
            </li>
          ))}
        </ul>
        <p class="dim small">
          From the start of the capture. At the right edge the stack was taken; when that was is not kept.
        </p>
      </section>
    )
  );
}
