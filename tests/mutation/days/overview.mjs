// Prints the text of the first screen of the dashboard for a database: node overview.mjs FILE
import { browser, openPage, serve, settled } from '../../e2e/web/world.mjs';

const server = await serve('--db', process.argv[2]);
const chromium = await browser();
const page = await openPage(chromium, server.base + '/');
await settled(page);
const lines = await page.evaluate(() => {
  /** @type {{top: number, left: number, text: string}[]} */
  const found = [];
  const whole = document.querySelector('main') ?? document.body;
  const walker = document.createTreeWalker(whole, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const box = range.getBoundingClientRect();
    const text = (walker.currentNode.textContent ?? '').replace(/\s+/g, ' ').trim();
    if (text && box.width > 0 && box.top < innerHeight) found.push({ top: box.top, left: box.left, text });
  }
  found.sort((a, b) => (Math.abs(a.top - b.top) > 6 ? a.top - b.top : a.left - b.left));
  /** @type {string[]} */
  const out = [];
  let last = -100;
  for (const { top, text } of found) {
    if (top - last > 6) out.push(text);
    else out[out.length - 1] += `  ${text}`;
    last = top;
  }
  return out;
});
console.log(lines.join('\n'));
await server.stop();
await chromium?.close();
process.exit(0);
