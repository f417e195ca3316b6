import type { ExecutionResult, GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { DATABASE_RETRY_MS } from '../core/database-unavailable.ts'
import type { FailureCode } from '../core/vocabulary.ts'

const CODE: FailureCode = 'SERVICE_UNAVAILABLE'
export const RETRY_AFTER = ['retry-after', String(DATABASE_RETRY_MS / 1_000)] as const

const isOutage = ({ extensions }: Pick<GraphQLError, 'extensions'>): boolean => extensions.code === CODE

/** Whether an answer, or a part of it, is missing since the database is away: proxies and clients go by the status. */
export const isUnavailable = ({ errors }: ExecutionResult): boolean => errors?.some(isOutage) ?? false

/** The same for answers that yoga makes, which takes the status from the errors. */
export const tellOutages: Plugin = {
  onResultProcess({ result }) {
    const { errors = [] } = result as ExecutionResult
    for (const error of errors)
      if (isOutage(error))
        Object.assign(error.extensions, { http: { status: 503, headers: Object.fromEntries([RETRY_AFTER]) } })
  },
}
