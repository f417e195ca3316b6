import { type Page, readPages } from '../../client-model/index.ts'

/** The most objects of one kind that a command reads. */
const MAX_OBJECTS = 100_000

/** All nodes of a list; none if there is no list. */
export const listAll = async <Node>(
  load: (first: number, after: string | null) => Promise<Page<Node> | null>,
): Promise<readonly Node[]> => (await readPages(MAX_OBJECTS, load))?.nodes ?? []
