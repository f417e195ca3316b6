import type { Client } from './client.ts'
import { loadEdges, loadSpecs } from './load-edges.ts'
import { findReadyChildren, type KindDetails, NodeLoader } from './load-nodes.ts'
import { writeChildCounts, writeClocks, writeDetails, writeEdges, writeSpecs, writeStatuses } from './side-rows.ts'
import { deleteObjects, insertObjects, updateObjects, type WritableNode } from './transition.ts'
import { writeWork } from './write-work.ts'

/** Unwritten changes of one tree, by the rows that they concern. */
export interface TreeChanges {
  readonly deleted: readonly WritableNode[]
  readonly inserted: readonly WritableNode[]
  readonly updated: readonly WritableNode[]
  readonly specs: readonly WritableNode[]
  readonly details: readonly WritableNode[]
  readonly edges: readonly WritableNode[]
  readonly childCounts: readonly WritableNode[]
  readonly work: readonly WritableNode[]
  readonly clocks: readonly WritableNode[]
  readonly statuses: readonly WritableNode[]
}

/** The rows of trees: what the engine reads of them while rules decide, and writes. */
export interface TreeRows extends Pick<NodeLoader, 'nodes' | 'lone' | 'children' | 'named'> {
  readonly readyChildren: typeof findReadyChildren
  readonly specs: typeof loadSpecs
  readonly edges: typeof loadEdges
  /** Sends all changes in one go. Deletions come first, since a new object may take a deleted name. */
  write(client: Client, changes: TreeChanges): readonly Promise<unknown>[]
}

export class PostgresRows extends NodeLoader implements TreeRows {
  readonly readyChildren = findReadyChildren
  readonly specs = loadSpecs
  readonly edges = loadEdges
  readonly #details: readonly KindDetails[]

  constructor(details: readonly KindDetails[]) {
    super(details)
    this.#details = details
  }

  write(client: Client, changes: TreeChanges): readonly Promise<unknown>[] {
    const { deleted, inserted, updated, specs, details, edges, childCounts, work, clocks, statuses } = changes
    return [
      updateObjects(
        client,
        deleted.filter(({ pendingTransitions }) => pendingTransitions.length > 0),
      ),
      deleteObjects(
        client,
        deleted.map(({ row }) => row),
      ),
      // A new row has all its transitions done. The guard in the database knows how far they can lead.
      insertObjects(
        client,
        inserted.map(({ row }) => row),
      ),
      updateObjects(client, updated),
      writeSpecs(client, specs),
      ...this.#details.map((table) =>
        writeDetails(
          client,
          table,
          details.filter(({ row }) => table.kinds.includes(row.kind)),
        ),
      ),
      writeEdges(client, edges),
      writeChildCounts(client, childCounts),
      writeWork(client, work),
      writeClocks(client, clocks),
      writeStatuses(client, statuses),
    ]
  }
}
