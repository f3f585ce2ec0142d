// Parts of the pages without a browser: they are bundled for node, and drawn into a document that keeps only
// what can be read and clicked.  How a page looks, and what a browser does with it, stays with test_web.mjs.
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { virtual } from '../../../dashboard/web/virtual.mjs';
import { root, scratch } from './world.mjs';

/** What Preact needs of a node of a document. */
export class Paper {
  static changes = 0; // in all of them
  /** @type {Paper[]} */
  childNodes = [];
  /** @type {Paper | null} */
  parentNode = null;
  /** @type {Record<string, string>} */
  attributes = {};
  /** @type {Record<string, (event: object) => void>} */
  listeners = {};
  style = { setProperty() {} };
  classList = { toggle() {} };
  dataset = {};
  onclick = null; // so Preact knows the event's name

  /** @param {string | null} localName null: a text @param {string} data */
  constructor(localName, data = '') {
    this.localName = localName;
    this.text = data;
    this.nodeType = localName === null ? 3 : 1;
    this.namespaceURI = 'http://www.w3.org/1999/xhtml';
  }
  get data() {
    return this.text;
  }
  set data(text) {
    this.text = text;
    Paper.changes++;
  }
  get id() {
    return this.attributes.id ?? '';
  }
  set id(name) {
    this.attributes.id = name;
  }
  get firstChild() {
    return this.childNodes[0] ?? null;
  }
  get nextSibling() {
    const all = this.parentNode?.childNodes ?? [];
    return all[all.indexOf(this) + 1] ?? null;
  }
  /** @returns {string} */
  get textContent() {
    return this.localName === null ? this.data : this.childNodes.map((child) => child.textContent).join('');
  }
  /** @param {Paper} child @param {Paper | null} before */
  insertBefore(child, before) {
    child.parentNode?.removeChild(child);
    const at = before ? this.childNodes.indexOf(before) : this.childNodes.length;
    this.childNodes.splice(at, 0, child);
    child.parentNode = this;
    Paper.changes++;
    return child;
  }
  /** @param {Paper} child */
  appendChild(child) {
    return this.insertBefore(child, null);
  }
  /** @param {Paper} child */
  removeChild(child) {
    this.childNodes.splice(this.childNodes.indexOf(child), 1);
    child.parentNode = null;
    Paper.changes++;
  }
  remove() {
    this.parentNode?.removeChild(this);
  }
  /** @param {Paper} other */
  replaceWith(other) {
    this.parentNode?.insertBefore(other, this);
    this.remove();
  }
  /** @param {string} id @returns {Paper | null} */
  named(id) {
    for (const child of this.childNodes) {
      const found = child.id === id ? child : child.named(id);
      if (found) return found;
    }
    return null;
  }
  querySelector() {
    return null;
  }
  querySelectorAll() {
    return [];
  }
  focus() {}
  scrollTo() {}
  scrollIntoView() {}
  /** @param {string} name @param {unknown} value */
  setAttribute(name, value) {
    this.attributes[name] = String(value);
    Paper.changes++;
  }
  /** @param {string} name */
  removeAttribute(name) {
    delete this.attributes[name];
    Paper.changes++;
  }
  /** @param {string} name @param {(event: object) => void} listener */
  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }
  removeEventListener() {}
  /** All nodes of that name in it, in their order. @param {string} name @returns {Paper[]} */
  all(name) {
    return this.childNodes.flatMap((child) => [
      ...((name === '*' ? child.localName !== null : child.localName === name) ? [child] : []),
      ...child.all(name),
    ]);
  }
  /** Itself or the nearest that holds it, of a name. @param {string} selector */
  closest(selector) {
    /** @type {Paper | null} */
    let at = this;
    while (at && !selector.split(/, ?/).includes(at.localName ?? '')) at = at.parentNode;
    return at;
  }
  /** @returns {Promise<void>} */
  async click() {
    this.listeners.click?.call(this, { type: 'click', target: this, currentTarget: this });
    await new Promise((done) => setTimeout(done));
  }
}

/** The elements that a page has from its file, by id; to be filled before parts().
 * @type {Record<string, {textContent: string}>} */
export const carried = {};

/** What listens to the window, by event.
 * @type {Record<string, ((event: object) => void)[]>} */
const listening = {};

/** An event of the window. @param {string} name @param {object} event */
export const happens = (name, event) => listening[name]?.forEach((listener) => listener(event));

/** Plots have no canvas here: what they were given stays at their box. */
const plots = {
  name: 'plots',
  setup(/** @type {any} */ build) {
    build.onResolve({ filter: /^uplot$/ }, () => ({ path: 'uplot', namespace: 'plots' }));
    build.onLoad({ filter: /./, namespace: 'plots' }, () => ({
      contents: `export default class {
        static paths = { bars: () => 'bars', points: () => 'points', stepped: () => 'stepped' };
        constructor(options, data, box) { box.plotted = { options, data }; }
        destroy() {}
      }`,
    }));
  },
};

/** The document and the window of a page at http://twinstack.example/runs. */
function lay() {
  const document = Object.assign(new Paper('document'), {
    createElementNS: (/** @type {string} */ _, /** @type {string} */ name) => new Paper(name),
    createTextNode: (/** @type {string} */ data) => new Paper(null, data),
    createElement: (/** @type {string} */ name) => new Paper(name),
    getElementById: (/** @type {string} */ id) => carried[id] ?? document.named(id),
    currentScript: { src: 'http://twinstack.example/assets/main.js' },
  });
  const kept = { getItem: () => null, setItem() {}, removeItem() {} };
  /** @type {(...given: [unknown, string, string?]) => void} */
  const goes = (...[, , to = '']) => {
    globalThis.location = /** @type {any} */ (new URL(to, location.href));
  };
  const app = document.appendChild(new Paper('div'));
  app.id = 'app';
  Object.assign(globalThis, {
    document,
    window: globalThis,
    location: new URL('http://twinstack.example/runs'),
    history: { replaceState: goes, pushState: goes },
    addEventListener: (/** @type {string} */ name, /** @type {(event: object) => void} */ listener) =>
      (listening[name] ??= []).push(listener),
    dispatchEvent() {},
    removeEventListener: (/** @type {string} */ name, /** @type {(event: object) => void} */ listener) => {
      listening[name] = listening[name].filter((other) => other !== listener);
    },
    matchMedia: () => new Paper('media'),
    getComputedStyle: () => ({ getPropertyValue: (/** @type {string} */ name) => name }),
    ResizeObserver: class {
      observe() {}
      disconnect() {}
    },
    requestAnimationFrame: (/** @type {() => void} */ draws) => setTimeout(draws),
    cancelAnimationFrame: clearTimeout,
    PerformanceObserver: class {
      /** @param {(list: object) => void} painted */
      constructor(painted) {
        this.observe = () => setTimeout(painted, 0, { getEntriesByName: () => ['first-contentful-paint'] });
      }
      disconnect() {}
    },
    sessionStorage: kept,
    localStorage: kept,
  });
}

let bundles = 0; // a file that was imported is not read again
const licences = [{ name: 'some-library', version: '1.2.3', licence: 'MIT', text: 'Copyright' }];

/**
 * Bundles MODULES of dashboard/web/src (TWINSTACK_WEB: of another folder) and returns each by its name.
 * @param {string[]} modules
 * @returns {Promise<any>}
 */
export async function parts(...modules) {
  const esbuild = createRequire(join(root, 'dashboard/web/node_modules/x.js'))('esbuild');
  const source = process.env.TWINSTACK_WEB ?? join(root, 'dashboard/web/src');
  const entry = modules.map((name) => `export * as ${name.replace(/.*\//, '')} from './${name}.js';`);
  const made = await esbuild.build({
    stdin: { contents: [...entry, "export { h, render } from 'preact';"].join('\n'), resolveDir: source },
    bundle: true,
    write: false,
    format: 'esm',
    loader: { '.js': 'jsx', '.svg': 'text' },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    nodePaths: [join(root, 'dashboard/web/node_modules')],
    define: { TWINSTACK_VERSION: '"0"' },
    plugins: [
      plots,
      virtual(source, readFileSync(join(root, 'dashboard/pages/pages.def'), 'utf8'), licences),
    ],
    logLevel: 'error',
  });
  const file = scratch(`parts-${bundles++}.mjs`);
  writeFileSync(file, made.outputFiles[0].contents);
  lay();
  return import(pathToFileURL(file).href);
}

/**
 * What a component draws.
 * @param {any} made what parts() returned
 * @param {unknown} component
 * @param {object} props
 */
export function draw({ h, render }, component, props) {
  const paper = new Paper('main');
  render(h(component, props), paper);
  return paper;
}
