import type { Command } from 'commander'
import { logRangeOf } from '../../client/phase-log.ts'
import { notFoundRefusal, type Outcome, refused } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import type { Cli } from '../cli.ts'
import { type AddressOptions, type Located, locate, withAddressOptions } from '../objects/address.ts'
import { readMachines } from '../objects/machines.ts'
import { parseSequence } from '../options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import type { TreeObject } from '../tree/fields.ts'
import { TreeModel } from '../tree/model.ts'
import { readTree, type TreeSnapshot } from '../tree/read.ts'
import { renderTree } from '../tree/render.ts'

interface TreeOptions extends SessionOptions, AddressOptions {
  readonly at?: number
}

const TREE_AT = gql(`query TreeAt($rootId: ID!, $sequence: Sequence!) {
  treeAt(rootId: $rootId, sequence: $sequence) {
    sequence objects { objectId parentId kind name phase phaseSince revision }
  }
}`)
type PastObject = NonNullable<ResultOf<typeof TREE_AT>['treeAt']>['objects'][number]

/** `phaseline tree NAME`: the whole tree, now or at a sequence. */
export function addTree(command: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(command))
    .argument('<name>', 'id, or path such as shop/backend')
    .option('--at <sequence>', 'as it was at this sequence of the log', parseSequence)
    .action(async (name: string, options: TreeOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => tree(session, name, options))
    })
}

async function tree(session: Session, name: string, options: TreeOptions): Promise<ExitCode> {
  const located = await locate(session, name, options)
  if (!located.ok) return session.refuse(located.refusal)
  const { id, root } = located.value
  const { signal } = session.io
  const [machines, read] = await Promise.all([
    readMachines(session.client, signal),
    options.at === undefined ? readNow(session, root.id) : readTreeAt(session, located.value, options.at),
  ])
  if (!read.ok) return session.refuse(read.refusal)
  const snapshot = read.value
  const model = new TreeModel(id, machines)
  for (const object of snapshot?.objects ?? []) model.put(object)
  if (!snapshot || !model.root) return session.refuse(notFoundRefusal(`There is no tree of ${name} to show.`))
  session.emit({ rootId: root.id, ...snapshot })
  session.say(
    ...renderTree(model, {
      width: session.io.stdout.columns || Number.POSITIVE_INFINITY,
      height: Number.POSITIVE_INFINITY,
      now: Date.now(),
      paint: session.paint,
    }),
  )
  return EXIT.ok
}

async function readNow({ client, io }: Session, rootId: string): Promise<Outcome<TreeSnapshot | null>> {
  return { ok: true, value: await readTree(client, rootId, io.signal) }
}

async function readTreeAt(
  { client, io }: Session,
  { root }: Located,
  sequence: number,
): Promise<Outcome<TreeSnapshot | null>> {
  try {
    const { treeAt } = await client.query(TREE_AT, { rootId: root.id, sequence }, { signal: io.signal })
    return { ok: true, value: treeAt && { sequence: treeAt.sequence, objects: treeAt.objects.map(fromPast) } }
  } catch (error) {
    const held = logRangeOf(error)
    if (!held) throw error
    return refused(notFoundRefusal(`The log holds ${held.oldest} to ${held.head}: ${sequence} is not in it.`))
  }
}

/** The log has phases only, neither errors nor progress. */
const fromPast = ({ objectId, parentId, ...rest }: PastObject): TreeObject => ({
  ...rest,
  id: objectId,
  parent: parentId === null ? null : { id: parentId },
  finished: true,
  jobId: null,
  error: null,
  progress: null,
})
