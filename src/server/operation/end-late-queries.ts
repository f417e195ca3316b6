import { type ExecutionResult, GraphQLError, getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { type GraphQLContext, readEndably } from '../../graphql/context.ts'
import { failure } from '../../graphql/schema/failures.ts'
import type { Bounds } from '../limits/bounds.ts'
import { isTimeout } from './mask.ts'

/**
 * Answers queries that take too long with an error, and runs none of the resolvers that are left; so too when the client has
 * gone. Postgres ends the statements that run for them. Mutations end by themselves: their writes are committed or not, and a claim may wait.
 */
export const endLateQueries = ({ limits, refusals }: Bounds): Plugin<GraphQLContext> => ({
  onExecute({ args: { document, operationName, contextValue }, executeFn, setExecuteFn }) {
    if (getOperationAST(document, operationName)?.operation !== 'query') return
    setExecuteFn((args) => {
      const endReads = readEndably(contextValue)
      const result: unknown = executeFn(args)
      if (!(result instanceof Promise)) return result
      return inTime(result as Promise<ExecutionResult>, contextValue, { ms: limits.operationTimeoutMs, endReads })
    })
    return {
      // Postgres ends a statement after the same time. The answer is the same, whichever is first.
      onExecuteDone({ result, setResult }) {
        if (!(result as ExecutionResult).errors?.some(isTimeout)) return
        refusals.count('TIMEOUT')
        setResult({ data: null, errors: [tooLate(limits.operationTimeoutMs)] })
      },
    }
  },
})

async function inTime(
  result: Promise<ExecutionResult>,
  { answer, signal }: GraphQLContext,
  { ms, endReads }: { readonly ms: number; readonly endReads: () => void },
): Promise<ExecutionResult> {
  const ended = Promise.withResolvers<ExecutionResult>()
  const end = (error: GraphQLError): void => {
    answer.end(error)
    endReads()
    ended.resolve({ data: null, errors: [error] })
  }
  const leave = (): void => end(GONE)
  const timer = setTimeout(() => end(tooLate(ms)), ms)
  signal?.addEventListener('abort', leave)
  try {
    return await Promise.race([result, ended.promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
  }
}

const GONE = new GraphQLError('The client has closed the connection.')

const tooLate = (ms: number): GraphQLError =>
  failure('TIMEOUT', `The query took more than ${ms} ms: ask for less, or for smaller pages, or try again later.`)
