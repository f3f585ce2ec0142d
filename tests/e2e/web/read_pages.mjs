// What pages of a server say, as text, without a browser: JSON on stdout, the lines of each page by its
// address.
//
//     read_pages.mjs BASE ADDRESS...
//
// A line is one row of a table, its cells apart by " | ", or one other block. What a pointer shows: in {}.
// Overview and Known, whose addresses name no run, are read as while that after "?run=" is the newest.
import { Paper, parts } from './paper.mjs';

const [base, ...pages] = process.argv.slice(2);
const BLOCKS = new Set(
  'article aside caption details dd div dl dt figure footer form h1 h2 h3 h4 header hr li main nav ol p pre'
    .concat(' section summary table tbody thead tr ul')
    .split(' '),
);
let waiting = 0; // for what is read
/** @type {(owner: any, name: string, reads: Function) => void} */
const counted = (owner, name, reads) => {
  owner[name] = async function (/** @type {unknown[]} */ ...given) {
    waiting++;
    try {
      return await reads.apply(this, given);
    } finally {
      waiting--;
    }
  };
};
counted(Response.prototype, 'text', Response.prototype.text);
counted(Response.prototype, 'json', Response.prototype.json);
const { fetch: fetchThere } = globalThis;
let newest = '';
counted(globalThis, 'fetch', (/** @type {string} */ path, /** @type {RequestInit} */ asked) =>
  fetchThere(new URL(/\/(overview|known)$/.test(path) ? path + newest : path, base), asked),
);
const { fetch: fetchCounted } = globalThis;
globalThis.fetch = (path, asked) =>
  String(path).endsWith('/events') ? new Promise(() => {}) : fetchCounted(path, asked); // no event comes

/** @type {(said: string) => string} */
const line = (said) => said.replace(/\s+/g, ' ').trim();

/** @type {(node: any) => string} */
function text(node) {
  if (node.localName === null) return String(node.data).replace(/\s+/g, ' ');
  const title = node.attributes.title ? ` {${line(node.attributes.title)}}` : '';
  if (node.localName === 'tr')
    return `\n${node.childNodes.map((/** @type {any} */ cell) => line(text(cell))).join(' | ')}\n`;
  const end = node.localName === 'br' || BLOCKS.has(node.localName) ? '\n' : ' ';
  return end + node.childNodes.map(text).join('') + title + end;
}

/** @type {(node: any) => string[]} */
const lines = (node) => text(node).split('\n').map(line).filter(Boolean);

const { api, router, painted } = await parts('main', 'api', 'router', 'painted');
const settled = async () => {
  for (let before = -1, same = 0; same < 8;) {
    await new Promise((done) => setTimeout(done, 1));
    same = before === Paper.changes && waiting === 0 && !api.isAsking() ? same + 1 : 0;
    before = Paper.changes;
  }
};
await painted.painted;
while (!document.getElementById('main')) await new Promise((done) => setTimeout(done, 5));
/** @type {Record<string, string[]>} */
const said = {};
for (const page of pages) {
  router.go('/none'); // another page, so that all is asked for again
  await settled();
  newest = page.replace(/^[^?]*/, '');
  api.refresh();
  await settled();
  router.go(page);
  await settled();
  said[page] = [document.title, ...lines(document.getElementById('main'))];
}
process.stdout.write(JSON.stringify(said), () => process.exit(0));
