// Parts of the pages without a browser: they are bundled for node, and drawn into a document that keeps only
// what can be read and clicked.  How a page looks, and what a browser does with it, stays with test_web.mjs.
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root, scratch } from './world.mjs';

/** What Preact needs of a node of a document. */
class Paper {
  /** @type {Paper[]} */
  childNodes = [];
  /** @type {Paper | null} */
  parentNode = null;
  /** @type {Record<string, string>} */
  attributes = {};
  /** @type {Record<string, (event: object) => void>} */
  listeners = {};
  style = { setProperty() {} };
  onclick = null; // so Preact knows the event's name

  /** @param {string | null} localName null: a text @param {string} data */
  constructor(localName, data = '') {
    this.localName = localName;
    this.data = data;
    this.nodeType = localName === null ? 3 : 1;
    this.namespaceURI = 'http://www.w3.org/1999/xhtml';
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
  }
  remove() {
    this.parentNode?.removeChild(this);
  }
  /** @param {string} name @param {unknown} value */
  setAttribute(name, value) {
    this.attributes[name] = String(value);
  }
  /** @param {string} name */
  removeAttribute(name) {
    delete this.attributes[name];
  }
  /** @param {string} name @param {(event: object) => void} listener */
  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }
  removeEventListener() {}
  /** All nodes of that name in it, in their order. @param {string} name @returns {Paper[]} */
  all(name) {
    return this.childNodes.flatMap((child) => [
      ...(child.localName === name ? [child] : []),
      ...child.all(name),
    ]);
  }
  /** @returns {Promise<void>} */
  async click() {
    this.listeners.click.call(this, { type: 'click', target: this, currentTarget: this });
    await new Promise((done) => setTimeout(done));
  }
}

/** The elements that a page has from its file, by id; to be filled before parts().
 * @type {Record<string, {textContent: string}>} */
export const carried = {};

/** The document and the window of a page at http://twinstack.example/runs. */
function lay() {
  const document = Object.assign(new Paper('document'), {
    createElementNS: (/** @type {string} */ _, /** @type {string} */ name) => new Paper(name),
    createTextNode: (/** @type {string} */ data) => new Paper(null, data),
    getElementById: (/** @type {string} */ id) => carried[id] ?? null,
    querySelector: () => null,
    currentScript: { src: 'http://twinstack.example/assets/main.js' },
  });
  const kept = { getItem: () => null, setItem() {}, removeItem() {} };
  Object.assign(globalThis, {
    document,
    location: new URL('http://twinstack.example/runs'),
    history: { replaceState() {}, pushState() {} },
    addEventListener() {},
    removeEventListener() {},
    sessionStorage: kept,
    localStorage: kept,
  });
}

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
    external: ['virtual:*'],
    logLevel: 'error',
  });
  const file = scratch('parts.mjs');
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
