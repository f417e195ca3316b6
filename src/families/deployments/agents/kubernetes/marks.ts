import { ITEM } from '../../../../agents/kubernetes/holdings.ts'
import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'

/** Marks the objects of the deployer's items. */

/** A digest of the manifest that was applied last. */
export const APPLIED = 'phaseline.io/applied'

export const ownerOf = ({ metadata }: KubernetesObject): string | undefined => metadata.annotations?.[ITEM]
