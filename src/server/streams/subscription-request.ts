import { type DocumentNode, getOperationAST, Kind, type ValidatedSubscriptionArgs, visit } from 'graphql'
import type { Viewer } from '../../core/ports/viewer.ts'
import type { OpenStream } from '../../graphql/log/open-streams.ts'
import { rightsKey } from '../limits/connections.ts'

/** One subscription, as its client has sent it. */
export interface SubscriptionRequest {
  readonly query: string
  readonly document: DocumentNode
  readonly operationName: string | null
  readonly variables: Readonly<Record<string, unknown>>
  readonly viewer: Viewer
}

/**
 * Requests with the same key get the same payload for the same change: they have the same operation and variables, and
 * viewers with the same rights. A variable that is only the cursor to resume after makes no difference, nor one that the
 * operation does not declare.
 */
export function sharingKey({ query, document, operationName, variables, viewer }: SubscriptionRequest): string {
  const cursor = cursorOf(document, operationName)
  const others = (getOperationAST(document, operationName)?.variableDefinitions ?? [])
    .map(({ variable }) => variable.name.value)
    .filter((name) => name !== cursor && Object.hasOwn(variables, name))
    .map((name) => [name, variables[name]])
  return JSON.stringify([query, operationName, others, rightsKey(viewer)])
}

/** The variable that is used only once, as `after` of the subscription's field; null: there is none. */
function cursorOf(document: DocumentNode, operationName: string | null): string | null {
  const root = getOperationAST(document, operationName)?.selectionSet.selections[0]
  const after =
    root?.kind === Kind.FIELD ? root.arguments?.find(({ name }) => name.value === 'after')?.value : undefined
  if (after?.kind !== Kind.VARIABLE) return null
  const cursor = after.name.value
  let uses = 0
  visit(document, {
    VariableDefinition: () => false,
    Variable({ name }) {
      if (name.value === cursor) uses += 1
    },
  })
  return uses === 1 ? cursor : null
}

/** A subscription's name in the list of open streams. */
export function describeRequest(
  { viewer, operationName }: SubscriptionRequest,
  { operation }: ValidatedSubscriptionArgs,
): Pick<OpenStream, 'operation' | 'field' | 'caller'> {
  const [root] = operation.selectionSet.selections
  return {
    operation: operationName ?? operation.name?.value ?? null,
    field: root?.kind === Kind.FIELD ? root.name.value : '',
    caller: viewer,
  }
}
