// Databases of strangers, in which every text is markup, a handler or a script's address: in its tables, and
// in the answers and badges that are stored for the pages.  Nothing of it runs, and pages show it as text.
import {
  alter,
  browser,
  check,
  closePage,
  openPage,
  runAll,
  same,
  seed,
  serve,
  settled,
  test,
  twinstack,
  views,
} from './web/world.mjs';

const RUN = 'document.documentElement.dataset.ran=1';
const TEXTS = {
  markup: `"'><img src=x onerror="${RUN}"><script>${RUN}</script><svg onload="${RUN}"></svg></script><b>`,
  address: `javascript:${RUN}//`,
};

/** Puts the text into every text of the tables that is no word of a list. */
const inTables = `
words = set("""state verdict kind cause role gap uuid sha256 case_sha256 arch expected_doors got_doors
    stage subject way figure engine against wrong blame_engine stop""".split())
tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'")
for table, in tables.fetchall():
    if table.startswith('sqlite_') or table in ('shown', 'change', 'baseline'):
        continue
    for _, name, kind, *_ in db.execute(f"PRAGMA table_info({table})").fetchall():
        if kind != 'TEXT' or name in words:
            continue
        where = "scenario <> 'inline_chain'" if name in ('scenario', 'variant') else '1'
        put = f"? || {name}" if bad.startswith('javascript') else f"{name} || ?"
        db.execute(f"UPDATE OR IGNORE {table} SET {name} = {put} WHERE {where}", (bad,))
`;

/** The same in the stored answers; badges are made of it. */
const inStored = `
import json, zlib
words = set("""state verdict kind cause group trouble engine scenario variant level marks key name hook
    symbols metric unit was is change expected got version verdicts groups kinds causes scenarios variants
    hooks""".split())
def spoil(value, key=''):
    if isinstance(value, dict):
        return {k: spoil(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [spoil(v, key) for v in value]
    if not isinstance(value, str) or key in words:
        return value
    return bad + value if bad.startswith('javascript') else value + bad
badge = f"""<svg xmlns="http://www.w3.org/2000/svg" onload="{run}"><script>{run}</script>
<script href="data:text/javascript,{run}"/><script href="/assets/any.js"/>
<a href="javascript:{run}"><text y="20">badge</text></a><image href="x" onerror="{run}"/>
<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:parent.{run}"/></foreignObject>
</svg>"""
for address, text, size in db.execute("SELECT address, text, plain_bytes FROM shown").fetchall():
    text = zlib.decompress(text) if size else text
    if address.endswith('.svg'):
        text = badge.encode()
    elif address.startswith('/api/'):
        text = json.dumps(spoil(json.loads(text))).encode()
    db.execute("UPDATE shown SET text = ?, plain_bytes = NULL WHERE address = ?", (text, address))
`;

const chromium = await browser();

/** @param {string} name @param {string} script @param {string} text */
async function serveSpoilt(name, script, text) {
  const db = seed(name, 3, 24, 0);
  twinstack('db', 'upgrade', '--db', db); // stores what pages ask for
  alter(db, `bad = ${JSON.stringify(text)}\nrun = ${JSON.stringify(RUN)}\n${script}`);
  return serve('--db', db);
}

for (const [place, script] of Object.entries({ tables: inTables, stored_answers: inStored }))
  for (const [kind, text] of Object.entries(TEXTS))
    test(`nothing_runs_of_${kind}_in_${place}`, async () => {
      const server = await serveSpoilt(`${place}-${kind}.db`, script, text);
      const page = await openPage(chromium, 'about:blank');
      /** @type {string[]} */
      const asked = [];
      page.on('request', (request) => asked.push(request.url()));
      page.on('dialog', (dialog) => dialog.dismiss());
      let shown = 0;
      for (const view of views) {
        await page.goto(server.base + view);
        await settled(page);
        const found = await page.evaluate(
          (part) => {
            const all = [...document.querySelectorAll('*')];
            const attributes = all.flatMap((one) => [...one.attributes]);
            return {
              ran: document.documentElement.dataset.ran ?? '',
              scripts: all.filter((one) => one.localName === 'script' && !one.hasAttribute('src')).length,
              loads: [...document.querySelectorAll('main img, main iframe, main object, main embed, base')]
                .length,
              handlers: attributes.filter(({ name }) => name.startsWith('on')).map(({ name }) => name),
              links: attributes
                .filter(
                  ({ name, value }) =>
                    /^(href|src|action|formaction|xlink:href)$/.test(name) &&
                    !/^(\/|\.|#|https?:\/\/|mailto:|data:)/.test(value),
                )
                .map(({ name, value }) => `${name}=${value}`),
              shows: document.body.innerText.includes(part),
            };
          },
          text.slice(0, 20),
        );
        const { shows, ...rest } = found;
        same(rest, { ran: '', scripts: 0, loads: 0, handlers: [], links: [] }, view);
        shown += Number(shows);
      }
      check(shown >= 5, `${shown} of ${views.length} views show it as text`);
      const stopped = page.complaints.filter((line) => /Content Security/.test(line));
      same(stopped, [], 'the policy had nothing to stop');
      same(
        asked.filter(
          (url) => !url.startsWith(server.base) && !url.startsWith('data:') && url !== 'about:blank',
        ),
        [],
        'no other address is asked',
      );
      await closePage(page);
      await server.stop();
    });

test('a_badge_runs_nothing', async () => {
  const server = await serveSpoilt('badge.db', inStored, TEXTS.markup);
  const page = await openPage(chromium, 'about:blank');
  for (const badge of ['verdict', 'exact']) {
    const answer = await fetch(`${server.base}/badge/${badge}.svg`);
    check((await answer.text()).includes('<script>'), 'the stored one is served');
    const policy = answer.headers.get('content-security-policy') ?? '';
    check(policy.startsWith("default-src 'none'") && !/script|connect|img|frame-src/.test(policy), policy);
    await page.goto(`${server.base}/badge/${badge}.svg`);
    await page.waitForTimeout(200);
    same(await page.evaluate(() => document.documentElement.getAttribute('data-ran')), null, badge);
    await page.locator('a text').click();
    await page.waitForTimeout(100);
    same(await page.evaluate(() => document.documentElement.getAttribute('data-ran')), null, 'after a click');
  }
  await closePage(page);
  await server.stop();
});

await runAll();
