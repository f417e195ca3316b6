import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'

/** Annotations of the objects of items. */

/** Names the item that an object belongs to, by its id. */
export const ITEM = 'phaseline.io/item'
/** A digest of the manifest that was applied last. */
export const APPLIED = 'phaseline.io/applied'

/** The job of the item in which a Job or a Pod was created. */
export const JOB = 'phaseline.io/job'

/** The item that waits for an object of another one, which hands it over where it would delete it. */
export const WANTED_BY = 'phaseline.io/wanted-by'

export const ownerOf = ({ metadata }: KubernetesObject): string | undefined => metadata.annotations?.[ITEM]
