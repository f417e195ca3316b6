import { type DocumentNode, getOperationAST, Kind, visit } from 'graphql'
import type { Viewer } from '../../core/ports/viewer.ts'

/** What one subscriber asks. */
export interface Asked {
  readonly query: string
  readonly document: DocumentNode
  readonly operationName: string | null
  readonly variables: Readonly<Record<string, unknown>>
  readonly viewer: Viewer
}

/**
 * Who has the same key is told the same of the same change: same operation, same variables, and a viewer who may see
 * the same. A variable that only says after which sequence the stream begins makes no difference.
 */
export function sharingKey({ query, document, operationName, variables, viewer }: Asked): string {
  const cursors = cursorsOf(document, operationName)
  const rest = Object.entries(variables)
    .filter(([name]) => !cursors.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const { role, actor, projects, types, targets, eventId } = viewer
  return JSON.stringify([query, operationName, rest, role, actor, projects, types, targets, eventId])
}

/** Variables that are used once, as `after` of the subscription's own field. */
function cursorsOf(document: DocumentNode, operationName: string | null): ReadonlySet<string> {
  const uses = new Map<string, number>()
  visit(document, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void uses.set(name.value, (uses.get(name.value) ?? 0) + 1),
  })
  const root = getOperationAST(document, operationName)?.selectionSet.selections[0]
  const after =
    root?.kind === Kind.FIELD ? root.arguments?.find(({ name }) => name.value === 'after')?.value : undefined
  if (after?.kind !== Kind.VARIABLE || uses.get(after.name.value) !== 1) return new Set()
  return new Set([after.name.value])
}
