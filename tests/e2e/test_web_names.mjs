// Names of 5,000 characters, and names that turn the text around: pages stay as wide as the screen, the names
// are isolated, and the whole name can be read.
import {
  browser,
  changeAnswers,
  check,
  closePage,
  openPage,
  runAll,
  same,
  seed,
  serve,
  settled,
  shot,
  test,
  views,
} from './web/world.mjs';

const chromium = await browser();
const server = await serve('--db', seed('runs.db', 3, 24, 0));
const TURNED = `\u202E${'W'.repeat(5000)}`;

// Which members of the API's answers are names; other strings keep their meaning.
const NAMES = ['function', 'file', 'scenario', 'branch', 'reason', 'module', 'source', 'signature', 'top'];

/** @type {(value: unknown, key?: string) => unknown} */
function rename(value, key = '') {
  if (Array.isArray(value)) return value.map((each) => rename(each, key));
  if (value && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, rename(part, name)]));
  return typeof value === 'string' && NAMES.includes(key) ? `${value}${TURNED}` : value;
}

for (const width of [1360, 390])
  test(`long_names_fit_${width}_pixels`, async () => {
    const page = await openPage(chromium, 'about:blank', { viewport: { width, height: 860 } });
    await changeAnswers(page, '**/api/v1/**', (body) => rename(body));
    const wrong = [];
    let all = 0;
    let cut = 0;
    for (const view of views) {
      await page.goto(server.base + view);
      await settled(page);
      const seen = await page.$eval('main', (main) => {
        const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        /** @type {Set<string>} */
        const loose = new Set();
        let names = 0;
        for (let text = texts.nextNode(); text; text = texts.nextNode()) {
          const around = text.parentElement;
          if (!around || !text.nodeValue?.includes('\u202E')) continue;
          names++;
          const bidi = getComputedStyle(around).unicodeBidi;
          if (!/isolate|plaintext/.test(bidi)) loose.add(`${around.tagName}.${around.className}`);
        }
        const wide = Math.max(document.documentElement.scrollWidth, main.scrollWidth);
        const far = [...main.querySelectorAll('*')].findLast(
          (part) => part.getBoundingClientRect().right > innerWidth + 1,
        );
        return { far: far ? `${far.tagName}.${far.className}` : '', wide, names, loose: [...loose] };
      });
      if (seen.wide > width) wrong.push(`${view} is ${seen.wide} wide: ${seen.far}`);
      if (seen.loose.length) wrong.push(`${view}: not isolated: ${seen.loose.join(', ')}`);
      all += seen.names;
      if (view.includes('frame=')) cut = await page.locator(`.fn bdi[title$="${TURNED}"]`).count();
    }
    await shot(page, `long-names-${width}`);
    same(wrong, [], 'pages');
    check(cut > 3, `${cut} functions are cut`);
    check(all > 100, `only ${all} names were renamed`);
    await closePage(page);
  });

await runAll();
