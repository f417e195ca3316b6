import { EXIT, type ExitCode } from '../terminal/exit.ts'

/** Why a login failed. The first three codes are those of RFC 8628. */
export type LoginProblemCode =
  | 'ACCESS_DENIED'
  | 'EXPIRED_TOKEN'
  | 'LOGIN_REFUSED'
  /** Server or issuer offers no way for this program, or the server does not accept what the issuer gives. */
  | 'LOGIN_UNAVAILABLE'
  | 'ISSUER_UNREACHABLE'
  | 'INVALID_INPUT'

/** Ends a login. Its message is for people, and says what to do. */
export class LoginProblem extends Error {
  override name = 'LoginProblem'
  readonly code: LoginProblemCode

  constructor(code: LoginProblemCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  get exitCode(): ExitCode {
    if (this.code === 'INVALID_INPUT') return EXIT.usage
    return this.code === 'ACCESS_DENIED' || this.code === 'LOGIN_REFUSED' ? EXIT.refused : EXIT.unavailable
  }
}
