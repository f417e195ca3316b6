import type { Outcome } from '../../client-model/index.ts'
import type { ObjectKind } from '../../core/vocabulary.ts'
import type { ManifestProblem, WantedDocument } from '../../manifest/index.ts'
import type { LabelArgument } from '../options.ts'
import type { Session } from '../session.ts'
import type { ExitCode } from '../terminal/exit.ts'
import type { Io } from '../terminal/io.ts'
import type { GivenValues } from './given-values.ts'
import type { Source } from './source.ts'

export interface Named {
  readonly name: string
  readonly project?: string | undefined
}

/** A document of a file, with what it names beside the file, and the kind that knows what to do with it. */
export interface Placed<Ready = unknown> {
  readonly kind: Appliable
  readonly name: string
  /** The document of a project has its own name here. */
  readonly project: string
  readonly document: Ready
  readonly source: Source
}

/** The surroundings of a document. */
export interface Surroundings {
  readonly folder: string
  readonly io: Pick<Io, 'stdin' | 'env'>
  /** Nothing will be written, so that secrets are not read. */
  readonly isPreview: boolean
  /** Values of imports from the command line. */
  readonly given?: GivenValues | undefined
}
export type Completed<Ready> =
  | { readonly ok: true; readonly value: Ready }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] }

export type Action = 'created' | 'updated' | 'unchanged'

export interface Applied {
  readonly action: Action
  /** For people, e.g. `hook ci/github updated (filter)`. */
  readonly line: string
  /** For people as well: what they may not expect. */
  readonly remark?: string
  readonly written: object
  /** The root of the tree that has begun to work. */
  readonly rootId?: string
}
export interface ApplyHow {
  /** False: installations are written, but begin no job. */
  readonly reconcile: boolean
  /** Given: what the server has already is not written, and begins no job. */
  readonly ifDifferent?: IfDifferent | undefined
}
export interface IfDifferent {
  /** The label of objects that are written. */
  readonly commit: string
  /** True: a document with secrets is written, since nobody can compare them here. */
  readonly secrets: boolean
}

export interface Previewed {
  readonly action: Action
  readonly code: ExitCode
}
export interface PreviewHow {
  /** With the differences, and not the steps. */
  readonly isDiff: boolean
  readonly onTarget: boolean
}

/** An object or record in a list of those to export. */
export interface Listed {
  readonly id: string
  readonly name: string
}

/** A kind whose objects or records `export` prints. */
export interface Exportable<Shown = object> {
  /** In `kind`, e.g. NotificationRule. */
  readonly kind: string
  /** Its objects have labels, by which `--prune` and `export` select them; left out: it is a kind of records. */
  readonly objectKind?: ObjectKind
  /** A name with its project, for people. */
  label(placed: Pick<Placed, 'project' | 'name'>): string
  /** The document that makes what the API shows: `export` prints it, and `apply` reads it in what `get` has printed. */
  manifest(shown: Shown): object
  /** A record by its name; objects are found by their paths. */
  find?(session: Session, wanted: Pick<Placed, 'project' | 'name'>): Promise<Shown | null>
  /** In the order of the ids; null: it is gone. */
  read(session: Session, ids: readonly string[]): Promise<readonly (Shown | null)[]>
  /** A sentence for each part that it needs, and that no document has. */
  omitted?(shown: Shown): readonly string[]
}

/** A kind of documents that `apply`, `plan`, `diff` and `export` take. */
export interface Appliable<Document extends Named = Named, Ready = unknown, Shown = object>
  extends Pick<WantedDocument<Document>, 'schema'>,
    Exportable<Shown> {
  /** Documents of lower ones are written first. */
  readonly order: (typeof ORDER)[keyof typeof ORDER]
  /** Reads what the document names: files beside it, variables of this process. */
  complete(document: Document, surroundings: Surroundings): Promise<Completed<Ready>>
  /** Other documents without which it is not written. */
  needs?(document: Ready): readonly { readonly kind: string; readonly name: string }[]
  apply(session: Session, placed: Placed<Ready>, how: ApplyHow): Promise<Outcome<Applied>>
  /** Prints what `apply` would do. */
  preview(session: Session, placed: Placed<Ready>, how: PreviewHow): Promise<Outcome<Previewed>>
  /** All that a project has, or has with these labels, page by page. */
  list(session: Session, project: string, labels: readonly LabelArgument[]): AsyncIterable<readonly Listed[]>
}

/** Projects, what bounds them, what works in them, what points at that, and what tells of it. */
export const ORDER = { project: 0, bound: 1, tree: 2, trigger: 3, teller: 4 } as const

/** For documents that name nothing else. */
export const asWritten = async <Document>(document: Document): Promise<Completed<Document>> => ({
  ok: true,
  value: document,
})

/** A lost race is repeated; a longer series of losses is no coincidence. */
const ATTEMPTS = 10

/** Another client deleted or changed the object between the read and the write. */
const LOST_UPDATE = ['NOT_FOUND', 'GENERATION_MISMATCH']
/** Another client created it. */
const LOST_CREATE = ['ALREADY_EXISTS']

/** Reads and writes, and does so again when another client was faster. */
export async function untilWon<Found, T>(
  read: () => Promise<Found | null>,
  write: (found: Found | null) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await read()
    const outcome = await write(found)
    if (outcome.ok || attempt >= ATTEMPTS) return outcome
    if (!(found ? LOST_UPDATE : LOST_CREATE).includes(outcome.refusal.code)) return outcome
  }
}
