import { readFileSync } from 'node:fs'
import { buildSchema, getNamedType, isEnumType, isInputObjectType } from 'graphql'
import { documentSchema, type KindSchemas, taskSchema } from '../../manifest/index.ts'
import { packagePath } from '../package-path.ts'
import type { Appliable } from './appliable.ts'
import { DEFAULT_KIND } from './load-documents.ts'

/** The JSON Schema of all documents that files may hold, described by the schema of the API. */
export function schemaOfDocuments(
  kinds: readonly Pick<Appliable, 'kind' | 'schema'>[],
): ReturnType<typeof documentSchema> {
  const api = buildSchema(readFileSync(packagePath('schema.graphql'), 'utf8'), { assumeValid: true })
  const schemas: KindSchemas = Object.fromEntries([
    ...kinds
      .toSorted((a, b) => Number(b.kind === DEFAULT_KIND) - Number(a.kind === DEFAULT_KIND))
      .map(({ kind, schema }) => [kind, schema] as const),
    // It is run, not applied.
    ['Task', taskSchema] as const,
  ])
  return documentSchema(schemas, (name) => {
    const type = api.getType(name)
    const fields = isInputObjectType(type) ? Object.values(type.getFields()) : []
    return Object.fromEntries(
      fields.map(({ name, description, type: declared }) => {
        const named = getNamedType(declared)
        const values = isEnumType(named) && {
          values: Object.fromEntries(named.getValues().map((value) => [value.name, value.description ?? ''])),
        }
        return [name, { description: description ?? '', type: named.name, ...values }]
      }),
    )
  })
}
