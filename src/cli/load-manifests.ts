import type { Io } from './io.ts'
import { describeProblem, parseManifests } from './manifest.ts'
import type { Manifest } from './manifest-schema.ts'
import { readInput } from './read-input.ts'
import { invalid, type Outcome, refused } from './refusal.ts'

/** A manifest with the project that it goes into. */
export type PlacedManifest = Manifest & { readonly project: string }

/** Reads `-f`; what is wrong is reported all together, with paths and lines, before anything is asked of the server. */
export async function loadManifests(
  io: Io,
  { file, project = 'default' }: { readonly file: string; readonly project?: string },
): Promise<Outcome<readonly PlacedManifest[]>> {
  const input = await readInput(file, io.stdin)
  if (!input.ok) return refused(invalid(input.message))
  const parsed = parseManifests(input.text)
  if (parsed.ok)
    return {
      ok: true,
      value: parsed.manifests.map((manifest) => ({ ...manifest, project: manifest.project ?? project })),
    }
  const shown = file === '-' ? '<stdin>' : file
  return refused(
    invalid(
      `${shown} is not valid.`,
      parsed.problems.map((problem) => ({
        path: describeProblem(shown, { ...problem, message: '' }),
        message: problem.message,
      })),
    ),
  )
}
