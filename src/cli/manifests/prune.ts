import type { Command } from 'commander'
import type { Refusal } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../documents/typed-document.ts'
import { readNodes } from '../list.ts'
import { requestDeletion } from '../objects/delete-object.ts'
import { follow } from '../objects/follow.ts'
import { findVerb, readMachines } from '../objects/machines.ts'
import { type LabelArgument, parseSelector } from '../options.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode, worst } from '../terminal/exit.ts'
import { isConfirmed } from '../terminal/terminal-input.ts'
import type { Appliable, Placed } from './appliable.ts'
import { keyOf } from './load-documents.ts'

/** Deletes objects with given labels that no file describes any more. */

export interface PruneOptions {
  readonly project?: string
  readonly prune?: boolean
  readonly selector?: readonly LabelArgument[]
  readonly yes?: boolean
  readonly wait?: boolean
  /** Ends it between two objects. */
  readonly stop?: AbortSignal
}
interface Pruned {
  readonly code: ExitCode
  /** Deletions that were requested. */
  readonly count: number
}

/** Importers are newer than what they import, as a rule, and go first. */
const LIST = gql(`query ListPruned($filter: ObjectFilter!, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after, orderBy: { field: CREATED_AT, direction: DESC }) {
    pageInfo { hasNextPage endCursor } edges { node { id kind name deletionRequestedAt project { name } } }
  }
}`)
interface Superfluous {
  readonly kind: Appliable
  readonly object: NodeOf<ResultOf<typeof LIST>['objects']>
}

export const withPruneOptions = (command: Command): Command =>
  command
    .option('--prune', 'also delete what has the labels of --selector, and is in none of the files')
    .option('--selector <key=value,…>', 'labels of the objects that --prune may delete', parseSelector)
    .hook('preAction', (_, action) => {
      const { prune: isPruned, selector } = action.opts<PruneOptions>()
      if (isPruned && !selector) action.error('error: --prune needs --selector KEY=VALUE: it deletes nothing else')
      if (selector && !isPruned) action.error('error: --selector is of --prune')
    })

/** Objects of `--project`, or else of the projects that the files name. */
async function findSuperfluous(
  session: Session,
  kinds: readonly Appliable[],
  documents: readonly Placed[],
  { project: only, selector = [] }: PruneOptions,
): Promise<readonly Superfluous[]> {
  const { client, io } = session
  const described = new Set(documents.map(({ kind, project, name }) => keyOf(kind.kind, project, name)))
  const projects = only === undefined ? [...new Set(documents.map(({ project }) => project))] : [only]
  const machines = await readMachines(client, io.signal)
  const found: Superfluous[] = []
  // Schedules go before the installations that they start.
  for (const kind of kinds.toSorted((a, b) => b.order - a.order)) {
    const { objectKind } = kind
    if (objectKind === undefined || !findVerb(machines, objectKind, 'delete')) continue
    for (const project of projects) {
      const filter = { project, labels: selector, kinds: [objectKind], rootsOnly: true }
      const objects = await readNodes(session, { document: LIST, page: (answer) => answer.objects }, { filter })
      for (const object of objects)
        if (!object.deletionRequestedAt && !described.has(keyOf(kind.kind, project, object.name)))
          found.push({ kind, object })
    }
  }
  return found
}

const labelOf = ({ kind, object: { project, name } }: Superfluous): string => `${kind.kind} ${project.name}/${name}`

/** Prints what `prune` would delete. */
export async function planPruning(
  session: Session,
  kinds: readonly Appliable[],
  documents: readonly Placed[],
  options: PruneOptions,
): Promise<readonly Superfluous[]> {
  const found = await findSuperfluous(session, kinds, documents, options)
  for (const one of found) {
    const { kind, object } = one
    session.say(`${labelOf(one)} would be deleted`)
    session.emit({ kind: kind.kind, project: object.project.name, name: object.name, action: 'deleted', dryRun: true })
  }
  return found
}

export async function prune(
  session: Session,
  kinds: readonly Appliable[],
  documents: readonly Placed[],
  options: PruneOptions,
): Promise<Pruned> {
  const isAsked = options.yes !== true && session.io.stdin.isTTY === true
  const found = isAsked
    ? await planPruning(session, kinds, documents, options)
    : await findSuperfluous(session, kinds, documents, options)
  const question = `Delete ${found.length === 1 ? 'it' : 'them'}?`
  if (found.length > 0 && !(await isConfirmed(session.io, options, question)))
    return { code: EXIT.interrupted, count: 0 }
  const codes: ExitCode[] = [EXIT.ok]
  const requested: string[] = []
  for (const one of found) {
    if (options.stop?.aborted) break
    const { kind, object } = one
    const { id, name, project } = object
    const outcome = await requestDeletion(session, object)
    if (outcome.ok) {
      requested.push(id)
      session.emit({ kind: kind.kind, project: project.name, name, id, action: 'deleted' })
      session.say(`${labelOf(one)} asked to be deleted`)
    } else codes.push(session.refuse(named(labelOf(one), outcome.refusal)))
  }
  if (options.wait) for (const id of requested) codes.push(await follow(session, id, (tree) => tree.outcome === 'gone'))
  return { code: worst(codes), count: requested.length }
}

const named = (label: string, refusal: Refusal): Refusal => ({ ...refusal, message: `${label}: ${refusal.message}` })
