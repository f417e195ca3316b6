import { invalid, PAGE, type Refusal } from '../../client-model/index.ts'
import { writeYaml } from '../../manifest/index.ts'
import { type AddressOptions, locate } from '../objects/address.ts'
import { nameIn } from '../objects/record-commands.ts'
import type { LabelArgument } from '../options.ts'
import type { Session } from '../session.ts'
import { answerRefusal } from '../terminal/ask.ts'
import { EXIT, type ExitCode, worst } from '../terminal/exit.ts'
import { printDocument } from '../terminal/io.ts'
import { words } from '../terminal/text.ts'
import type { Appliable, Exportable, Listed } from './appliable.ts'

/**
 * Prints the documents of projects, in the order in which `apply` writes them. One page is in memory at a time. An
 * object that cannot be read is named, and holds up no other.
 */
export async function exportProjects(
  session: Session,
  kinds: readonly Appliable[],
  projects: readonly string[],
  labels: readonly LabelArgument[] = [],
): Promise<ExitCode> {
  const codes: ExitCode[] = [EXIT.ok]
  for (const kind of kinds.toSorted((a, b) => a.order - b.order))
    for (const project of projects) codes.push(await exportKind(session, kind, project, labels))
  return worst(codes)
}

async function exportKind(
  session: Session,
  kind: Appliable,
  project: string,
  labels: readonly LabelArgument[],
): Promise<ExitCode> {
  const codes: ExitCode[] = [EXIT.ok]
  try {
    for await (const page of kind.list(session, project, labels))
      codes.push(await exportSome(session, kind, project, page))
  } catch (error) {
    codes.push(session.refuse(refusalOf(error, `${kind.kind} of project ${project}`)))
  }
  return worst(codes)
}

/** Prints the documents of named objects and records. */
export async function exportNamed(
  session: Session,
  kinds: readonly Exportable[],
  names: readonly string[],
  options: AddressOptions,
): Promise<ExitCode> {
  const codes: ExitCode[] = [EXIT.ok]
  // Objects of one kind and project that are named one after the other are read together.
  let run = null as Run | null
  const exportRun = async (): Promise<void> => {
    if (run) codes.push(await exportSome(session, run.kind, run.project, run.some))
    run = null
  }
  for (const text of names) {
    const located = await locate(session, text, options)
    const place = located.ok ? located.value : null
    const ofRoot = place && place.root.id === place.id && kinds.find(({ objectKind }) => objectKind === place.kind)
    if (place && ofRoot) {
      if (run?.kind !== ofRoot || run.project !== place.project.name || run.some.length >= PAGE) await exportRun()
      run ??= { kind: ofRoot, project: place.project.name, some: [] }
      run.some.push({ id: place.id, name: place.name })
      continue
    }
    await exportRun()
    if (!located.ok) {
      const isRecord = located.refusal.code === 'NOT_FOUND' && (await exportRecords(session, kinds, text, options))
      if (!isRecord) codes.push(session.refuse(located.refusal))
      continue
    }
    const { id, kind, project, root } = located.value
    const rootOf = kinds.find(({ objectKind }) => objectKind === root.kind)
    if (rootOf && root.id !== id)
      codes.push(session.refuse(invalid(`${text} is nested: export its root, ${project.name}/${root.name}.`)))
    else codes.push(session.refuse(invalid(`${text} is of the kind ${words(kind)}, which no manifest describes.`)))
  }
  await exportRun()
  return worst(codes)
}
interface Run {
  readonly kind: Exportable
  readonly project: string
  readonly some: Listed[]
}

/** Prints the records of a name, such as a hook; false: there is none. */
async function exportRecords(
  session: Session,
  kinds: readonly Exportable[],
  text: string,
  { project, kind: objectKind }: AddressOptions,
): Promise<boolean> {
  let isFound = false
  for (const kind of objectKind === undefined ? kinds : []) {
    const found = await kind.find?.(session, nameIn(text, project))
    if (found) exportShown(session, kind, found)
    isFound ||= Boolean(found)
  }
  return isFound
}

/** In halves where an answer fails, so that neither an object that cannot be read nor several large ones hold up others. */
async function exportSome(
  session: Session,
  kind: Exportable,
  project: string,
  some: readonly Listed[],
): Promise<ExitCode> {
  const [first, ...others] = some
  if (!first) return EXIT.ok
  let shown: readonly (object | null)[]
  try {
    shown = await kind.read(
      session,
      some.map(({ id }) => id),
    )
  } catch (error) {
    const refusal = refusalOf(error, kind.label({ project, name: first.name }))
    if (others.length === 0) return session.refuse(refusal)
    const half = some.length >> 1
    const parts = [some.slice(0, half), some.slice(half)]
    const codes: ExitCode[] = []
    for (const part of parts) codes.push(await exportSome(session, kind, project, part))
    return worst(codes)
  }
  for (const [index, { name }] of some.entries()) {
    const one = shown[index]
    if (one) exportShown(session, kind, one)
    else session.note(`${kind.label({ project, name })} is gone meanwhile: it is left out.`)
  }
  return EXIT.ok
}

/** Prints the document of what was read, as YAML, or JSON with `--json`; and on stderr what it needs besides. */
export function exportShown<Shown>(session: Session, kind: Exportable<Shown>, shown: Shown): ExitCode {
  const manifest = kind.manifest(shown)
  session.emit(manifest)
  if (!session.json) printDocument(session.io.stdout, writeYaml(manifest))
  session.note(...(kind.omitted?.(shown) ?? []))
  return EXIT.ok
}

/** @throws an error that any other request would meet too, such as that of a server that is away */
function refusalOf(error: unknown, label: string): Refusal {
  const refusal = answerRefusal(error)
  if (!refusal) throw error
  return { ...refusal, message: `${label}: ${refusal.message}` }
}
