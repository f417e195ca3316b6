/** Why an item cannot be deployed or deleted, as it is reported. */
export class DeployError extends Error {
  override name = 'DeployError'
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}
