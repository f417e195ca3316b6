import type { Refusal } from 'phaseline/client-model'
import {
  instanceSpecSchema,
  type Manifest,
  type ManifestProblem,
  type ProjectManifest,
  parseManifests,
  placesIn,
  readDocument,
  type TaskManifest,
  taskSchema,
} from 'phaseline/manifest'

/** A problem and its place in the text; without a line where the place is unknown. */
export type TextProblem = ManifestProblem

export type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly TextProblem[] }
const wrong = (message: string): Read<never> => ({ ok: false, problems: [{ path: '', message, line: 1, column: 1 }] })

/** The only installation of the text. */
export function readInstallation(text: string): Read<Manifest> {
  const parsed = parseManifests(text)
  if (!parsed.ok) return parsed
  const [manifest, more] = parsed.manifests
  if (manifest && !more && parsed.projects.length === 0) return { ok: true, value: manifest }
  if (!manifest && parsed.projects.length > 0) return wrong('It is a project: there is a form for those.')
  return wrong('It holds several documents: here one is created at a time. phaseline apply -f takes them all.')
}

/**
 * The only project of the text. A worker's files have their content here, since there is no folder to read them from.
 */
export function readProjectText(text: string): Read<ProjectManifest> {
  const parsed = parseManifests(text, 'Project')
  if (!parsed.ok) return parsed
  const [project, more] = parsed.projects
  if (!project || more || parsed.manifests.length > 0) return wrong('It has to be one document of the kind Project.')
  const named = (project.workerTemplate?.files ?? []).findIndex(({ from }) => from !== undefined)
  if (named < 0) return { ok: true, value: project }
  const path = `workerTemplate.files.${named}.from`
  const message = 'cannot be read from here: write its content, or apply the file on the command line'
  return { ok: false, problems: [{ path, message, ...placesIn(text)(`input.${path}`) }] }
}

export const readTask = (text: string): Read<TaskManifest> =>
  readDocument<TaskManifest>(text, { schema: taskSchema, what: 'a task' })

export const readSpec = (text: string): Read<Readonly<Record<string, unknown>>> =>
  readDocument<Readonly<Record<string, unknown>>>(text, { schema: instanceSpecSchema, what: 'a spec' })

/**
 * The problems that the server has found, at their places in the text. `below`: the text is the value of this field
 * only.
 */
export function refusedAt(text: string, refused: Refusal | null, below = 'input'): readonly TextProblem[] {
  const own = (refused?.fields ?? []).filter(({ path }) => path === below || path.startsWith(`${below}.`))
  if (own.length === 0) return []
  const placeOf = placesIn(text)
  return own.map(({ path: whole, message }) => {
    const path = whole.slice(below.length + 1)
    return { path, message, ...placeOf(`input.${path}`) }
  })
}
