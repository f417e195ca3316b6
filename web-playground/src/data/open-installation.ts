import type { Client } from 'phaseline/client'
import { type ShownInstallation, writeManifest } from 'phaseline/manifest'
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
interface Shown extends Omit<ShownInstallation, 'project'> {
  readonly id: string
  readonly kind: string
  readonly generation: number
  readonly parent: { readonly id: string } | null
  readonly project: { readonly name: string }
}

/** Null when there is none; `copy`: with another name. */
export async function openInstallation(
  client: Client,
  { id, copy }: { readonly id: string; readonly copy: boolean },
  signal: AbortSignal,
): Promise<Opened | null> {
  const { object } = await client.query<{ object: Shown | null }>(MANIFEST_OF, { id }, { signal })
  if (object?.kind !== 'INSTALLATION') return null
  const nested = object.parent !== null
  const name = copy || nested ? `${object.name}-copy` : object.name
  const text = writeManifest({ ...object, name, project: object.project.name })
  return { id, name: object.name, generation: object.generation, nested, text }
}
