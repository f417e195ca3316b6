/** `code` of the error of a workload whose artifact could not be kept, or taken. */
export type ArtifactProblemCode =
  | 'ARTIFACT_MISSING'
  | 'ARTIFACT_TOO_LARGE'
  | 'ARTIFACT_QUOTA'
  | 'ARTIFACT_UNSAFE'
  | 'ARTIFACT_UNREADABLE'
  | 'ARTIFACT_REFUSED'

/** Why an artifact cannot be kept or taken, for the author of the spec. */
export class ArtifactProblem extends Error {
  override name = 'ArtifactProblem'
  readonly code: ArtifactProblemCode
  constructor(code: ArtifactProblemCode, message: string) {
    super(message)
    this.code = code
  }
}
