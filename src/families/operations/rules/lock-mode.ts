declare module '../../../core/ports/agents.ts' {
  interface Report {
    /** Locks that a gadget has declared. */
    readonly locks?: readonly DeclaredLock[] | null | undefined
  }
}

export type LockMode = 'SHARED' | 'EXCLUSIVE'

export interface DeclaredLock {
  readonly resource: string
  readonly mode: LockMode
}
