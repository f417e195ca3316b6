import type { Client, PhaseChange } from 'phaseline/client'
import { nodesOf } from 'phaseline/client-model'
import { CHANGES, SEQUENCE_AT, TREE_AT } from './documents-time.ts'

/** The API's largest page. */
const PAGE = 500

export interface ChangesPage {
  /** Oldest first. */
  readonly changes: readonly PhaseChange[]
  /** Cursor of the page before; null: there is none. */
  readonly before: string | null
}

/** Reads the last changes, or those before a page; refused requests too. */
export async function readChanges(
  client: Client,
  filter: { readonly rootId: string } | { readonly objectId: string },
  { before = null, signal }: { readonly before?: string | null; readonly signal: AbortSignal },
): Promise<ChangesPage> {
  const variables = { filter: { ...filter, includeRejected: true }, last: PAGE, before }
  const { phaseChanges } = await client.query(CHANGES, variables, { signal })
  return {
    changes: nodesOf(phaseChanges),
    before: phaseChanges?.pageInfo.hasPreviousPage ? phaseChanges.pageInfo.startCursor : null,
  }
}

/** An object at a moment, from the server or from the known changes. */
export interface ObjectState {
  readonly objectId: string
  readonly parentId: string | null
  readonly kind: string
  readonly name: string
  readonly phase: string
  readonly phaseSince: string
  readonly revision: number
}

/** Empty when the tree did not exist then. */
export async function readTreeAt(
  client: Client,
  { rootId, sequence }: { readonly rootId: string; readonly sequence: number },
  signal: AbortSignal,
): Promise<readonly ObjectState[]> {
  const { treeAt } = await client.query(TREE_AT, { rootId, sequence }, { signal })
  return treeAt?.objects ?? []
}

/** The last sequence of a tree at a time; one at which it did not exist is before its first. */
export async function readSequenceAt(
  client: Client,
  { rootId, time }: { readonly rootId: string; readonly time: Date },
): Promise<number> {
  const { treeAt } = await client.query(SEQUENCE_AT, { rootId, time: time.toISOString() })
  if (!treeAt) throw new Error(`The log has no tree ${rootId}.`)
  return treeAt.sequence
}
