import type { Client } from '../src/client/index.ts'

const CREATE = `mutation ($input: CreateInstallationInput!) {
  createInstallation(input: $input) { __typename ... on Installation { id } ... on Error { message } }
}`

/** Creates a root with so many items of this type and returns its id. */
export async function createTree(client: Client, name: string, items: number, type = 'mock'): Promise<string> {
  const deployItems = Array.from({ length: items }, (_, i) => ({ name: `item-${i}`, type }))
  const { createInstallation: created } = await client.query<{ createInstallation: { id?: string; message?: string } }>(
    CREATE,
    { input: { name, spec: { deployItems } } },
  )
  if (!created.id) throw new Error(created.message)
  return created.id
}

/** Follows the log until each of these roots has ended; throws unless all succeeded. */
export async function untilSucceeded(client: Client, ids: readonly string[], after: number): Promise<void> {
  const open = new Set(ids)
  for await (const { changes } of client.followPhases({
    after,
    filter: { kinds: ['INSTALLATION'], to: ['SUCCEEDED', 'FAILED'] },
  })) {
    for (const { objectId, to } of changes) {
      if (to === 'FAILED') throw new Error(`${objectId} failed`)
      open.delete(objectId)
    }
    if (open.size === 0) return
  }
}

/** The sequence of the last phase change. */
export async function headOf(client: Client): Promise<number> {
  const { phaseChanges } = await client.query<{
    phaseChanges: { nodes?: never; edges: { node: { sequence: number } }[] }
  }>('{ phaseChanges(last: 1) { edges { node { sequence } } } }')
  return phaseChanges.edges[0]?.node.sequence ?? 0
}

export interface TreeRun {
  readonly nodes: number
  readonly ms: number
  readonly ids: readonly string[]
  /** Phase changes that were written meanwhile. */
  readonly transitions: number
}

/** So many trees at once, from the first request until the log has the last root's end. */
export async function runTrees(client: Client, trees: number, items: number): Promise<TreeRun> {
  const after = await headOf(client)
  const since = performance.now()
  const ids = await Promise.all(Array.from({ length: trees }, (_, i) => createTree(client, `t${after}-${i}`, items)))
  await untilSucceeded(client, ids, after)
  const ms = performance.now() - since
  return { nodes: trees * (items + 1), ms, ids, transitions: (await headOf(client)) - after }
}
