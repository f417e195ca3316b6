import { installationInput, type Manifest } from 'phaseline/manifest'
import type { Existing } from '../data.ts'

export interface Applying {
  readonly isUpdate: boolean
  readonly input: object
  /** Input of planInstallation. */
  readonly plan: object
}

/** The inputs that apply the manifest to a new or an existing installation. */
export function applyInstallation(manifest: Manifest, existing: Existing | null): Applying {
  const { name, project = 'default', spec } = manifest
  if (existing) {
    const { id, generation } = existing
    const input = { id, expectedGeneration: generation, ...installationInput(manifest) }
    return { isUpdate: true, input, plan: { update: { id, spec } } }
  }
  const input = { project, name, ...installationInput(manifest) }
  return { isUpdate: false, input, plan: { create: input } }
}
