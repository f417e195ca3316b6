import { type DocumentNode, type ExecutionResult, getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'

/** An operation that has been executed, as metrics know it. */
export interface ExecutedOperation {
  readonly type: 'query' | 'mutation'
  /** Its first field. Clients choose names and aliases, so only the schema bounds how many there are. */
  readonly field: string
  /** `ok`, or the code of its first error, however it was answered. */
  readonly outcome: string
  readonly seconds: number
}

/** Tells of each query and mutation that was executed, over HTTP or a WebSocket. */
export const countOperations = (executed: (operation: ExecutedOperation) => void): Plugin => ({
  onExecute({ args: { document, operationName } }) {
    const type = getOperationAST(document, operationName)?.operation
    if (type !== 'query' && type !== 'mutation') return undefined
    const begun = performance.now()
    return {
      onExecuteDone({ result }) {
        const seconds = (performance.now() - begun) / 1_000
        executed({
          type,
          field: fieldOf(document, operationName),
          outcome: outcomeOf(result as ExecutionResult),
          seconds,
        })
      },
    }
  },
})

/** Validated documents only, so it is one of the schema. */
export function fieldOf(document: DocumentNode, operationName: string | null | undefined): string {
  const [first] = getOperationAST(document, operationName)?.selectionSet.selections ?? []
  return first?.kind === 'Field' ? first.name.value : 'fragment'
}

export function outcomeOf({ errors }: ExecutionResult): string {
  const [first] = errors ?? []
  if (!first) return 'ok'
  const { code } = first.extensions
  return typeof code === 'string' ? code : 'error'
}
