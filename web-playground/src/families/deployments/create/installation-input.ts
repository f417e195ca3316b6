import { labelsInput, type Manifest } from 'phaseline/manifest'
import type { Existing } from '../data.ts'

export interface Applying {
  readonly isUpdate: boolean
  readonly input: object
  /** Of planInstallation. */
  readonly plan: object
  /** Nothing is created as ignored: that only means something once it is in a final phase. */
  readonly ignore: boolean
}

/** What applying the manifest asks the API for, where that is there already or not. */
export function applyInstallation(manifest: Manifest, existing: Existing | null): Applying {
  const { name, project = 'default', spec, ignored } = manifest
  if (existing) {
    const { id, generation } = existing
    const input = {
      ...{ id, expectedGeneration: generation, spec },
      ...labelsInput(manifest),
      ...(ignored === undefined ? {} : { ignored }),
    }
    return { isUpdate: true, input, plan: { update: { id, spec } }, ignore: false }
  }
  const input = { project, name, spec, ...labelsInput(manifest) }
  return { isUpdate: false, input, plan: { create: input }, ignore: ignored === true }
}
