import type { Client } from 'phaseline/client'
import { writeManifest } from 'phaseline/manifest'
import { MANIFEST_OF } from './documents-create.ts'

/** An installation that is there, as a manifest. */
export interface Opened {
  readonly id: string
  readonly name: string
  /** Of the spec that was read. */
  readonly generation: number
  /** Nested ones are their root's: what can be made of them is another root. */
  readonly nested: boolean
  readonly text: string
}

/** Null when there is none; `copy`: with another name. */
export async function openInstallation(
  client: Client,
  { id, copy }: { readonly id: string; readonly copy: boolean },
  signal: AbortSignal,
): Promise<Opened | null> {
  const { object } = await client.query(MANIFEST_OF, { id }, { signal })
  if (object?.ignored === undefined) return null
  const nested = object.parent !== null
  const name = copy || nested ? `${object.name}-copy` : object.name
  const text = writeManifest({ ...object, name, project: object.project.name })
  return { id, name: object.name, generation: object.generation, nested, text }
}
