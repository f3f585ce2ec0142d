// Checks that every page must pass, wherever it comes from: axe, narrow screens, paper.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { axeSource, build, check, must, same, scratch, settled, shot } from './world.mjs';
/** @import { Options, Page } from './world.mjs' */

export const WIDE = { width: 1360, height: 860 };
export const NARROW = { width: 360, height: 740 };
const PAPER = { width: 720, height: 1000 };
const FITS = NARROW.width;

// Includes the rules for target sizes and headings.
const axeTags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const axe = readFileSync(axeSource(), 'utf8');

/**
 * Shows PAGE in another window.
 * @type {(page: Page, viewport: {width: number, height: number}, colorScheme: Options['colorScheme']) =>
 *   Promise<void>}
 */
export async function showIn(page, viewport, colorScheme) {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ media: null, colorScheme });
  await settled(page);
}

/** @type {(page: Page, what: string) => Promise<void>} */
export async function axeFindsNothing(page, what) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(`${axe}; 0`);
  // Only the violations leave the page: to send all that axe passed takes twice as long as axe does.
  const violations = await page.evaluate(
    async (runOnly) => (await window.axe.run(document, { runOnly, resultTypes: ['violations'] })).violations,
    axeTags,
  );
  same(
    violations.map((v) => `${v.id}: ${v.nodes[0].html} ${v.nodes[0].failureSummary}`),
    [],
    what,
  );
}

/** @type {(page: Page, what: string) => Promise<void>} */
export async function fitsNarrow(page, what) {
  const wide = await page.$eval('main', (main) => [document.documentElement.scrollWidth, main.scrollWidth]);
  check(Math.max(...wide) <= FITS, `${what} is ${wide} wide`);
}

/**
 * The text of PDF in the order in which it was drawn.
 * @param {Buffer} pdf
 */
export function textOf(pdf) {
  const file = scratch('page.pdf');
  writeFileSync(file, pdf);
  const text = execFileSync('pdftotext', ['-raw', file, '-'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  rmSync(file);
  return text;
}

/**
 * How far the most colourful dot of PDF is from grey, 0 to 255.
 * @param {Buffer} pdf
 */
function coloursOf(pdf) {
  const file = scratch('page.pdf');
  writeFileSync(file, pdf);
  const out = execFileSync('pdftoppm', ['-r', '24', file], { maxBuffer: 1 << 28 });
  rmSync(file);
  let most = 0;
  // One image of three bytes per dot follows the other, each after "P6\nWIDTH HEIGHT\n255\n".
  for (let at = 0; at < out.length;) {
    const [head, width, height] = must(
      /^P6\n(\d+) (\d+)\n255\n/.exec(out.subarray(at, at + 40).toString('latin1')),
    );
    const end = at + head.length + 3 * Number(width) * Number(height);
    for (let i = at + head.length; i < end; i += 3)
      most = Math.max(most, Math.abs(out[i] - out[i + 1]), Math.abs(out[i + 1] - out[i + 2]));
    at = end;
  }
  return most;
}

/** @type {(text: string) => string} */
const plain = (text) => text.replace(/\s+/g, '');

/**
 * On paper, PAGE is whole, black and white, and has the address WHERE and a date.
 * @type {(page: Page, what: string, where: string) => Promise<void>}
 */
export async function printsWhole(page, what, where) {
  await showIn(page, PAPER, 'dark');
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await settled(page);
  const found = await page.evaluate(() => {
    /** @type {(part: string) => HTMLElement} */
    const one = (part) => {
      const first = document.querySelector(part);
      if (first instanceof HTMLElement) return first;
      throw new Error(`${part} is not there`);
    };
    /** @type {(part: Element) => boolean} */
    const shows = (part) => part.getClientRects().length > 0;
    const cut = [...document.querySelectorAll('main, main *')].filter((part) => {
      const { overflowX, overflowY, textOverflow } = getComputedStyle(part);
      const hides = [overflowX, overflowY].some((way) => way !== 'visible') && textOverflow === 'clip';
      return (
        shows(part) &&
        !part.matches('.sr') &&
        hides &&
        part.scrollHeight > part.clientHeight + 2 &&
        part.clientHeight > 0
      );
    });
    const cells = [...document.querySelectorAll('main td, main td *')];
    const texts = []; // without the time of printing, which may be a minute later on paper
    const walk = document.createTreeWalker(one('main'), NodeFilter.SHOW_TEXT);
    for (let text = walk.nextNode(); text; text = walk.nextNode()) {
      const around = text.parentElement;
      if (around && shows(around) && !around.closest('.sr, .printed, option, textarea'))
        texts.push(text.nodeValue ?? '');
    }
    return {
      wide: document.documentElement.scrollWidth,
      said: one('.printed').innerText,
      rail: shows(one('.rail')),
      unnumbered: [...document.querySelectorAll('.rowno')].filter((part) => !shows(part)).length,
      folded: document.querySelectorAll('details:not([open])').length,
      cut: cut.map((part) => `${part.localName}.${part.className}`),
      ground: getComputedStyle(document.body).backgroundColor,
      large: cells
        .filter((part) => parseFloat(getComputedStyle(part).fontSize) > 10)
        .map((part) => `${part.localName}.${part.className}`),
      headings: [...document.querySelectorAll('main h2')]
        .filter(shows)
        .map((head) => head.textContent?.trim()),
      words: texts.flatMap((text) => text.match(/[\w.!:-]{4,}/g) ?? []),
    };
  });
  check(found.wide <= PAPER.width + 2, `${what} is ${found.wide} wide on paper`);
  const date = /20\d\d-\d\d-\d\d \d\d:\d\d UTC/;
  check(found.said.includes(where) && date.test(found.said), found.said);
  same([found.rail, found.folded, found.unnumbered, found.cut], [false, 0, 0, []], what);
  same(found.large, [], `${what}: larger than the text of its cell`);
  same(found.ground, 'rgb(255, 255, 255)', `${what}: white`);
  await shot(page, `${what}-print`, { fullPage: true });
  await page.setViewportSize(WIDE); // paper does not have the size of the window
  const pdf = await page.pdf({ format: 'A4', printBackground: true });
  writeFileSync(join(build, 'screenshots', `${what}.pdf`), pdf);
  const sheets = textOf(pdf).split('\f');
  const ends = sheets.map((sheet) => sheet.trimEnd().split('\n').at(-1)?.trim());
  same(
    ends.filter((line) => line && found.headings.includes(line)),
    [],
    `${what}: headings at the end of a sheet`,
  );
  const text = plain(sheets.join(''));
  check(
    text.includes(plain(where)) && /20\d\d-\d\d-\d\d\d\d:\d\dUTC/.test(text),
    `${what}: ${text.slice(0, 400)}`,
  );
  const lost = [...new Set(found.words)].filter((word) => !text.includes(word));
  same(lost, [], `${what}: words that are not on paper`);
  const colour = coloursOf(pdf);
  check(colour <= 8, `${what} has colours on paper: ${colour}`);
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
}
