import type { Actor } from '../vocabulary.ts'

/** The caller, by its credentials. */
export interface Viewer {
  readonly tokenId: string
  /** Recorded as `by` of every phase change. */
  readonly name: string
  readonly role: 'ADMIN' | 'USER' | 'READER' | 'AGENT' | 'WORKER'
  readonly actor: Actor
  /** Names of the projects that it may read; null means all. */
  readonly projects: readonly string[] | null
  /** Work types that an agent may claim; null means all. */
  readonly types: readonly string[] | null
  readonly targets: readonly string[] | null
  /** The root of the one tree that it may read, such as the event of a worker; absent: it may read all trees. */
  readonly rootId?: string
}
