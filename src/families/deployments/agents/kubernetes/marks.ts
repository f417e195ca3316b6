import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'

/** Marks the objects of the deployer's items. */

/** Names the item that an object belongs to, by its id. */
export const ITEM = 'phaseline.io/item'
/** A digest of the manifest that was applied last. */
export const APPLIED = 'phaseline.io/applied'

export const ownerOf = ({ metadata }: KubernetesObject): string | undefined => metadata.annotations?.[ITEM]
