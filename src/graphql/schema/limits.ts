import { ComplexityErrorKind } from '@pothos/plugin-complexity'
import { GraphQLError, type GraphQLResolveInfo } from 'graphql'
import { withoutStacks } from '../../core/without-stacks.ts'
import { failure } from './failures.ts'

/** Bounds on the cost of one operation. */

/** Entries of a page. */
export const DEFAULT_PAGE = 50
export const MAX_PAGE = 500
export const MAX_TREE_PAGE = 5_000

/** The largest operation of the dashboard reads 5,000 objects with some twenty fields each. */
const MAX_COMPLEXITY = 250_000
/** The standard introspection query is 15 deep. */
const MAX_DEPTH = 20
/** Fields of a document, with a fragment counted at each use. Bounds aliases too. */
const MAX_BREADTH = 1_000
/** Characters and tokens of a document. Large values belong in variables. */
export const MAX_DOCUMENT_LENGTH = 256 * 1024
export const MAX_TOKENS = 10_000
/** Pairs of selections that validation compares: some tenths of a second, during which it does nothing else. */
export const MAX_REPEATS = 20_000
/** Characters of the answers to introspection: several times those of the query that tools send. */
export const MAX_INTROSPECTION = 2_000_000
/** Bytes of a request's body or of a WebSocket message. */
export const MAX_BODY = 16 * 1024 * 1024

export const complexityLimit = { complexity: MAX_COMPLEXITY, depth: MAX_DEPTH, breadth: MAX_BREADTH }

interface Measured {
  readonly complexity: number
  readonly depth: number
  readonly breadth: number
}
/** One error of an operation, by its variables, of which each execution has its own. */
const refused = new WeakMap<object, GraphQLError>()

/** The same error for each root field of an operation: it has a place already, so that GraphQL makes no other of it. */
export function tooComplex(kind: ComplexityErrorKind, measured: Measured, info: GraphQLResolveInfo): GraphQLError {
  const error = refused.get(info.variableValues) ?? excess(kind, measured, info)
  refused.set(info.variableValues, error)
  return error
}

function excess(kind: ComplexityErrorKind, measured: Measured, { path }: GraphQLResolveInfo): GraphQLError {
  const [what, value, limit] =
    kind === ComplexityErrorKind.Depth
      ? ['depth', measured.depth, MAX_DEPTH]
      : kind === ComplexityErrorKind.Breadth
        ? ['number of fields', measured.breadth, MAX_BREADTH]
        : ['cost', measured.complexity, MAX_COMPLEXITY]
  const message = `The operation's ${what} is ${value}; ${limit} is the limit. Ask for less, or for smaller pages.`
  return withoutStacks(() => new GraphQLError(message, { path: [path.key], extensions: { code: 'TOO_COMPLEX' } }))
}

/** The cost of a list, as a multiple of the cost of one entry. */
export const pageCost = (
  { first, last }: { readonly first?: number | null | undefined; readonly last?: number | null | undefined },
  byDefault = DEFAULT_PAGE,
): { readonly field: number; readonly multiplier: number } => ({ field: 1, multiplier: first ?? last ?? byDefault })

/** Entries of a list that is not read in pages. */
export const MAX_WHOLE_LIST = 1_000

/** Refuses to cut a list that is read at once, up to one entry more than it may have. */
export function wholeList<T>(rows: readonly T[], most: number, instead: string): T[] {
  if (rows.length <= most) return [...rows]
  throw badInput(`There are more than ${most.toLocaleString('en')} entries: read them in pages, with ${instead}.`)
}

/** A request that is wrong whatever the data. */
export const badInput = (message: string, extensions: object = {}): GraphQLError =>
  failure('BAD_USER_INPUT', message, extensions)
