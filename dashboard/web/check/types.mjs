// Types from the API's description: an interface per schema, and `Answers`, which maps each address
// to the `data` of its answer.  A property that the description does not name does not exist for the
// pages, also where an answer may hold more.

const indent = (text) => text.replaceAll('\n', '\n  ');
const key = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

function objectOf(schema) {
  const rows = Object.entries(schema.properties ?? {}).map(([name, of]) => {
    const about = of.description ? `/** ${of.description} */\n` : '';
    return `${about}${key(name)}${schema.required?.includes(name) ? '' : '?'}: ${typeOf(of)};`;
  });
  if (schema.additionalProperties && typeof schema.additionalProperties === 'object')
    rows.push(`[name: string]: ${typeOf(schema.additionalProperties)};`);
  return rows.length ? `{\n  ${indent(rows.join('\n'))}\n}` : 'Record<string, unknown>';
}

/** The TypeScript type of a JSON schema, in the part of the language that the description uses. */
export function typeOf(schema) {
  if (!schema) return 'unknown';
  if (schema.$ref) return schema.$ref.split('/').pop();
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(' | ');
  if (schema.anyOf ?? schema.oneOf) return (schema.anyOf ?? schema.oneOf).map(typeOf).join(' | ');
  if (schema.allOf) return schema.allOf.map(typeOf).join(' & ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  if (schema.type === 'array') return `Array<${typeOf(schema.items)}>`;
  if (schema.type === 'object' || schema.properties) return objectOf(schema);
  return { integer: 'number', number: 'number', string: 'string', boolean: 'boolean', null: 'null' }[
    schema.type
  ];
}

const dataOf = (method) => {
  const schema = method?.responses['200']?.content?.['application/json']?.schema;
  return schema?.properties?.data ? typeOf(schema.properties.data) : null;
};

/** Text of a .d.ts file for SPEC, an OpenAPI 3.1 document. */
export function declarations(spec) {
  const schemas = Object.entries(spec.components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};\n`,
  );
  const answers = (method) =>
    Object.entries(spec.paths)
      .map(([path, methods]) => [path, dataOf(methods[method])])
      .filter(([, type]) => type)
      .map(([path, type]) => `  ${key(path)}: ${indent(type)};`);
  const writes = ['post', 'put', 'delete'].flatMap(answers);
  return [
    '// Made from openapi.json by types.mjs; do not edit.',
    ...schemas,
    `export interface Answers {\n${answers('get').join('\n')}\n}\n`,
    `export interface Written {\n${writes.join('\n')}\n}\n`,
  ].join('\n');
}
