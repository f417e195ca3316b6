import { join, sep } from 'node:path'
import type { Refusal } from '../../client-model/index.ts'
import type { DocumentKinds } from '../cli.ts'
import type { Session } from '../session.ts'
import { type ExitCode, worst } from '../terminal/exit.ts'
import type { ApplyHow, Placed } from './appliable.ts'
import { applyDocuments, previewDocuments } from './apply-documents.ts'
import type { Readable } from './every-file.ts'
import { loadReadable } from './load-documents.ts'
import type { PruneOptions } from './prune.ts'

/** The documents of a commit, without the files that cannot be read. */
export interface CommitDocuments extends Readable<Placed> {
  readonly commit: string
  /** The clone that they were read from. */
  readonly folder: string
}
export interface ReadOptions {
  /** Folders, files and patterns in the repository, as `-f` has them. */
  readonly path: readonly string[]
  readonly project?: string
  readonly dryRun?: boolean
}
export interface SyncOptions
  extends Omit<PruneOptions, 'yes' | 'wait'>,
    Pick<ApplyHow, 'reconcile'>,
    Pick<ReadOptions, 'dryRun'> {
  /** RETRY: something was refused the last time. HEAL: all was as it should be, so that a difference is drift. */
  readonly occasion: 'COMMIT' | 'RETRY' | 'HEAL'
}

const COUNTED = ['created', 'updated', 'unchanged', 'deleted', 'refused'] as const

export async function readCommit(
  io: Session['io'],
  kinds: DocumentKinds,
  { folder, commit }: Pick<CommitDocuments, 'folder' | 'commit'>,
  { path, dryRun = false, ...options }: ReadOptions,
): Promise<CommitDocuments> {
  const file = path.map((one) => join(folder, one))
  const read = await loadReadable(io, { ...options, ...kinds, file, within: folder, isPreview: dryRun })
  return { ...read, folder, commit }
}

/** Makes what the server has as a commit describes it. A file that cannot be read holds up no others, but all pruning. */
export async function syncDocuments(
  session: Session,
  kinds: DocumentKinds,
  { commit, folder, values, refusals }: CommitDocuments,
  { dryRun = false, occasion, ...options }: SyncOptions,
): Promise<ExitCode> {
  const isNew = occasion === 'COMMIT'
  const drift = occasion === 'HEAL'
  const marked: Session = {
    ...session,
    say: (...lines) => session.say(...lines.map((line) => (drift ? `drift: ${line}` : line))),
    emit: (value) => session.emit({ ...(value as object), commit, drift }),
    refuse: (refusal) => session.refuse(inRepository(folder, refusal)),
  }
  const codes = refusals.map((refusal) => marked.refuse(refusal))
  const isPartial = codes.length > 0
  if (dryRun) {
    const how = { isDiff: false, onTarget: false }
    return worst([...codes, await previewDocuments(marked, kinds, values, { ...options, isPartial }, how)])
  }
  const { code, counts } = await applyDocuments(marked, kinds, values, {
    ...{ ...options, yes: true, isPartial, isTerse: !isNew },
    ifDifferent: { commit, secrets: isNew },
  })
  const all = { ...counts, refused: (counts.refused ?? 0) + codes.length }
  if (isNew || COUNTED.some((what) => what !== 'unchanged' && all[what])) {
    const said = COUNTED.flatMap((what) => (all[what] ? [`${all[what]} ${what}`] : []))
    session.say(`commit ${commit}: ${said.join(', ') || 'no documents'}`)
    session.emit({ commit, drift, ...all })
  }
  return worst([...codes, code])
}

/** Paths as the repository has them. */
function inRepository(folder: string, { message, fields, ...rest }: Refusal): Refusal {
  const shown = (text: string): string => text.replaceAll(folder + sep, '')
  const paths = fields?.map((field) => ({ path: shown(field.path), message: shown(field.message) }))
  return { ...rest, message: shown(message), ...(paths && { fields: paths }) }
}
