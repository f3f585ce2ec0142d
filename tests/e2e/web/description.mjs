// Which members of an answer openapi.json does not describe: a schema that allows more members says nothing
// about them, so a validator passes them.

/** @typedef {Record<string, any>} Schema */

/**
 * The paths of what ANSWER has and SCHEMA, of description SPEC, does not name.
 * @param {Schema} spec
 * @param {Schema} schema
 * @param {unknown} answer
 */
export function notDescribed(spec, schema, answer) {
  const found = new Set();
  /** The parts of a schema that may hold: itself, and those that it combines or refers to.
   * @type {(part: Schema) => Schema[]} */
  const parts = (part) => {
    const { $ref: to, allOf = [], anyOf = [], oneOf = [] } = part;
    /** @type {string[]} */
    const steps = to?.split('/').slice(1) ?? [];
    const more = [...allOf, ...anyOf, ...oneOf, ...(to ? [steps.reduce((at, step) => at[step], spec)] : [])];
    return [part, ...more.flatMap(parts)];
  };
  /** @type {(value: unknown, schemas: Schema[], path: string) => void} */
  const walk = (value, schemas, path) => {
    const all = schemas.flatMap(parts);
    if (Array.isArray(value)) {
      const items = all.map((part) => part.items).filter(Boolean);
      value.forEach((each) => walk(each, items, `${path}[]`));
    } else if (value && typeof value === 'object')
      for (const [name, member] of Object.entries(value)) {
        const named = all.map((part) => part.properties?.[name]).filter(Boolean);
        const other = all.map((part) => part.additionalProperties).filter((part) => typeof part === 'object');
        if (named.length + other.length === 0) found.add(`${path}.${name}`);
        else walk(member, named.length > 0 ? named : other, `${path}.${name}`);
      }
  };
  walk(answer, [schema], '');
  return [...found].sort();
}
