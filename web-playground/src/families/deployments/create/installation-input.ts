import { labelsInput, type Manifest } from 'phaseline/manifest'
import type { Existing } from '../data.ts'

export interface Applying {
  readonly isUpdate: boolean
  readonly input: object
  /** Input of planInstallation. */
  readonly plan: object
  /** A new installation is not created as ignored, since that has no effect before a final phase. */
  readonly ignore: boolean
}

/** The inputs that apply the manifest to a new or an existing installation. */
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
