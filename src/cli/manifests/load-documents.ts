import { basename, dirname } from 'node:path'
import { invalid, type Outcome, type Refusal, refused } from '../../client-model/index.ts'
import {
  describeProblem,
  type ManifestProblem,
  placesIn,
  readDocuments,
  shownDocument,
  shownKind,
} from '../../manifest/index.ts'
import type { Io } from '../terminal/io.ts'
import { readInput } from '../terminal/read-input.ts'
import type { Appliable, Named, Placed, Surroundings } from './appliable.ts'
import { allOrNone, eachFile, type Readable } from './every-file.ts'
import { GivenValues, type ValueOptions } from './given-values.ts'
import { isBeside } from './read-beside.ts'
import { type Source, shownFile, shownSource } from './source.ts'

export const DEFAULT_KIND = 'Installation'

export interface LoadOptions extends ValueOptions {
  readonly file: readonly string[]
  /** The project of documents that name none. */
  readonly project?: string
  /** Documents that name none are of the only one, or installations. */
  readonly kinds: readonly Appliable[]
  /** Kinds that are not taken, with the reason. */
  readonly otherKinds?: Readonly<Record<string, string>>
  /** Nothing will be written. */
  readonly isPreview?: boolean
  /** The folder of a stranger's files: a link that leads out of it, or out of the file's folder, is refused. */
  readonly within?: string
}

/** `given`: what `set` and `values` hold. */
type ReadableOptions = Omit<LoadOptions, keyof ValueOptions> & Pick<Surroundings, 'given'>

/**
 * Reads every `-f`, in the given order, and sorts the documents by what has to be there first. All problems are reported together,
 * with paths and lines, before the first request to the server.
 */
export async function loadDocuments(
  io: Pick<Io, 'stdin' | 'env'>,
  options: LoadOptions,
): Promise<Outcome<readonly Placed[]>> {
  const read = await GivenValues.read(io, options)
  if (!read.ok) return read
  const given = read.value
  const loaded = await loadReadable(io, { ...options, given })
  const refusal = loaded.refusals.length > 0 ? null : given.refuseOthers()
  return refusal ? refused(refusal) : allOrNone(loaded)
}

/** The same, but with the documents of the files that can be read. A document is left out if another file describes the same. */
export async function loadReadable(
  io: Pick<Io, 'stdin' | 'env'>,
  { file, ...options }: ReadableOptions,
): Promise<Readable<Placed>> {
  const { values, refusals } = await eachFile(file, (one) => loadFile(io, one, options))
  const documents = values.flat().toSorted((a, b) => a.kind.order - b.kind.order)
  const repeated = repeatedIn(values.flat())
  if (repeated.length === 0) return { values: documents, refusals }
  const keys = new Set(repeated.map(({ key }) => key))
  const twice = repeated.map(({ path, message }) => ({ path, message }))
  return {
    values: documents.filter(({ kind, project, name }) => !keys.has(keyOf(kind.kind, project, name))),
    refusals: [...refusals, invalid('Each may be described once: two descriptions would take turns.', twice)],
  }
}

/** Identifies the object of a document. */
export const keyOf = (kind: string, project: string, name: string): string => JSON.stringify([kind, project, name])

/** Documents of what another one before them describes already, with both places. */
function repeatedIn(
  documents: readonly Placed[],
): readonly { readonly key: string; readonly path: string; readonly message: string }[] {
  const first = new Map<string, Source>()
  return documents.flatMap((placed) => {
    const { kind, project, name, source } = placed
    const key = keyOf(kind.kind, project, name)
    const earlier = first.get(key)
    if (!earlier) first.set(key, source)
    return earlier
      ? [
          {
            key,
            path: shownSource(source),
            message: `${kind.label(placed)} is described at ${shownSource(earlier)} already`,
          },
        ]
      : []
  })
}

async function loadFile(
  io: Pick<Io, 'stdin' | 'env'>,
  file: string,
  { project = 'default', kinds, otherKinds = {}, isPreview = false, within, given }: Omit<ReadableOptions, 'file'>,
): Promise<Outcome<readonly Placed[]>> {
  if (within !== undefined && !((await isBeside(within, file)) && (await isBeside(dirname(file), basename(file)))))
    return refused(invalid(`${file} is a link that leads out of its folder.`))
  const input = await readInput(file, io.stdin)
  if (!input.ok) return refused(invalid(input.message))
  const { text } = input
  const schemas = Object.fromEntries(kinds.map(({ kind, schema }) => [kind, schema]))
  const [only] = kinds.length === 1 ? kinds : []
  const shown = {
    ...Object.fromEntries(Object.entries(otherKinds).map(([kind, why]) => [shownKind(kind), why])),
    ...Object.fromEntries(
      kinds.map((of) => [shownKind(of.kind), shownDocument(of.schema, (shown) => of.manifest(shown))]),
    ),
  }
  const read = readDocuments<Named>(text, { ...otherKinds, ...schemas }, only?.kind ?? DEFAULT_KIND, shown)
  if (!read.ok) return refused(notValid(file, read.problems))
  // Paths in standard input are relative to the current folder.
  const surroundings = { folder: file === '-' ? '.' : dirname(file), io, isPreview, given }
  const placed: Placed[] = []
  const problems: ManifestProblem[] = []
  for (const { kind: wanted, value, place, index } of read.documents) {
    const kind = kinds.find((one) => one.kind === wanted || shownKind(one.kind) === wanted)
    if (!kind) continue
    const completed = await kind.complete(value, surroundings)
    const { name } = value
    if (completed.ok)
      placed.push({
        ...{ kind, name, document: completed.value, source: { file, text, index, place } },
        project: kind.order === 0 ? name : (value.project ?? project),
      })
    else problems.push(...inText(completed.problems, text, index))
  }
  return problems.length > 0 ? refused(notValid(file, problems)) : { ok: true, value: placed }
}

function notValid(file: string, problems: readonly ManifestProblem[]): Refusal {
  const shown = shownFile(file)
  return invalid(
    `${shown} is not valid.`,
    problems.map((problem) => ({
      path: describeProblem(shown, { ...problem, message: '' }),
      message: problem.message,
    })),
  )
}

/** The problems with their places in the file. */
const inText = (problems: readonly ManifestProblem[], text: string, index: number): readonly ManifestProblem[] => {
  const placeOf = placesIn(text, index)
  return problems.map((problem) => ({ ...problem, ...placeOf(problem.path) }))
}
