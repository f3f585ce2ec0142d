// The modules of the pages that no file has: what pages.def says, and the licences.

/**
 * Rows of pages.def: what is in the rail, and what each address is shown by.
 * @type {(definitions: string) => string}
 */
function pagesModule(definitions) {
  /** @type {(rest: string, name: string) => string} */
  const member = (rest, name) => {
    const value = new RegExp(`\\b${name}\\(("[^"]*")\\)`).exec(rest)?.[1];
    return value ? `, ${name.toLowerCase()}: ${value}` : '';
  };
  const pages = [...definitions.matchAll(/^PAGE\("(.*?)", "(.*?)", (\w+), "(.*?)"(.*)\)$/gm)].map(
    ([, at, title, part, file, rest]) => ({ at, title, part, file, rest }),
  );
  return [
    ...new Set(pages.map(({ part, file }) => `import { ${part} } from './${file}';`)),
    'export const pages = [',
    ...pages.map(
      ({ at, title, part, rest }) =>
        `{ at: '${at}', title: '${title}', name: '${part}', part: ${part}${member(rest, 'RAIL')}` +
        `${member(rest, 'TO')}${member(rest, 'UNDER')}, served: ${/\bSERVED\b/.test(rest)} },`,
    ),
    '];',
  ].join('\n');
}

/**
 * A plugin of esbuild.
 * @param {string} source the folder of main.js
 * @param {string} definitions the text of pages.def
 * @param {object[]} licences
 */
export const virtual = (source, definitions, licences) => ({
  name: 'virtual',
  setup(/** @type {any} */ build) {
    build.onResolve({ filter: /^virtual:/ }, (/** @type {{path: string}} */ found) => ({
      path: found.path,
      namespace: 'virtual',
    }));
    build.onLoad({ filter: /licences/, namespace: 'virtual' }, () => ({
      contents: JSON.stringify(licences),
      loader: 'json',
    }));
    build.onLoad({ filter: /pages/, namespace: 'virtual' }, () => ({
      contents: pagesModule(definitions),
      resolveDir: source,
    }));
  },
});
