import type { TypedDocument } from 'phaseline/client'
import type { Documents } from '../generated/documents.d.ts'

/** The compiler's message for a text without types. */
type Unknown = 'The schema has no such document: `npm run generate` says why.'

/** A document of the dashboard, typed from schema.graphql by `npm run generate`. The text must be a constant. */
export const gql = <const Text extends string>(
  text: Text extends keyof Documents ? Text : Unknown,
): Text extends keyof Documents
  ? string & TypedDocument<Documents[Text]['result'], Documents[Text]['variables']>
  : never => text as never

/** The result of a document. */
export type ResultOf<Document> = Document extends TypedDocument<infer Result, never> ? Result : never

/** The variables of a document. */
export type VariablesOf<Document> = Document extends TypedDocument<never, infer Variables> ? Variables : never

interface Connection<Node> {
  readonly edges: readonly { readonly node: Node }[]
}
interface Paged {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
}
/** A node of a connection, which is null only together with an error. */
export type NodeOf<C> = C extends Connection<infer Node> ? Node : never
/** The nodes of a connection, which is null only together with an error. */
export const nodesOf = <Node>(connection: Connection<Node> | null): readonly Node[] =>
  connection?.edges.map(({ node }) => node) ?? []
/** The cursor of the next page; null after the last one. */
export const nextCursor = (connection: Paged | null): string | null =>
  connection?.pageInfo.hasNextPage ? connection.pageInfo.endCursor : null

interface CountedPage<Node> extends Connection<Node>, Paged {
  readonly totalCount: number | null
}
/**
 * Reads a connection page by page, until it ends or `most` nodes are read.
 * @param page requests the page after a cursor; null: the first one
 */
export async function readPages<Node>(
  most: number,
  page: (after: string | null) => Promise<CountedPage<Node> | null>,
): Promise<{ readonly nodes: readonly Node[]; readonly total: number }> {
  const nodes: Node[] = []
  let total = 0
  for (let after: string | null = null, more = true; more && nodes.length < most; ) {
    const connection: CountedPage<Node> | null = await page(after)
    nodes.push(...nodesOf(connection))
    total = connection?.totalCount ?? nodes.length
    after = nextCursor(connection)
    more = after !== null
  }
  return { nodes, total: Math.max(total, nodes.length) }
}
