// Types from the API's description: an interface per schema, and `Answers`, which maps each address
// to the `data` of its answer.  A property that the description does not name does not exist for the
// pages, also where an answer may hold more.

/**
 * @typedef {Record<string, any>} Schema a JSON schema, as openapi.json has them
 */

/** @type {(text: string) => string} */
const indent = (text) => text.replaceAll('\n', '\n  ');
/** @type {(name: string) => string} */
const key = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

/** @type {(schema: Schema) => string} */
function objectOf(schema) {
  const rows = Object.entries(schema.properties ?? {}).map(([name, of]) => {
    const about = of.description ? `/** ${of.description} */\n` : '';
    return `${about}${key(name)}${schema.required?.includes(name) ? '' : '?'}: ${typeOf(of)};`;
  });
  if (schema.additionalProperties && typeof schema.additionalProperties === 'object')
    rows.push(`[name: string]: ${typeOf(schema.additionalProperties)};`);
  return rows.length ? `{\n  ${indent(rows.join('\n'))}\n}` : 'Record<string, unknown>';
}

/**
 * The TypeScript type of a JSON schema, in the part of the language that the description uses.
 * @type {(schema: Schema) => string}
 */
export function typeOf(schema) {
  if (!schema) return 'unknown';
  if (schema.$ref) return schema.$ref.split('/').pop();
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((/** @type {unknown} */ word) => JSON.stringify(word)).join(' | ');
  if (schema.anyOf ?? schema.oneOf) return (schema.anyOf ?? schema.oneOf).map(typeOf).join(' | ');
  if (schema.allOf) return schema.allOf.map(typeOf).join(' & ');
  if (Array.isArray(schema.type))
    return schema.type.map((/** @type {string} */ type) => typeOf({ ...schema, type })).join(' | ');
  if (schema.type === 'array') return `Array<${typeOf(schema.items)}>`;
  if (schema.type === 'object' || schema.properties) return objectOf(schema);
  /** @type {Record<string, string>} */
  const names = { integer: 'number', number: 'number', string: 'string', boolean: 'boolean', null: 'null' };
  return names[schema.type];
}

/** @type {(method: Schema | undefined) => string | null} */
const dataOf = (method) => {
  const schema = method?.responses['200']?.content?.['application/json']?.schema;
  return schema?.properties?.data ? typeOf(schema.properties.data) : null;
};

/**
 * Text of a .d.ts file for SPEC, an OpenAPI 3.1 document.
 * @param {Schema} spec
 */
export function declarations(spec) {
  const schemas = Object.entries(spec.components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};\n`,
  );
  /** @type {(method: string) => string[]} */
  const answers = (method) =>
    Object.entries(spec.paths).flatMap(([path, methods]) => {
      const type = dataOf(methods[method]);
      return type ? [`  ${key(path)}: ${indent(type)};`] : [];
    });
  const writes = ['post', 'put', 'delete'].flatMap(answers);
  return [
    '// Made from openapi.json by types.mjs; do not edit.',
    ...schemas,
    `export interface Answers {\n${answers('get').join('\n')}\n}\n`,
    `export interface Written {\n${writes.join('\n')}\n}\n`,
  ].join('\n');
}
