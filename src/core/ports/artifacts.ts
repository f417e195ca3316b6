import type { FailureCode } from '../vocabulary.ts'
import type { Viewer } from './viewer.ts'

/** A complete artifact, or an entry of a cache. */
export interface Artifact {
  readonly id: string
  /** The worker or job that has left it; null: it is an entry of a cache. */
  readonly objectId: string | null
  readonly eventId: string
  readonly projectId: string
  readonly name: string
  /** Its content is a compressed archive. */
  readonly isFolder: boolean
  /** Bytes. */
  readonly size: number
  readonly sha256: Buffer
  readonly createdAt: Date
  /** Null: it is kept as long as its event. */
  readonly expiresAt: Date | null
}

/** An artifact of a workload, or an entry of the cache of its project, whose name is its key. */
export interface Upload {
  readonly objectId: string
  readonly fence: string
  readonly name: string
  readonly isFolder: boolean
  readonly isCache: boolean
  readonly bytes: AsyncIterable<Buffer>
}
export interface ArtifactRefusal {
  readonly code: Extract<FailureCode, 'STALE_REPORT' | 'BAD_USER_INPUT' | 'LIMIT' | 'TOO_LARGE'>
  readonly message: string
}

/** Artifacts of workers and jobs. Their content is read and written in pieces, each with a connection of its own. */
export interface ArtifactPort {
  /**
   * Writes an artifact of a workload whose present fence the agent has. Until all of it is there nobody sees any of it. A name that
   * the workload has left already keeps its content, so a repeated upload brings the first one.
   */
  write(
    viewer: Viewer,
    upload: Upload,
  ): Promise<{ readonly artifact: Artifact } | { readonly refused: ArtifactRefusal }>
  /** Null: there is none that the viewer may read. */
  find(viewer: Viewer, id: string): Promise<Artifact | null>
  /** Its content in pieces; the last one is missing if it is removed meanwhile. */
  read(id: string): AsyncIterable<Buffer>
  readonly counts: ArtifactCounts
}
export interface ArtifactCounts {
  readonly written: number
  readonly writtenBytes: number
  readonly read: number
  readonly readBytes: number
}
