import { ITEM } from '../../../../agents/kubernetes/holdings.ts'
import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'

/** How the deployer marks what is its items'. */

/** A digest of the manifest that was applied last. */
export const APPLIED = 'phaseline.io/applied'

export const ownerOf = ({ metadata }: KubernetesObject): string | undefined => metadata.annotations?.[ITEM]
