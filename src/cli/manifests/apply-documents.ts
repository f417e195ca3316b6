import type { Command } from 'commander'
import type { Refusal } from '../../client-model/index.ts'
import type { Cli, DocumentKinds } from '../cli.ts'
import { follow } from '../objects/follow.ts'
import { FILES_HELP, parseFiles } from '../options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { judged } from '../terminal/ask.ts'
import { EXIT, type ExitCode, worst } from '../terminal/exit.ts'
import { type Action, type Appliable, type ApplyHow, ORDER, type Placed, type PreviewHow } from './appliable.ts'
import type { ValueOptions } from './given-values.ts'
import { keyOf, loadDocuments } from './load-documents.ts'
import { type PruneOptions, planPruning, prune } from './prune.ts'
import { atSource } from './source.ts'

export interface FileOptions extends ValueOptions {
  readonly file: readonly string[]
  readonly project?: string
}
export interface ApplyOptions extends FileOptions, PruneOptions {
  readonly dryRun?: boolean
  readonly reconcile: boolean
}

const NOT_PRUNED = 'Nothing is pruned, since a document was refused.'

/** Creates or updates what the files describe. A refused document holds up no others but those that need it. */
export async function applyFiles(session: Session, kinds: DocumentKinds, options: ApplyOptions): Promise<ExitCode> {
  if (options.dryRun) return await previewFiles(session, kinds, options, { isDiff: false, onTarget: false })
  const loaded = await loadDocuments(session.io, { ...options, ...kinds })
  if (!loaded.ok) return session.refuse(loaded.refusal)
  return (await applyDocuments(session, kinds, loaded.value, options)).code
}

/** Documents, and how they are written. */
export interface WriteOptions extends PruneOptions, ApplyHow {
  /** Not all could be read: what they describe must not be pruned. */
  readonly isPartial?: boolean
  /** No line is printed for unchanged objects. */
  readonly isTerse?: boolean
}
export interface Written {
  readonly code: ExitCode
  readonly counts: Readonly<Partial<Record<Action | 'refused' | 'deleted', number>>>
}

export async function applyDocuments(
  session: Session,
  { kinds }: Pick<DocumentKinds, 'kinds'>,
  documents: readonly Placed[],
  options: WriteOptions,
): Promise<Written> {
  const outcomes = new Outcomes(session)
  const roots: string[] = []
  for (const placed of documents) {
    if (options.stop?.aborted) break
    if (outcomes.isHeldUp(placed)) continue
    const outcome = await judged(() => placed.kind.apply(session, placed, options))
    if (!outcome.ok) {
      outcomes.refuse(placed, outcome.refusal)
      continue
    }
    const { action, line, remark, written, rootId } = outcome.value
    outcomes.actions.push(action)
    if (options.isTerse && action === 'unchanged') continue
    session.say(line)
    if (remark !== undefined) session.note(remark)
    session.emit(written)
    if (rootId !== undefined) roots.push(rootId)
  }
  if (options.wait)
    for (const id of roots) outcomes.codes.push(await follow(session, id, (tree) => tree.outcome === 'succeeded'))
  let deleted = 0
  // Something else may be missing that the refused document was to replace.
  if (options.prune && (options.isPartial || outcomes.hasRefused)) session.note(NOT_PRUNED)
  else if (options.prune && !options.stop?.aborted) {
    const pruned = await prune(session, kinds, documents, options)
    outcomes.codes.push(pruned.code)
    deleted = pruned.count
  }
  return { code: worst(outcomes.codes), counts: { ...outcomes.counts(), deleted } }
}

/** Prints what `applyFiles` would do. Nothing is written. */
export async function previewFiles(
  session: Session,
  kinds: DocumentKinds,
  options: FileOptions & PruneOptions,
  how: PreviewHow,
): Promise<ExitCode> {
  const loaded = await loadDocuments(session.io, { ...options, ...kinds, isPreview: true })
  if (!loaded.ok) return session.refuse(loaded.refusal)
  return await previewDocuments(session, kinds, loaded.value, options, how)
}

export async function previewDocuments(
  session: Session,
  { kinds }: Pick<DocumentKinds, 'kinds'>,
  documents: readonly Placed[],
  options: PruneOptions & Pick<WriteOptions, 'isPartial'>,
  how: PreviewHow,
): Promise<ExitCode> {
  const outcomes = new Outcomes(session)
  const newProjects = new Set<string>()
  for (const placed of documents) {
    if (options.stop?.aborted) break
    if (outcomes.isHeldUp(placed)) continue
    const { kind, project, name } = placed
    // The server judges nothing in a project that it does not have yet.
    if (newProjects.has(project)) {
      session.say(`${kind.label(placed)} would be created`)
      session.emit({ kind: kind.kind, project, name, action: 'created', dryRun: true })
      continue
    }
    const outcome = await judged(() => kind.preview(session, placed, how))
    if (!outcome.ok) outcomes.refuse(placed, outcome.refusal)
    else {
      outcomes.codes.push(outcome.value.code)
      if (kind.order === ORDER.project && outcome.value.action === 'created') newProjects.add(project)
    }
  }
  if (options.prune && (options.isPartial || outcomes.hasRefused)) session.note(NOT_PRUNED)
  else if (options.prune) await planPruning(session, kinds, documents, options)
  return worst(outcomes.codes)
}

/** Remembers which documents were refused, and the exit code of all. */
class Outcomes {
  readonly codes: ExitCode[] = [EXIT.ok]
  readonly actions: Action[] = []
  readonly #refused = new Set<string>()
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  get hasRefused(): boolean {
    return this.#refused.size > 0
  }

  counts(): Written['counts'] {
    const of = (action: Action) => this.actions.filter((one) => one === action).length
    return {
      ...{ created: of('created'), updated: of('updated'), unchanged: of('unchanged') },
      refused: this.#refused.size,
    }
  }

  refuse(placed: Placed, refusal: Refusal): void {
    const { kind, project, name, source } = placed
    this.#refused.add(keyOf(kind.kind, project, name))
    const { message, ...rest } = atSource(refusal, source)
    this.codes.push(this.#session.refuse({ ...rest, message: `${kind.label(placed)}: ${message}` }))
  }

  /** True, and refused, if a document that it needs was refused: its project, or the object that it starts. */
  isHeldUp(placed: Placed): boolean {
    const { kind, project, document } = placed
    const needs = [{ kind: 'Project', name: project }, ...(kind.needs?.(document) ?? [])]
    const refused = needs.find((one) => this.#refused.has(keyOf(one.kind, project, one.name)))
    if (!refused) return false
    const message = `nothing was done, since the ${refused.kind} ${refused.name} was refused.`
    this.refuse(placed, { code: 'NOT_READY', message })
    return true
  }
}

export const withFileOptions = (command: Command): Command =>
  withSessionOptions(command)
    .requiredOption('-f, --file <file...>', FILES_HELP, parseFiles)
    .option('--project <name>', 'project of documents that name none (default: "default")')

/** `phaseline hook apply` and the like: `apply` for documents of one kind, which may leave it out. */
export function addApplyOf(group: Command, cli: Cli, only: Appliable): void {
  withFileOptions(group.command('apply'))
    .description(`create or update from YAML or JSON documents of the kind ${only.kind}, as apply does`)
    .option('--dry-run', 'show what would happen, and do nothing')
    .action(async (options: SessionOptions & FileOptions & Pick<ApplyOptions, 'dryRun'>) => {
      const { kinds, ...all } = await cli.documentKinds()
      const elsewhere = kinds.map(({ kind }) => [kind, 'is of another kind: use phaseline apply -f FILE'] as const)
      const otherKinds = { ...Object.fromEntries(elsewhere), ...all.otherKinds }
      cli.exitCode = await withSession(cli.io, options, (session) =>
        applyFiles(session, { kinds: [only], otherKinds }, { ...options, reconcile: true }),
      )
    })
}
