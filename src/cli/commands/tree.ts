import type { Command } from 'commander'
import { logRangeOf } from '../../client/phase-log.ts'
import {
  CREATION,
  type Creation,
  describeCreation,
  notFoundRefusal,
  type Outcome,
  refused,
} from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import type { Cli } from '../cli.ts'
import { type AddressOptions, type Located, locate, withAddressOptions } from '../objects/address.ts'
import { readMachines } from '../objects/machines.ts'
import { parseMoment } from '../options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import type { TreeObject } from '../tree/fields.ts'
import { TreeModel } from '../tree/model.ts'
import { readForecast, readTree, type TreeSnapshot } from '../tree/read.ts'
import { renderTree } from '../tree/render.ts'

interface TreeOptions extends SessionOptions, AddressOptions {
  readonly at?: number | string
}

const TREE_AT = gql(`query TreeAt($rootId: ID!, $sequence: Sequence, $time: DateTime) {
  treeAt(rootId: $rootId, sequence: $sequence, time: $time) {
    sequence ${CREATION} objects { objectId parentId kind name phase phaseSince revision }
  }
}`)
type PastObject = NonNullable<ResultOf<typeof TREE_AT>['treeAt']>['objects'][number]

/** `phaseline tree NAME`: the whole tree, now or as it was. */
export function addTree(command: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(command))
    .argument('<name>', 'id, or path such as shop/backend')
    .option(
      '--at <when>',
      'as it was at a time (14:05, 2026-01-31T12:00:00Z, or 2h ago: 2h), or at a sequence of the log',
      parseMoment,
    )
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
  const snapshot: PastTree | null = read.value
  const model = new TreeModel(id, machines)
  for (const object of snapshot?.objects ?? []) model.put(object)
  if (!snapshot || !model.root) {
    return session.refuse(notFoundRefusal(whyEmpty(name, options, snapshot)))
  }
  session.emit({ rootId: root.id, ...snapshot })
  if (options.at === undefined && !model.root.finished) model.forecast = await readForecast(session.client, id, signal)
  // A time of day that a person has given may be that of yesterday, and is in another zone than the times of the log.
  if (options.at !== undefined) {
    const time = typeof options.at === 'number' ? '' : `${options.at}, `
    session.note(`As it was at ${time}sequence ${snapshot.sequence} of the log:`)
  }
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

/** The tree at a time: its creation, if it did not exist yet. */
interface PastTree extends TreeSnapshot {
  readonly creation?: Creation | null
}
function whyEmpty(name: string, { at }: TreeOptions, past: PastTree | null): string {
  if (at === undefined) return `There is no tree of ${name} to show.`
  return `There was no ${name} at ${placeOf(at)}${past?.creation ? `: its tree was ${describeCreation(past.creation, Date.now())}` : ''}.`
}

const placeOf = (at: number | string): string => (typeof at === 'number' ? `sequence ${at} of the log` : at)

async function readNow({ client, io }: Session, rootId: string): Promise<Outcome<TreeSnapshot | null>> {
  return { ok: true, value: await readTree(client, rootId, io.signal) }
}

async function readTreeAt(
  { client, io }: Session,
  { root }: Located,
  at: number | string,
): Promise<Outcome<PastTree | null>> {
  const when = typeof at === 'number' ? { sequence: at } : { time: at }
  try {
    const { treeAt } = await client.query(TREE_AT, { rootId: root.id, ...when }, { signal: io.signal })
    return { ok: true, value: treeAt && { ...treeAt, objects: treeAt.objects.map(fromPast) } }
  } catch (error) {
    const held = logRangeOf(error)
    if (!held) throw error
    return refused(notFoundRefusal(`The log holds ${held.oldest} to ${held.head}: ${at} is not in it.`))
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
