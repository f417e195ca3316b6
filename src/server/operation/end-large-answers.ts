import { type ExecutionResult, getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { GraphQLContext } from '../../graphql/context.ts'
import { ended } from '../../graphql/schema/answer-budget.ts'

/**
 * An answer that is too large is replaced by its error; that of a mutation keeps what it has, since that was done. An operation that
 * costs too much is answered with one error, too: none of its fields has run.
 */
export const endLargeAnswers: Plugin<GraphQLContext> = {
  onExecute: ({ args: { contextValue, document, operationName } }) => ({
    onExecuteDone({ result, setResult }) {
      const { errors: [first] = [] } = result as ExecutionResult
      if (first?.extensions.code === 'TOO_COMPLEX') return setResult({ data: null, errors: [first] })
      if (!contextValue.answer.isExceeded) return
      if (getOperationAST(document, operationName)?.operation === 'query') setResult(ended(result as ExecutionResult))
    },
  }),
}
