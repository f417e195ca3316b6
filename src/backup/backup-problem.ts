/** The reasons for which a command cannot back up or restore. */
export type BackupReason = 'INVALID_INPUT' | 'REFUSED' | 'UNAVAILABLE' | 'FAILED'

/** Why nothing was backed up or restored, in a sentence that says what to do. It contains no secrets. */
export class BackupProblem extends Error {
  override name = 'BackupProblem'
  readonly reason: BackupReason

  constructor(reason: BackupReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
