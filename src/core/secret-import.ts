/** Imports whose values no spec may have, since a spec can be read: those of a schema that nobody reads (`writeOnly`). */
export const isSecretImport = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && 'writeOnly' in schema && schema.writeOnly === true

/** Continues the path of the value. */
export const SECRET_RULE =
  'is a secret by its schema (writeOnly), and a spec can be read: set it as data of the project (phaseline data set NAME -f - --text)'
