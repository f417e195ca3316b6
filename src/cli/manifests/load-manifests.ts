import { dirname } from 'node:path'
import { invalid, type Outcome, type Refusal, refused } from '../../client-model/index.ts'
import {
  describeProblem,
  type Manifest,
  type ManifestKind,
  type ManifestProblem,
  type ProjectManifest,
  parseManifests,
  type WantedProject,
  wantedProject,
} from '../../manifest/index.ts'
import type { Io } from '../terminal/io.ts'
import { readInput } from '../terminal/read-input.ts'
import { everyFile } from './every-file.ts'
import { readBeside } from './read-beside.ts'
import { type Source, shownFile, shownSource } from './source.ts'

/** A manifest with its project, and its file. */
export type PlacedManifest = Manifest & { readonly project: string; readonly source: Source }
/** A project as its file describes it, with the contents of its worker's files. */
export interface PlacedProject {
  readonly name: string
  readonly wanted: WantedProject
  readonly source: Source
}
export interface LoadedManifests {
  readonly installations: readonly PlacedManifest[]
  readonly projects: readonly PlacedProject[]
}

export interface LoadOptions {
  readonly file: readonly string[]
  /** The project of installations that name none. */
  readonly project?: string
  /** The kind of documents that name none; Installation by default. */
  readonly kind?: ManifestKind
}

/**
 * Reads every `-f`, in the given order. All problems are reported together, with paths and lines, before the first
 * request to the server.
 */
export async function loadManifests(io: Io, { file, ...options }: LoadOptions): Promise<Outcome<LoadedManifests>> {
  const loaded = await everyFile(file, (one) => loadFile(io, one, options))
  if (!loaded.ok) return loaded
  const installations = loaded.value.flatMap((one) => one.installations)
  const projects = loaded.value.flatMap((one) => one.projects)
  const repeated = [
    ...repeatedIn(installations, ({ project, name }) => `${project}/${name}`),
    ...repeatedIn(projects, ({ name }) => `project ${name}`),
  ]
  if (repeated.length > 0)
    return refused(invalid('Each may be described once: two descriptions would take turns.', repeated))
  return { ok: true, value: { installations, projects } }
}

/** Documents of what another one before them describes already, with both places. */
function repeatedIn<T extends { readonly source: Source }>(
  documents: readonly T[],
  nameOf: (document: T) => string,
): readonly { readonly path: string; readonly message: string }[] {
  const first = new Map<string, Source>()
  return documents.flatMap((document) => {
    const { source } = document
    const name = nameOf(document)
    const earlier = first.get(name)
    if (!earlier) first.set(name, source)
    return earlier
      ? [{ path: shownSource(source), message: `${name} is described at ${shownSource(earlier)} already` }]
      : []
  })
}

async function loadFile(
  io: Io,
  file: string,
  { project = 'default', kind }: Omit<LoadOptions, 'file'>,
): Promise<Outcome<LoadedManifests>> {
  const input = await readInput(file, io.stdin)
  if (!input.ok) return refused(invalid(input.message))
  const parsed = parseManifests(input.text, kind)
  if (!parsed.ok) return refused(notValid(file, parsed.problems))
  // Paths in standard input are relative to the current folder.
  const folder = file === '-' ? '.' : dirname(file)
  const placed = await Promise.all(
    parsed.projects.map(async (manifest) => ({
      ...(await placeProject(manifest, { folder, stdin: io.stdin })),
      place: parsed.places.get(manifest),
    })),
  )
  const problems = placed.flatMap((one) => ('problems' in one ? one.problems : []))
  if (problems.length > 0) return refused(notValid(file, problems))
  return {
    ok: true,
    value: {
      installations: parsed.manifests.map((manifest) => ({
        ...manifest,
        project: manifest.project ?? project,
        source: { file, text: input.text, name: manifest.name, place: parsed.places.get(manifest) },
      })),
      projects: placed.flatMap((one) =>
        'wanted' in one ? [{ ...one, source: { file, text: input.text, name: one.name, place: one.place } }] : [],
      ),
    },
  }
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

/** Reads the worker's files that the manifest names, relative to the manifest. */
async function placeProject(
  manifest: ProjectManifest,
  { folder, stdin }: { readonly folder: string; readonly stdin: Io['stdin'] },
): Promise<Omit<PlacedProject, 'source'> | { readonly problems: readonly ManifestProblem[] }> {
  const files = manifest.workerTemplate?.files ?? []
  const read = await Promise.all(
    files.map(async ({ content = '', from }) =>
      from === undefined ? ({ ok: true, text: content } as const) : await readBeside(folder, from, stdin),
    ),
  )
  const problems = read.flatMap((one, index) =>
    one.ok ? [] : [{ path: `workerTemplate.files.${index}.from`, message: one.message }],
  )
  if (problems.length > 0) return { problems }
  const contents = read.map((one) => (one.ok ? one.text : ''))
  return { name: manifest.name, wanted: wantedProject(manifest, contents) }
}
