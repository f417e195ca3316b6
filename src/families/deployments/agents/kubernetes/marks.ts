import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'

/** How the deployer marks what is its items'. */

/** The item that an object belongs to, by its id. */
export const ITEM = 'phaseline.io/item'
/** A digest of the manifest that was applied last. */
export const APPLIED = 'phaseline.io/applied'

export const ownerOf = ({ metadata }: KubernetesObject): string | undefined => metadata.annotations?.[ITEM]
