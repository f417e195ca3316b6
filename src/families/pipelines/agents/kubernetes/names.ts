/** Names and marks of a workload's objects in the cluster. */

export const LABELS = {
  place: 'phaseline.io/place',
  /** The process that follows the workload: a replica of the runtime that comes back takes up its own. */
  replica: 'phaseline.io/replica',
  object: 'phaseline.io/object',
  worker: 'phaseline.io/worker',
  project: 'phaseline.io/project',
  /** The pod of a service, by its name. */
  service: 'phaseline.io/service',
} as const

export const ANNOTATIONS = {
  /** A pod without it is not started yet: it still gets what its workload takes. */
  receipt: 'phaseline.io/receipt',
  /** Names the start that the objects of a workload are for: a later one has taken them over. */
  start: 'phaseline.io/start',
  /** The end that the runtime has decided on, before it deletes the pod. */
  end: 'phaseline.io/end',
  /** The output position that was passed on. */
  logged: 'phaseline.io/logged',
} as const

/** Keeps the record of a pod that was deleted from outside, until the runtime removes it. */
export const FINALIZER = 'phaseline.io/record'
export const CONTAINER = 'workload'
/** The init container that clones the repository of a workload. */
export const CLONE_CONTAINER = 'clone'
/** The init container that waits until the artifacts that a workload takes are in its working folder. */
export const TAKES_CONTAINER = 'takes'
/** The container that keeps the working folder within reach until what a workload leaves is read. */
export const LEAVES_CONTAINER = 'leaves'
export const WORKSPACE = '/workspace'

/** One name for one object: to create its pod twice is a conflict. */
export const workloadName = (id: string): string => `phaseline-${id}`
export const claimName = (workerId: string): string => `phaseline-workspace-${workerId}`

/** Ids are parts of names and values of labels. */
const ID = /^[a-z0-9]([a-z0-9-]{0,42}[a-z0-9])?$/
export const isId = (id: string): boolean => ID.test(id)

const LABEL_VALUE = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
export const isLabelValue = (text: string): boolean => LABEL_VALUE.test(text)
